"""Pod groups: their names, their owners, and the room that they ask for."""

from typing import Any

import pytest
from lws_builders import lws, pod_from

from kohort.apis.gangs.dialects.volcano import QUEUE_NAME, VOLCANO
from kohort.apis.gangs.intent import Tiers
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.pods import Joining, mutate_pod
from kohort.apis.leaderworkerset.objects.gangs import group_requests, make_intent
from kohort.apis.leaderworkerset.objects.templates import leader_template
from kohort.cluster.objects import Object
from kohort.model.placement import Gang

NAME = "leaderworkerset-sample"


def leader(workload: Object) -> Object:
    pod = pod_from(leader_template(workload, "abc"), f"{NAME}-1", NAME)
    mutated = mutate_pod(pod, gang=Joining(VOLCANO))
    assert isinstance(mutated, dict)
    return mutated


def pod_group(workload: Object, minimum: int = 4, **more: Any) -> Object:
    gang = Gang(1, "uid", "abc", size=4, minimum=minimum, **more)
    intent = make_intent(workload, leader(workload), gang, VOLCANO)
    (found,) = VOLCANO.render(intent, Tiers())
    return found


def requesting(*containers: Object, **spec: Object) -> Object:
    return {"spec": {"containers": list(containers), **spec}}


def asks(restart: str | None = None, **requests: str) -> Object:
    own = {"resources": {"requests": requests}}
    return own if restart is None else {**own, "restartPolicy": restart}


def test_a_gang_is_named_for_its_group_and_revision_and_belongs_to_the_leader():
    notes = {"volcano.sh/x": "1", "other": "2", QUEUE_NAME: "fast"}
    workload = lws(annotations=notes)
    found = pod_group(workload)
    metadata = found["metadata"]
    assert metadata["name"] == f"{NAME}-1-abc"
    assert metadata["labels"] == {
        labels.NAME: NAME,
        labels.GROUP_INDEX: "1",
        labels.REVISION: "abc",
    }
    assert metadata["annotations"] == {"volcano.sh/x": "1"}
    assert [owner["kind"] for owner in metadata["ownerReferences"]] == ["Pod"]
    assert found["spec"] == {"minMember": 4, "minResources": {"cpu": "200m"}, "queue": "fast"}


def test_a_group_that_waits_for_its_leader_needs_the_leader_alone():
    assert pod_group(lws(), minimum=1)["spec"]["minMember"] == 1


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (requesting(asks(cpu="1"), asks(cpu="500m")), {"cpu": "4500m"}),
        (requesting(asks(memory="1Gi")), {"memory": "3Gi"}),
        (requesting(asks(cpu="1"), initContainers=[asks(cpu="2")]), {"cpu": "6"}),
        (requesting(asks(cpu="1"), initContainers=[asks("Always", cpu="2")]), {"cpu": "9"}),
        (
            requesting(asks(cpu="1"), initContainers=[asks("Always", cpu="2"), asks(cpu="3")]),
            {"cpu": "15"},
        ),
        (requesting(asks(cpu="1"), overhead={"cpu": "1"}), {"cpu": "6"}),
        (requesting(asks(cpu="1"), resources={"requests": {"cpu": "4"}}), {"cpu": "12"}),
        (requesting(asks(memory="1G"), initContainers=[asks(memory="2Gi")]), {"memory": "6Gi"}),
        (requesting(asks(cpu="1"), resources={"requests": {"example.com/gpu": "4"}}), {"cpu": "3"}),
        (requesting(asks(cpu="1e1.5", memory="1Gi")), {"cpu": "0", "memory": "3Gi"}),
        ({"spec": {"containers": None, "overhead": None, "resources": None}}, {}),
    ],
)
def test_room_is_counted_as_the_scheduler_counts_it(template: Object, expected: Object):
    assert group_requests(lws(size=3, workerTemplate=template)) == expected


def test_a_leader_of_its_own_is_counted_once():
    workload = lws(
        size=3,
        leaderTemplate=requesting(asks(cpu="10")),
        workerTemplate=requesting(asks(cpu="1")),
    )
    assert group_requests(workload) == {"cpu": "12"}


@pytest.mark.parametrize(
    ("leader", "worker", "expected"),
    [("high", "high", "high"), ("high", "low", None), ("high", "", None), ("", "", None)],
)
def test_a_priority_class_that_all_share_is_that_of_the_gang(leader, worker, expected):
    workload = lws(
        leaderTemplate=requesting(asks(cpu="1"), priorityClassName=leader),
        workerTemplate=requesting(asks(cpu="1"), priorityClassName=worker),
    )
    assert pod_group(workload)["spec"].get("priorityClassName") == expected
