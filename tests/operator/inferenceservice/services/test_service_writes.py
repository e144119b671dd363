"""How often the operator writes for a service of 21 pods, under both strategies; without events."""

from collections import Counter

import pytest
from service_lab import RBG, ServiceLab, service

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.objects import annotations_of
from kohort.cluster.port import PatchType
from kohort.simulator.stages import NEVER_READY

PODS = 21
TOLD_OF = ("InferenceService", "RoleBasedGroup", "RoleInstanceSet", "RoleBasedGroupScalingAdapter")


class Counting(ServiceLab):
    """A laboratory that counts the operator's writes."""

    async def begin(self) -> None:
        await self.open(4, 8)
        await self.stock()
        await self.run(10)
        self.before = Counter(self.cluster.writes)

    def count(self) -> Counter[str]:
        found = Counter(self.cluster.writes) - self.before
        return Counter(
            {f"{verb} {kind}": number for (verb, kind), number in found.items() if kind != "Event"}
        )

    async def make(self, mode: str, **annotations: str) -> None:
        """A service of ten engines, ten decoders and a router."""
        obj = service("engine", "decoder", "router", mode=mode)
        for component, number in {"engine": 10, "decoder": 10, "router": 1}.items():
            size = {"minReplicas": number, "maxReplicas": number}
            obj["spec"][component] = {**size, "annotations": annotations}
        await self.apply(obj)

    async def let_one_more_be_ready(self) -> None:
        waiting = [
            n for n, pod in sorted(self.pods().items()) if NEVER_READY in annotations_of(pod)
        ]
        target = self.api.target(builtin.POD, self.namespace, waiting[0])
        body = {"metadata": {"annotations": {NEVER_READY: None}}}
        await self.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())


@pytest.mark.parametrize(("mode", "most"), [("", 23), (RBG, 131)], ids=["apart", "group"])
async def test_pods_that_start_together_are_told_of_once_or_twice(mode: str, most: int):
    lab = Counting()
    await lab.begin()
    await lab.make(mode)
    await lab.until(lab.is_ready, 120)
    await lab.run(20)
    written = lab.count()
    assert len(lab.pods()) == PODS
    assert sum(written.values()) <= most, written
    await lab.close()


@pytest.mark.parametrize(("mode", "most"), [("", 24), (RBG, 150)], ids=["apart", "group"])
async def test_pods_that_start_one_after_another_are_not_told_of_one_by_one(mode: str, most: int):
    """Above the pods, statuses tell of them every five seconds, and at once when all are ready."""
    lab = Counting()
    await lab.begin()
    await lab.make(mode, **{NEVER_READY: "true"})
    await lab.run(10)
    for _ in range(PODS):
        await lab.let_one_more_be_ready()
        await lab.run(1.1)
    await lab.until(lab.is_ready, 2)
    await lab.run(20)
    written = lab.count()
    assert sum(written.values()) <= most, written
    statuses = sum(written[f"patch {kind}/status"] for kind in TOLD_OF)
    assert statuses < 2 * PODS
    await lab.close()
