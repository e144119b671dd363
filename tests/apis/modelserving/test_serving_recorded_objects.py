"""Pods, Services and PodGroups that we would make, against those that upstream left."""

from typing import Any

import pytest

from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import Tiers
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.gangs import count_minimum, make_intent
from kohort.apis.modelserving.objects.instances import InstancePlace, count_pods, find_place
from kohort.apis.modelserving.objects.pods import Joining, PodMaker
from kohort.apis.modelserving.objects.services import make_service
from kohort.apis.modelserving.plugins.chain import Chain
from kohort.apis.modelserving.spec import read_spec
from kohort.apis.topology import read_pack
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.cluster.quantities import parse_quantity
from kohort.model.placement import Gang
from recorded_servings import Recorded, name_case, needs_recording, recordings

OURS = {
    labels.GROUP_INDEX,
    labels.GROUP_HASH,
    labels.ENTRY_NAME,
    labels.GROUP_SIZE,
    labels.REPLICAS,
    labels.NETWORK_TOPOLOGY,
}
OF_NODES = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
# Its template takes the label of its group, which upstream allows: its PodGroup is another's.
LYING = "kthena-router/ModelServing-ds1.5b-pd-disaggregation.yaml"
AT_REST = [case for case in recordings() if case.when == "at_rest"]


def place_of(case: Recorded, pod: Object) -> InstancePlace:
    found = find_place(name_of(case.serving), name_of(pod))
    assert found is not None
    role = read_spec(case.serving).find_role(found.role)
    assert role is not None
    return InstancePlace(found.group, role, found.instance)


def make_again(case: Recorded, pod: Object) -> Any:
    marks = labels_of(pod)
    joining = Joining(VOLCANO) if labels.GANG_NAME in annotations_of(pod) else None
    hashes = {marks[labels.ROLE]: marks[labels.ROLE_TEMPLATE_HASH]}
    maker = PodMaker(case.serving, marks[labels.REVISION], hashes, Chain(), joining)
    return maker.make(place_of(case, pod), names.read_ordinal(name_of(pod)))


def without_ours(found: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in found.items() if k not in OURS and k not in OF_NODES}


def holds(found: Any, wanted: Any) -> bool:
    """Whether a stored value has all that we would write; servers add fields and elements."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(holds(found.get(k), v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return len(found) >= len(wanted) and all(map(holds, found, wanted))
    return bool(found == wanted) or is_same_amount(found, wanted)


def is_same_amount(found: Any, wanted: Any) -> bool:
    """Whether a server has spelled a quantity its own way."""
    try:
        return parse_quantity(found) == parse_quantity(wanted)
    except ValueError:
        return False


@needs_recording
@pytest.mark.parametrize("case", AT_REST, ids=name_case)
def test_pods_are_those_of_upstream(case: Recorded):
    for pod in case.all("Pod"):
        made = make_again(case, pod)
        if case.source != LYING:
            assert without_ours(labels_of(made)) == without_ours(labels_of(pod))
        assert without_ours(annotations_of(made)) == annotations_of(pod)
        assert made["metadata"]["ownerReferences"] == pod["metadata"]["ownerReferences"]
        assert name_of(made) == name_of(pod)
        assert holds(pod["spec"], made["spec"]), name_of(pod)


@needs_recording
@pytest.mark.parametrize("case", AT_REST, ids=name_case)
def test_services_are_those_of_upstream(case: Recorded):
    entries = [pod for pod in case.all("Pod") if labels.ENTRY in labels_of(pod)]
    wanted = [place for pod in entries if (place := place_of(case, pod)).role.has_service]
    made = {name_of(made): made for made in (make_service(case.serving, p) for p in wanted)}
    assert made.keys() == {name_of(service) for service in case.all("Service")}
    for service in case.all("Service"):
        ours = made[name_of(service)]
        assert without_ours(labels_of(ours)) == labels_of(service)
        assert holds(service["spec"], ours["spec"])
        assert ours["metadata"]["ownerReferences"] == service["metadata"]["ownerReferences"]


@needs_recording
@pytest.mark.parametrize("case", AT_REST, ids=name_case)
def test_pod_groups_are_those_of_upstream(case: Recorded):
    spec = read_spec(case.serving)
    for found in case.all("PodGroup"):
        group = names.read_ordinal(name_of(found))
        pack = read_pack(spec.group_topology)
        gang = Gang(group, "", "", count_pods(spec.roles), count_minimum(spec), pack=pack)
        (made,) = VOLCANO.render(make_intent(case.serving, group, gang, VOLCANO), Tiers())
        assert made["spec"] == {k: v for k, v in found["spec"].items() if k != "queue"}
        if case.source == LYING:
            continue
        assert without_ours(labels_of(made)) == labels_of(found)
        assert annotations_of(made) == annotations_of(found)
        assert made["metadata"]["ownerReferences"] == found["metadata"]["ownerReferences"]
