"""Bad objects of built-in kinds are refused in the words of a real API server."""

from typing import Any

import pytest
from golden_corpus import BEHAVIOURS, copy_of, load_answers, load_refused, read, row_of

from kohort.apiserver.patches.merge_patch import apply_merge_patch
from kohort.cluster.errors import invalid
from kohort.cluster.fields import FieldError

CASES = load_refused()
ANSWERS = load_answers("refused")


def refuse_create(obj: dict[str, Any]) -> list[FieldError]:
    behaviour = BEHAVIOURS[row_of(obj).kind.group_resource]
    made = read(obj)
    behaviour.default(made)
    behaviour.prepare_create(made)
    behaviour.finish_create(made)
    return behaviour.validate(made, None)


def refuse_change(stored: dict[str, Any], case: dict[str, Any]) -> list[FieldError]:
    behaviour = BEHAVIOURS[row_of(stored).kind.group_resource]
    made = read(apply_merge_patch(copy_of(stored), case["change"]))
    behaviour.default(made)
    if case.get("subresource") == "status":
        behaviour.prepare_status(made, stored)
        return behaviour.validate_status(made, stored)
    behaviour.prepare_update(made, stored)
    return behaviour.validate(made, stored)


def causes_of(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The causes, without repeats and without the difference that follows some of them."""
    found = [
        (cause["field"], cause["reason"], cause["message"].partition("\n")[0])
        for cause in answer["details"]["causes"]
    ]
    return list(dict.fromkeys(found))


def quota(name: str) -> dict[str, Any]:
    """A ResourceQuota that limits one thing."""
    made = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}}
    return {**made, "spec": {"hard": {name: "2"}}}


def test_a_quota_for_something_that_no_server_knows_is_refused():
    answer = invalid("ResourceQuota", "", "q", refuse_create(quota("podz"))).status()
    assert [(field, text) for field, _, text in causes_of(answer)] == [
        ("spec.hard[podz]", f'Invalid value: "podz": must be a standard resource {rest}')
        for rest in ("type or fully qualified", "for quota")
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("pods", "limits.memory", "requests.storage", "services.nodeports", "hugepages-2Mi"),
        *("count/leaderworkersets.leaderworkerset.x-k8s.io", "requests.nvidia.com/gpu"),
    ],
)
def test_a_quota_for_what_a_server_knows_is_taken(name: str):
    assert refuse_create(quota(name)) == []


@pytest.mark.parametrize("name", CASES)
def test_a_bad_object_is_refused_as_a_real_server_refuses_it(name: str):
    case, answer = CASES[name], ANSWERS[name]
    if "change" in case:
        assert not refuse_create(case["object"])
        faults = refuse_change(answer["stored"], case)
    else:
        faults = refuse_create(case["object"])
    kind = row_of(case["object"]).kind
    ours = invalid(kind.name, kind.group, case["object"]["metadata"].get("name", ""), faults)
    assert causes_of(ours.status()) == causes_of(answer)
