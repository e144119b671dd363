"""What a promotion writes: no partition and no pause is left, and nothing else changes."""

from kohort.apis.leaderworkerset.verbs import VERBS as SET_VERBS
from kohort.apis.modelserving.verbs import VERBS as SERVING_VERBS
from kohort.apis.rolebasedgroup.verbs import VERBS as GROUP_VERBS
from kohort.cluster.objects import Object, annotations_of

TEMPLATE: Object = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}


def make_serving(kind: str, **rolling: int) -> Object:
    strategy: Object = {"type": kind}
    if rolling:
        strategy["rollingUpdateConfiguration"] = {**rolling}
    roles = [
        {"name": "a", "replicas": 2, "workerReplicas": 0, "entryTemplate": TEMPLATE},
        {"name": "b", "replicas": 2, "workerReplicas": 0, "entryTemplate": TEMPLATE},
    ]
    spec = {"replicas": 3, "rolloutStrategy": strategy, "template": {"roles": roles}}
    return {"metadata": {"name": "x"}, "spec": spec}


def partitions_of(serving: Object) -> list[int | None]:
    return [role.get("partition") for role in serving["spec"]["template"]["roles"]]


def test_a_set_loses_its_partition_and_its_pause():
    lws = {"metadata": {"name": "x"}, "spec": {"replicas": 3, "leaderWorkerTemplate": {"size": 2}}}
    paused = SET_VERBS.hold(lws, 3, "")
    done = SET_VERBS.finish(paused, "")
    rolling = done["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert (rolling["partition"], SET_VERBS.list_held(done)) == (0, ())


def test_a_serving_loses_the_partition_of_its_groups():
    serving = make_serving("ServingGroupRollingUpdate", partition=2, maxUnavailable=1)
    done = SERVING_VERBS.finish(SERVING_VERBS.hold(serving, 3, ""), "")
    rolling = done["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert rolling == {"maxUnavailable": 1}
    assert SERVING_VERBS.list_held(done) == ()


def test_roles_of_a_serving_are_finished_together_or_one_by_one():
    paused = SERVING_VERBS.hold(make_serving("RoleRollingUpdate"), 0, "")
    assert partitions_of(paused) == [2, 2]
    one = SERVING_VERBS.finish(paused, "a")
    assert (partitions_of(one), SERVING_VERBS.list_held(one)) == ([None, 2], ("b",))
    assert partitions_of(SERVING_VERBS.finish(paused, "")) == [None, None]


def test_roles_of_a_group_lose_partition_and_pause_and_keep_the_rest():
    rolling = {"partition": 1, "paused": True, "maxUnavailable": 2}
    role = {"name": "a", "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}
    group = {"metadata": {"name": "x"}, "spec": {"roles": [role, {"name": "b"}]}}
    done = GROUP_VERBS.finish(group, "")
    assert done["spec"]["roles"] == [
        {
            "name": "a",
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
        },
        {"name": "b"},
    ]
    assert annotations_of(done) == {}
