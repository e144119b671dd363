"""Roles that refer to shared templates, and roles that come, go or are carried by others."""

from collections.abc import AsyncIterator

import pytest
from group_lab import GroupLab, group, leader_worker, standalone, start, template
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.kinds import CONTROLLER_REVISION, DEPLOYMENT, POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Object, is_true, labels_of, name_of

KINDS = (DEPLOYMENT, LEADER_WORKER_SET.kind, labels.INSTANCE_SET)
SHARED = "/spec/roleTemplates/0/template/spec/containers/0/image"


def refer(name: str, **patch: object) -> Object:
    pattern = {"templateRef": {"name": "base", "patch": patch}}
    return {"name": name, "replicas": 1, "standalonePattern": pattern}


async def start_shared(lab: GroupLab, *roles: Object) -> None:
    made = group(*roles)
    made["spec"]["roleTemplates"] = [{"name": "base", "template": template()}]
    await lab.apply(made)
    await lab.until(lab.is_done, 120)


def revisions(lab: GroupLab) -> list[int]:
    own = (r for r in lab.all(CONTROLLER_REVISION) if labels.GROUP_REVISION in labels_of(r))
    return sorted(r["revision"] for r in own)


class TestSharedTemplates:
    async def test_a_new_image_rolls_all_roles_that_refer_and_is_one_revision(self, lab: GroupLab):
        await start_shared(lab, refer("a"), refer("b"))
        await lab.set_field(SHARED, "engine:2")
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
        assert revisions(lab) == [1, 2]

    async def test_a_role_with_its_own_template_stands_beside_them(self, lab: GroupLab):
        await start_shared(lab, refer("a"), standalone("own", 1))
        before = lab.uids("own")
        await lab.set_field(SHARED, "engine:2")
        await lab.until(lambda: lab.is_done() and lab.images("a") == {"engine:2"}, 120)
        assert (lab.uids("own"), lab.images("own")) == (before, {"engine:1"})

    async def test_a_patch_of_a_role_stands_over_the_shared_template(self, lab: GroupLab):
        own = {"spec": {"containers": [{"name": "engine", "image": "own:1"}]}}
        await start_shared(lab, refer("a", **own), refer("b"))
        assert (lab.images("a"), lab.images("b")) == ({"own:1"}, {"engine:1"})

    async def test_a_shared_template_goes_back_with_its_group(self, lab: GroupLab):
        await start_shared(lab, refer("a"))
        for image in ("engine:2", "engine:1"):
            await lab.set_field(SHARED, image)
            await lab.until(lambda: lab.is_done() and lab.images() == {image}, 120)  # noqa: B023
        assert revisions(lab) == [1, 2, 3]


class TestAdapters:
    async def test_a_role_that_is_added_gets_its_adapter(self, lab: GroupLab):
        await start(lab, standalone("a", 1))
        await lab.set_field("/spec/roles/-", standalone("b", 2, scalingAdapter={"enable": True}))
        await lab.until(lambda: lab.is_done() and len(lab.pods()) == 3, 60)
        (found,) = lab.all(labels.ADAPTER)
        assert (name_of(found), found["spec"]["replicas"]) == ("x-b", 2)
        assert found["status"]["phase"] == "Bound"


def carried(role: Object, kind: str, **rolling: object) -> Object:
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return {**role, "annotations": {labels.WORKLOAD_TYPE: kind}, "rolloutStrategy": strategy}


@pytest.mark.parametrize("kind", [DEPLOYMENT, STATEFUL_SET], ids=lambda kind: str(kind.name))
async def test_what_others_carry_rolls_within_the_budget_of_the_role(lab: GroupLab, kind):
    role = carried(standalone("router", 4), f"apps/v1/{kind.name}", maxUnavailable=1, maxSurge=0)
    await start(lab, role)
    await lab.set_image("engine:2")
    least = 4
    while not (lab.is_done() and lab.images() == {"engine:2"}):
        await lab.run(0.25)
        least = min(least, sum(is_true(pod, "Ready") for pod in lab.pods().values()))
        assert lab.clock.elapsed() < 600
    assert least == 3


class TestLeaderWorkerSets:
    """Roles that a LeaderWorkerSet carries, where the operator serves LeaderWorkerSets, too."""

    KIND = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"

    @pytest.fixture
    async def both(self) -> AsyncIterator[GroupLab]:
        lab = GroupLab.__new__(GroupLab)
        Lab.__init__(lab, DEFAULTS, apis=(ROLE_BASED_GROUP, LEADER_WORKER_SET))
        await lab.open()
        yield lab
        await lab.close()

    def role(self, replicas: int = 2) -> Object:
        pattern = {
            "size": 2,
            "template": template(),
            "workerTemplatePatch": template("worker:1"),
        }
        made = leader_worker("engine", replicas, leaderWorkerPattern=pattern)
        return carried(made, self.KIND, maxUnavailable=1)

    async def test_replicas_and_templates_of_leaders_and_workers_follow(self, both: GroupLab):
        await start(both, self.role())
        assert sorted(both.pods()) == [f"x-engine-{n}{w}" for n in (0, 1) for w in ("", "-1")]
        await both.set_field("/spec/roles/0/replicas", 3)
        await both.until(lambda: both.is_done() and len(both.pods()) == 6, 120)
        path = "/spec/roles/0/leaderWorkerPattern/workerTemplatePatch/spec/containers/0/image"
        await both.set_field(path, "worker:2")
        await both.until(lambda: both.is_done() and both.images() == {"engine:1", "worker:2"}, 240)
        await both.set_image("engine:2", 0, "leaderWorkerPattern")
        await both.until(lambda: both.is_done() and both.images() == {"engine:2", "worker:2"}, 240)
        patch = template("leader:3")
        await both.set_field("/spec/roles/0/leaderWorkerPattern/leaderTemplatePatch", patch)
        await both.until(lambda: both.is_done() and both.images() == {"leader:3", "worker:2"}, 240)
        images = {n: p["spec"]["containers"][0]["image"] for n, p in both.pods().items()}
        assert images == {
            f"x-engine-{n}{w}": "worker:2" if w else "leader:3"
            for n in range(3)
            for w in ("", "-1")
        }

    async def test_roles_of_four_kinds_come_and_go_in_one_group(self, both: GroupLab):
        web = carried(standalone("web", 1), "apps/v1/Deployment")
        store = carried(standalone("store", 1), "apps/v1/StatefulSet")
        await start(both, web, store, self.role(1), standalone("own", 1))
        made = {kind: [name_of(each) for each in both.all(kind)] for kind in KINDS}
        assert made == dict(zip(KINDS, [["x-web"], ["x-engine"], ["x-own"]], strict=True))
        assert "x-store" in [name_of(each) for each in both.all(STATEFUL_SET)]
        kept = both.uids("own")
        for _ in range(3):
            await both.edit("x", {"op": "remove", "path": "/spec/roles/0"}, kind=labels.KIND)
        await both.until(lambda: both.is_done() and both.uids() == kept, 120)
        assert [len(both.all(kind)) for kind in (*KINDS, STATEFUL_SET)] == [0, 0, 1, 0]
        await both.delete(labels.KIND, "x")
        await both.until(lambda: not both.pods() and not both.all(labels.INSTANCE_SET), 60)

    async def test_a_group_of_four_kinds_goes_whole(self, both: GroupLab):
        web = carried(standalone("web", 1), "apps/v1/Deployment")
        store = carried(standalone("store", 1), "apps/v1/StatefulSet")
        await start(both, web, store, self.role(1), standalone("own", 1))
        await both.delete(labels.KIND, "x")
        gone = (*KINDS, STATEFUL_SET, POD, labels.INSTANCE, CONTROLLER_REVISION)
        await both.until(lambda: not any(both.all(kind) for kind in gone), 120)
        assert [name_of(each) for each in both.all(SERVICE)] == ["kubernetes"]

    async def test_groups_roll_one_after_another(self, both: GroupLab):
        await start(both, self.role(3))
        await both.set_image("engine:2", 0, "leaderWorkerPattern")
        least = 6
        while not (both.is_done() and both.images() == {"engine:2", "worker:1"}):
            await both.run(0.5)
            least = min(least, sum(is_true(pod, "Ready") for pod in both.pods().values()))
            assert both.clock.elapsed() < 900
        assert least >= 4

    async def test_a_profile_reaches_leaders_and_not_workers(self, both: GroupLab):
        kind, side = labels.PROFILE, {"name": "side", "image": "side:1"}
        head = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "p"}}
        await both.apply({**head, "spec": {"containers": [side]}})
        await start(both, {**self.role(), "engineRuntimes": [{"profileName": "p"}]})
        listed = {
            name: [c["name"] for c in pod["spec"]["containers"]]
            for name, pod in both.pods().items()
        }
        assert listed == {
            f"x-engine-{n}{w}": ["engine", *([] if w else ["side"])]
            for n in (0, 1)
            for w in ("", "-1")
        }
