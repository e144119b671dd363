"""Objects that we would make, against those that upstream left."""

from typing import Any

import pytest

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.adapters import make_adapter, make_selector
from kohort.apis.rolebasedgroup.objects.config import make_config_map, write_config, write_listed
from kohort.apis.rolebasedgroup.objects.instances import make_instance
from kohort.apis.rolebasedgroup.objects.pods import list_places, make_pod
from kohort.apis.rolebasedgroup.objects.services import make_service
from kohort.apis.rolebasedgroup.objects.sets import make_instance_set
from kohort.apis.rolebasedgroup.objects.templates import RoleContext, is_made_by_us
from kohort.apis.rolebasedgroup.revision import hash_roles
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.cluster.objects import Object, labels_of, name_of
from recorded_groups import Recorded, name_case, needs_recording, recordings

AT_REST = [c for c in recordings() if c.when == "at_rest" and c.all("RoleInstanceSet")]
CASES = pytest.mark.parametrize("case", AT_REST, ids=name_case)
OF_NODES = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
ADDED = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
# Upstream shares a template between instances made at once: they carry the last one's ordinal.
ORDINALS = (labels.INSTANCE_INDEX, labels.SET_POD_NAME)


def contexts_of(case: Recorded, is_ours: bool = False) -> dict[str, RoleContext]:
    spec = read_spec(case.group)
    return {r.name: RoleContext(case.group, spec, r, is_ours=is_ours) for r in spec.roles}


def context_of(case: Recorded, obj: Object) -> RoleContext:
    return contexts_of(case)[labels_of(obj)[labels.ROLE_NAME]]


def strip(obj: Object) -> Object:
    metadata = {k: v for k, v in obj["metadata"].items() if k not in ADDED}
    return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": metadata}


def without_ordinals(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_ordinals(v) for k, v in value.items() if k not in ORDINALS}
    return [without_ordinals(v) for v in value] if isinstance(value, list) else value


def holds(found: Any, wanted: Any) -> bool:
    """Whether a stored value has all that we would write; servers add fields and elements."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(holds(found.get(k), v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return len(found) >= len(wanted) and all(map(holds, found, wanted))
    return bool(found == wanted)


@needs_recording
@CASES
def test_sets_are_those_of_upstream_field_by_field(case: Recorded):
    hashes = hash_roles(case.group)
    for found in case.all("RoleInstanceSet"):
        context = context_of(case, found)
        made = make_instance_set(context, hashes[context.role.name])
        assert made == strip(found)
        assert not is_made_by_us(found)


@needs_recording
@CASES
def test_instances_are_those_of_upstream_but_for_mistaken_ordinals(case: Recorded):
    for found in case.all("RoleInstance"):
        owner = case.find("RoleInstanceSet", found["metadata"]["ownerReferences"][0]["name"])
        revision = owner["status"]["updateRevision"]
        made = make_instance(owner, names.read_ordinal(name_of(found)), revision)
        assert made["metadata"] == strip(found)["metadata"]
        assert without_ordinals(made["spec"]) == without_ordinals(found["spec"])


@needs_recording
@CASES
def test_pods_are_those_of_upstream(case: Recorded):
    instances = {name_of(found): found for found in case.all("RoleInstance")}
    made: dict[str, Object] = {}
    for instance in instances.values():
        revision = names.short_revision(instance["status"]["updateRevision"])
        for place in list_places(instance):
            made[place.name] = make_pod(instance, place, revision)
    pods = {name_of(pod): pod for pod in case.all("Pod")}
    for name, pod in pods.items():
        marks = {k: v for k, v in labels_of(pod).items() if k not in OF_NODES}
        assert labels_of(made[name]) == marks
        assert holds(strip(pod)["metadata"], made[name]["metadata"])
        assert holds(pod["spec"], made[name]["spec"])
    assert not pods or set(pods) == set(made)


@needs_recording
@CASES
def test_services_are_those_of_upstream(case: Recorded):
    for found in case.all("Service"):
        context = context_of(case, found)
        workload = case.find("RoleInstanceSet", context.workload_name)
        made = make_service(context, workload)
        assert made["metadata"] == strip(found)["metadata"]
        assert holds(found["spec"], made["spec"])
        assert made["spec"]["selector"] == found["spec"]["selector"]


@needs_recording
@CASES
def test_the_config_map_is_upstreams_to_the_letter_and_counts_as_current(case: Recorded):
    found, listed = case.all("ConfigMap")[0], list(contexts_of(case).values())
    text = write_config(case.group, listed, as_upstream=True)
    assert text == found["data"]["config.yaml"]
    ours = list(contexts_of(case, is_ours=True).values())
    assert write_listed(case.group, ours, as_upstream=True) == text
    made = make_config_map(case.group, listed)
    assert made is not None and made["metadata"] == strip(found)["metadata"]


@needs_recording
@CASES
def test_adapters_are_those_of_upstream(case: Recorded):
    for found in case.all("RoleBasedGroupScalingAdapter"):
        context = context_of(case, found)
        assert make_adapter(context) == strip(found)
        assert make_selector(context) == found["status"]["selector"]
