"""Objects of built-in kinds become what a real API server made of them."""

from typing import Any

import pytest
from golden_corpus import BEHAVIOURS, copy_of, load_accepted, load_answers, read, row_of

STORED = load_answers("accepted")
SENT = load_accepted()
# Controllers that are not simulated would have to lift these again.
LEFT_OUT_FINALIZERS = {"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"}


def write(obj: dict[str, Any]) -> dict[str, Any]:
    """What the server does with a new object, save for what it must look up."""
    row = row_of(obj)
    behaviour = BEHAVIOURS[row.kind.group_resource]
    made = read(obj)
    behaviour.default(made)
    behaviour.prepare_create(made)
    behaviour.finish_create(made)
    if row.has_generation:
        made["metadata"]["generation"] = 1
    assert not behaviour.validate(made, None)
    return made


def expected(key: str) -> dict[str, Any]:
    """The recorded object without what is left out on purpose."""
    stored = copy_of(STORED[key]["stored"])
    metadata, spec = stored["metadata"], stored.get("spec") or {}
    if LEFT_OUT_FINALIZERS & set(metadata.get("finalizers", ())):
        del metadata["finalizers"]
    stored.get("status", {}).pop("lastPhaseTransitionTime", None)
    for condition in stored.get("status", {}).get("conditions", ()):
        condition["lastTransitionTime"] = None
    if stored["kind"] == "Service" and spec.get("clusterIP") != "None":
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)
    if stored["kind"] == "Node":
        del spec["taints"]
    if stored["kind"] == "Pod":
        leave_out_token(spec)
    return stored


def leave_out_token(spec: dict[str, Any]) -> None:
    """No simulated container reads the token of its service account."""
    holders = [(spec, "volumes")]
    holders += [(c, "volumeMounts") for c in spec["containers"] + spec.get("initContainers", [])]
    for holder, field in holders:
        rest = [e for e in holder.get(field, ()) if not e["name"].startswith("kube-api-access-")]
        if rest:
            holder[field] = rest
        else:
            holder.pop(field, None)


@pytest.mark.parametrize("key", SENT)
def test_a_new_object_is_stored_as_a_real_server_stores_it(key: str):
    obj = SENT[key]
    assert write(obj) == expected(key)


@pytest.mark.parametrize("key", SENT)
def test_defaults_change_nothing_the_second_time(key: str):
    behaviour = BEHAVIOURS[row_of(SENT[key]).kind.group_resource]
    once = read(SENT[key])
    behaviour.default(once)
    twice = copy_of(once)
    behaviour.default(twice)
    assert twice == once


@pytest.mark.parametrize("key", SENT)
def test_warnings_are_those_of_a_real_server(key: str):
    row = row_of(SENT[key])
    behaviour = BEHAVIOURS[row.kind.group_resource]
    told = [row.deprecation] if row.deprecation else []
    assert told + behaviour.warn(write(SENT[key]), None) == STORED[key]["warnings"]
