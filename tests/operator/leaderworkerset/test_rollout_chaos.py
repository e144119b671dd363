"""
Users, failures and old views in any order: promises hold, and in the end all is as asked.

Each seed is one history, and gives the same one every time. After it comes a quiet
period, in which the workload must reach what its last spec asks for, and then rest.
"""

from random import Random

import pytest
from operator_lab import Lab, make_lws, set_image, set_replicas
from operator_truth import PREFIX, Truth

from kohort.apis.api import Settings
from kohort.cluster import kinds
from kohort.cluster.objects import Object

GATE = frozenset({"MaxUnavailableStatefulSet"})
TOPOLOGY = f"{PREFIX}exclusive-topology"
LABS = [
    (Settings(), frozenset()),
    (Settings(), GATE),
    (Settings(strategy="compatible"), frozenset()),
]


class Chaos:
    """One history."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self.lab = lab
        self.chance = Random(seed)
        self.image = 1

    async def step(self) -> None:
        """Something happens, and some time passes."""
        users = [self.roll, self.back, self.scale, self.resize, self.annotate]
        others = [self.lose, self.lag, self.crash, self.silence]
        await self.chance.choice(users + others)()
        await self.lab.run(self.chance.choice([0.1, 1.0, 3.0, 9.0]))

    async def roll(self) -> None:
        self.image += 1
        await self.lab.edit("x", set_image(f"engine:{self.image}"))

    async def back(self) -> None:
        self.image = max(1, self.image - 1)
        await self.lab.edit("x", set_image(f"engine:{self.image}"))

    async def scale(self) -> None:
        await self.lab.edit("x", set_replicas(self.chance.randint(0, 4)))

    async def resize(self) -> None:
        path = "/spec/leaderWorkerTemplate/size"
        size = self.chance.randint(1, 3)
        await self.lab.edit("x", {"op": "replace", "path": path, "value": size})

    async def annotate(self) -> None:
        value = self.chance.choice(["kubernetes.io/hostname", ""])
        path = f"/metadata/annotations/{TOPOLOGY.replace('/', '~1')}"
        await self.lab.edit("x", {"op": "add", "path": path, "value": value})

    async def silence(self) -> None:
        """The webhook goes away for a while."""
        self.lab.break_webhooks()
        await self.lab.run(self.chance.choice([1.0, 20.0]))
        self.lab.mend_webhooks()

    async def lose(self) -> None:
        pods = sorted(p["metadata"]["name"] for p in self.lab.all(kinds.POD))
        if pods:
            grace = self.chance.choice([0, None])
            await self.lab.delete(kinds.POD, self.chance.choice(pods), grace_seconds=grace)

    async def lag(self) -> None:
        self.lab.cluster.release()
        kind = self.chance.choice(["Pod", "StatefulSet", "LeaderWorkerSet", "ControllerRevision"])
        self.lab.cluster.hold(kind)

    async def crash(self) -> None:
        await self.lab.stop_operator()
        await self.lab.run(self.chance.choice([0.0, 2.0]))
        self.lab.start_operator()


def wish(lws: Object) -> tuple[int, int, str]:
    template = lws["spec"]["leaderWorkerTemplate"]
    image = template["workerTemplate"]["spec"]["containers"][0]["image"]
    return lws["spec"]["replicas"], template["size"], image


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
async def test_whatever_happens_it_ends_as_asked_and_rests(seed: int):
    settings, gates = LABS[seed % len(LABS)]
    lab = await Lab(settings, gates).open()
    chaos, truth = Chaos(lab, seed), Truth(lab)
    rollout = {"maxUnavailable": chaos.chance.randint(1, 2), "maxSurge": chaos.chance.randint(0, 2)}
    notes = {"some": "note"}
    await lab.apply(make_lws(groups=3, size=2, rollout=rollout, annotations=notes))
    for _ in range(12):
        await chaos.step()
    lab.cluster.release()
    await lab.run(240)
    groups, size, image = wish(lab.lws())
    assert lab.is_available(), lab.lws()["status"]
    pods = lab.all(kinds.POD)
    assert len(pods) == groups * size
    assert {p["spec"]["containers"][0]["image"] for p in pods} <= {image}
    assert len(lab.all(kinds.STATEFUL_SET)) == 1 + (groups if size > 1 else 0)
    assert truth.steps[-1] == (0, groups)
    assert truth.breaches == []
    before = lab.api.store.revision
    await lab.run(300)
    assert lab.api.store.revision == before
    await lab.close()
