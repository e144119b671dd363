"""What a gang asks for where ordinals have gaps, pods wait, or the user takes a wish back."""

from collections.abc import AsyncIterator

import orjson
import pytest
from group_lab import KIND, GroupLab, group, install, leader_worker, standalone, start

from kohort.apis.api import Settings
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.kai import KAI, SUBGROUP_NAME
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, is_leaving, labels_of

GANG = {labels.GANG: "true"}
STATELESS = {labels.INSTANCE_PATTERN: "Stateless"}
SLOW = {
    "type": "RecreateRoleInstanceOnPodRestart",
    "baseDelaySeconds": 3000,
    "maxDelaySeconds": 3000,
}
STAY = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/stay"]}
PRIORITY = f"/metadata/annotations/{labels.GANG_PRIORITY.replace('/', '~1')}"


class GangLab(GroupLab):
    """A cluster with one gang scheduler."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(Settings(gangs=(dialect,)))
        self.dialect = dialect

    async def begin(self) -> None:
        await self.open(operator=False)
        await install(self, self.dialect.name)
        self.start_operator()

    def placed(self, role: Object, cpu: str = "1") -> Object:
        """The role with pods for this scheduler, each of which asks for so much."""
        pattern = next(held for key, held in role.items() if key.endswith("Pattern"))
        templates = [pattern] if "template" in pattern else pattern["components"]
        for each in templates:
            each["template"]["spec"]["schedulerName"] = self.dialect.scheduler
            each["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        return role

    def gang(self) -> Object:
        found = self.find(self.dialect.kinds[0], "x")
        spec: Object = found["spec"] if found else {}
        return spec

    async def replace_first(self) -> None:
        """Delete an instance whose pod stays for a while, so that its ordinal is not free."""
        name = min(self.pods())
        await self.edit(name, STAY, kind=kinds.POD)
        await self.delete(labels.INSTANCE, labels_of(self.pods()[name])[labels.INSTANCE_NAME])
        await self.until(
            lambda: self.is_done() and name not in self.live() and len(self.live()) == 3, 120
        )

    def live(self) -> dict[str, Object]:
        """The pods that stay, by name."""
        return {name: pod for name, pod in self.pods().items() if not is_leaving(pod)}


@pytest.fixture
async def volcano() -> AsyncIterator[GangLab]:
    lab = GangLab(VOLCANO)
    await lab.begin()
    yield lab
    await lab.close()


@pytest.fixture
async def kai() -> AsyncIterator[GangLab]:
    lab = GangLab(KAI)
    await lab.begin()
    yield lab
    await lab.close()


def stepwise(engines: int = 1) -> Object:
    """A role whose engines, so many in each instance, start after its stores."""
    later = {labels.DEPENDS_ON: orjson.dumps({"startAfter": ["store"]}).decode()}
    listed = [
        {"name": name, "size": size, "template": {"metadata": {"annotations": notes}, "spec": spec}}
        for name, size, notes in (("store", 1, {}), ("engine", engines, later))
        for spec in [{"containers": [{"name": "c", "image": "c:1"}]}]
    ]
    return {"name": "kv", "replicas": 2, "customComponentsPattern": {"components": listed}}


async def test_a_settled_gang_keeps_the_subgroups_that_its_pods_name(kai: GangLab):
    role = kai.placed(standalone(replicas=3, annotations=STATELESS))
    await start(kai, role, **GANG, **{labels.GANG_QUEUE: "default"})
    await kai.replace_first()
    await kai.run(30)
    named = {labels_of(pod)[SUBGROUP_NAME] for pod in kai.live().values()}
    assert named == {each["name"] for each in kai.gang()["subGroups"]} and len(named) == 3


async def test_an_instance_with_a_high_ordinal_that_backs_off_is_not_waited_for(volcano: GangLab):
    role = leader_worker(replicas=3, size=1, annotations=STATELESS)
    role["leaderWorkerPattern"]["restartPolicyConfig"] = SLOW
    await start(volcano, volcano.placed(role), **GANG)
    before = set(volcano.pods())
    await volcano.replace_first()
    (last,) = set(volcano.live()) - before
    uid = volcano.uids()[last]
    await volcano.fail_pod(last)
    await volcano.until(lambda: volcano.is_done() and volcano.uids().get(last, uid) != uid, 240)
    await volcano.run(5)
    assert volcano.gang()["minMember"] == 3
    await volcano.fail_pod(last)
    await volcano.run(5)
    assert volcano.gang()["minMember"] == 2


async def test_pods_that_do_not_wait_are_among_the_resources_of_their_gang(volcano: GangLab):
    await volcano.apply(group(volcano.placed(stepwise()), **GANG))
    await volcano.until(lambda: bool(volcano.gang()))
    asked = volcano.gang()
    assert (asked["minMember"], asked["minResources"]) == (2, {"cpu": "2"})
    await volcano.until(volcano.is_done, 120)
    await volcano.until(lambda: volcano.gang()["minResources"] == {"cpu": "4"})


async def make_priority(lab: GangLab) -> None:
    body = {"metadata": {"name": "high"}, "value": 7}
    await lab.api.create(lab.api.target(kinds.PRIORITY_CLASS), body, WriteOptions())


async def test_a_priority_that_is_wanted_no_more_goes_while_no_pod_has_a_node(volcano: GangLab):
    await make_priority(volcano)
    role = volcano.placed(leader_worker(), cpu="9999")
    await volcano.apply(group(role, **GANG, **{labels.GANG_PRIORITY: "high"}))
    await volcano.until(lambda: volcano.gang().get("priorityClassName") == "high")
    await volcano.edit("x", {"op": "remove", "path": PRIORITY}, kind=KIND)
    await volcano.until(lambda: "priorityClassName" not in volcano.gang())
    assert labels.GANG_PRIORITY not in annotations_of(volcano.group())


async def test_a_gang_whose_pods_have_nodes_keeps_its_priority(volcano: GangLab):
    await make_priority(volcano)
    await start(volcano, volcano.placed(standalone()), **GANG, **{labels.GANG_PRIORITY: "high"})
    await volcano.edit("x", {"op": "remove", "path": PRIORITY}, kind=KIND)
    await volcano.run(30)
    assert volcano.gang()["priorityClassName"] == "high"
