"""A strategy that only a flag says is written down, so that those who ask why are told it."""

import orjson
import pytest
from operator_lab import Lab, make_lws

from kohort.apis.api import Settings
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster import kinds
from kohort.views.samples import gather

NOTE = "kohort.dev/strategy-in-use"
CARRIERS = pytest.mark.parametrize("carrier", ["statefulsets", "pods"])


def read_strategy(lab: Lab) -> str:
    """The strategy as a reader without flags sees it."""
    root = orjson.dumps(lab.lws())
    children = {
        w.kind: [orjson.dumps(obj) for obj in lab.all(w.kind)]
        for w in LEADER_WORKER_SET.watched
        if w.kind.namespaced
    }
    sample = gather(LEADER_WORKER_SET, [root], children)[0]
    return LEADER_WORKER_SET.read(sample.snapshot).workload.rollout.strategy


def notes(lab: Lab) -> list[str]:
    found = [r["metadata"].get("annotations") or {} for r in lab.all(kinds.CONTROLLER_REVISION)]
    return [each[NOTE] for each in found if NOTE in each]


@CARRIERS
async def test_a_flag_is_written_down_once(carrier: str):
    lab = await Lab(Settings(strategy="compatible", carrier=carrier)).open()
    await lab.apply(make_lws())
    await lab.until(lab.is_available)
    await lab.run(5)
    assert notes(lab) == ["compatible"]
    assert read_strategy(lab) == "compatible"
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before
    await lab.close()


@CARRIERS
async def test_the_usual_strategy_needs_no_note(carrier: str):
    lab = await Lab(Settings(carrier=carrier)).open()
    await lab.apply(make_lws())
    await lab.until(lab.is_available)
    assert notes(lab) == []
    assert read_strategy(lab) == "budgeted"
    await lab.close()


async def test_what_the_object_says_needs_no_note():
    lab = await Lab(Settings(strategy="compatible")).open()
    own = {"kohort.dev/rollout-strategy": "budgeted"}
    await lab.apply(make_lws(annotations=own))
    await lab.until(lab.is_available)
    assert notes(lab) == []
    assert read_strategy(lab) == "budgeted"
    await lab.close()


async def test_a_flag_that_is_taken_back_takes_its_note_along():
    lab = await Lab(Settings(strategy="compatible")).open()
    await lab.apply(make_lws())
    await lab.until(lab.is_available)
    await lab.stop_operator()
    lab.settings = Settings()
    lab.start_operator()
    await lab.run(30)
    assert notes(lab) == []
    await lab.close()
