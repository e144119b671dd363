"""A RoleBasedGroup from its first pod to its last, with the operator that plans any API."""

from group_lab import KIND, GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of


def is_ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


class TestBirth:
    async def test_all_pods_of_all_roles_come_and_the_status_says_so(self, lab: GroupLab):
        await start(lab)
        engines = [f"x-engine-{i}-{j}" for i in (0, 1) for j in (0, 1)]
        assert sorted(lab.pods()) == [*engines, "x-router-0", "x-router-1"]
        assert lab.status()["roleStatuses"] == [
            {"name": name, "replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}
            for name in ("engine", "router")
        ]

    async def test_at_rest_nothing_is_written(self, lab: GroupLab):
        await start(lab)
        await lab.run(5)
        before = dict(lab.cluster.tried)
        await lab.run(600)
        assert dict(lab.cluster.tried) == before

    async def test_a_standalone_pod_costs_less_than_five_writes(self, lab: GroupLab):
        await start(lab, standalone(replicas=20))
        await lab.run(5)
        assert sum(lab.cluster.tried.values()) < 5 * 20

    async def test_a_set_that_is_being_made_does_not_get_a_status_at_once(self, lab: GroupLab):
        await lab.apply(group(standalone()))
        await lab.until(lambda: bool(lab.pods()))
        assert not lab.cluster.tried["patch", "RoleInstanceSet/status"]
        await lab.until(lambda: bool(lab.all(labels.INSTANCE_SET)[0].get("status")), 5)

    async def test_one_that_belongs_to_another_object_says_at_once_that_it_is_ready(
        self, lab: GroupLab
    ):
        config = {"apiVersion": "v1", "kind": "ConfigMap"}
        made = await lab.apply({**config, "metadata": {"name": "o", "namespace": "default"}})
        owner = {**config, "name": "o", "uid": made["metadata"]["uid"], "controller": True}
        body = group(standalone(replicas=5))
        body["metadata"]["ownerReferences"] = [owner]
        await lab.apply(body)
        await lab.until(lambda: len(lab.pods()) == 5 and all(map(is_ready, lab.pods().values())))
        assert lab.is_ready()

    async def test_it_goes_whole(self, lab: GroupLab):
        await start(lab)
        await lab.delete(KIND, "x")
        await lab.until(lambda: not lab.pods() and not lab.all(labels.INSTANCE))
        names = [name_of(service) for service in lab.all(kinds.SERVICE)]
        assert names == ["kubernetes"]


class TestScale:
    async def test_a_role_grows_and_shrinks_and_no_other_pod_is_touched(self, lab: GroupLab):
        await start(lab)
        before = lab.uids()
        await lab.set_field("/spec/roles/1/replicas", 4)
        await lab.until(lab.is_done)
        assert len(lab.pods("router")) == 4
        await lab.set_field("/spec/roles/1/replicas", 2)
        await lab.until(lambda: lab.is_done() and len(lab.pods("router")) == 2)
        assert lab.uids() == before

    async def test_a_role_that_is_wanted_no_more_goes(self, lab: GroupLab):
        await start(lab)
        await lab.edit("x", {"op": "remove", "path": "/spec/roles/0"}, kind=KIND)
        await lab.until(lambda: lab.is_done() and not lab.pods("engine"))
        assert [r["name"] for r in lab.status()["roleStatuses"]] == ["router"]
        assert [name_of(each) for each in lab.all(labels.INSTANCE_SET)] == ["x-router"]
        services = sorted(name_of(each) for each in lab.all(kinds.SERVICE))
        assert services == ["kubernetes", "s-x-router"]


class TestInPlace:
    async def test_an_image_changes_in_running_pods(self, lab: GroupLab):
        await start(lab, standalone(replicas=3))
        before = lab.uids()
        await lab.set_image("engine:2")
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
        assert lab.uids() == before

    async def test_other_changes_make_new_pods_in_the_same_instances(self, lab: GroupLab):
        await start(lab, standalone(replicas=2))
        before, instances = lab.uids(), lab.all(labels.INSTANCE)
        path = "/spec/roles/0/standalonePattern/template/spec/priority"
        await lab.set_field(path.replace("priority", "terminationGracePeriodSeconds"), 7)
        await lab.until(
            lambda: lab.is_done() and not set(lab.uids().values()) & set(before.values()), 120
        )
        assert [i["metadata"]["uid"] for i in lab.all(labels.INSTANCE)] == [
            i["metadata"]["uid"] for i in instances
        ]

    async def test_pods_of_an_instance_change_together(self, lab: GroupLab):
        await start(lab, leader_worker(replicas=2))
        before = lab.uids()
        await lab.set_image("engine:2", pattern="leaderWorkerPattern")
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
        assert lab.uids() == before
