"""A workload of any size is made in windows: no look makes more than so many pods."""

import orjson
import pytest
from operator_lab import Lab
from pods_truth import make, names

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.leaderworkerset.pods_carrier import render as acting
from kohort.cluster.actions import Create
from kohort.cluster.objects import Object, name_of
from kohort.planning import step
from kohort.planning.plan import plan
from kohort.views.samples import gather

WINDOW = 10


def is_leader(pod: Object) -> bool:
    return name_of(pod).count("-") == 1


def made_by_one_look(lab: Lab, pods: list[Object]) -> list[str]:
    """The pods that the operator would make now if it saw these."""
    api = LEADER_WORKER_SET
    children = {
        watched.kind: [orjson.dumps(found) for found in lab.all(watched.kind)]
        for watched in api.watched
        if watched.kind != api.members
    }
    children[api.members] = [orjson.dumps(pod) for pod in pods]
    snapshot = gather(api, [orjson.dumps(lab.lws())], children)[0].snapshot
    reading = api.read_checked(snapshot)
    decided = plan(reading.workload, reading.observed, lab.time.now().timestamp())
    actions = api.render(snapshot, reading, decided)
    return [name_of(a.obj) for a in actions if isinstance(a, Create) and a.kind == api.members]


async def test_one_look_makes_so_many_workers_of_all_groups_together(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
):
    await lab.apply(make(groups=4, size=5))
    await lab.until(lab.is_available)
    monkeypatch.setattr(acting, "_MAKE_MAX", WINDOW)
    leaders = [pod for pod in lab.all(LEADER_WORKER_SET.members) if is_leader(pod)]
    made = made_by_one_look(lab, leaders)
    assert made == [f"x-{group}-{n}" for group in range(3) for n in range(1, 5)][:WINDOW]


async def test_leaders_that_are_missing_do_not_keep_groups_from_getting_workers(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
):
    await lab.apply(make(groups=4, size=5))
    await lab.until(lab.is_available)
    monkeypatch.setattr(acting, "_MAKE_MAX", 2)
    monkeypatch.setattr(step, "MAKE_MAX", 2)
    first = [pod for pod in lab.all(LEADER_WORKER_SET.members) if name_of(pod) == "x-0"]
    assert made_by_one_look(lab, first) == ["x-1", "x-2", "x-0-1", "x-0-2"]


async def test_look_by_look_all_pods_are_made(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(acting, "_MAKE_MAX", 3)
    await lab.apply(make(groups=5, size=4))
    await lab.until(lab.is_available)
    assert len(names(lab)) == 20
