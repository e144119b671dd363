"""What an API value can say beyond LeaderWorkerSet's: references, projections, removed keys."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from operator_lab import Lab

from gadget_api import GADGET, GADGETS, PART, PROFILE, make_gadget, make_part, make_profile
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.cluster.kinds import EVENT
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType
from kohort.model.reasons import Notice

STATUS, PART_STATUS = ("patch", "Gadget/status"), ("patch", "GadgetPart/status")


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    opened = Lab(apis=[GADGETS])
    await opened.open(nodes=1)
    yield opened
    await opened.close()


def status_of(lab: Lab, kind: Kind = GADGET, name: str = "g") -> Object:
    found = lab.find(kind, name)
    assert found is not None
    return found.get("status") or {}


async def merge(lab: Lab, kind: Kind, name: str, **body: Any) -> None:
    target = lab.api.target(kind, lab.namespace if kind.namespaced else "", name)
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())


async def test_a_profile_that_changes_reconciles_the_workloads_that_use_it_and_no_others(lab):
    await lab.apply(make_profile("p", "red"))
    await lab.apply(make_gadget("g", profile="p"))
    await lab.apply(make_gadget("other", profile="q"))
    await lab.run(5)
    assert status_of(lab)["colour"] == "red"
    looked: list[str] = []
    controller = lab.operator.controllers[0]
    controller.record = lambda key, result, seconds: looked.append(key[1])
    await merge(lab, PROFILE, "p", spec={"colour": "blue"})
    await lab.run(5)
    assert status_of(lab)["colour"] == "blue"
    assert set(looked) == {"g"}


async def test_a_profile_that_comes_late_and_goes_again_is_seen(lab):
    await lab.apply(make_gadget("g", profile="p"))
    await lab.run(5)
    assert "colour" not in status_of(lab)
    await lab.apply(make_profile("p", "red"))
    await lab.run(5)
    assert status_of(lab)["colour"] == "red"
    await lab.api.delete(lab.api.target(PROFILE, "", "p"), DeleteOptions())
    await lab.run(5)
    assert "colour" not in status_of(lab)


async def test_a_gadget_that_names_another_profile_follows_that_one(lab):
    for name, colour in (("p", "red"), ("q", "green")):
        await lab.apply(make_profile(name, colour))
    await lab.apply(make_gadget("g", profile="p"))
    await lab.run(5)
    await merge(lab, GADGET, "g", spec={"profile": "q"})
    await lab.run(5)
    await merge(lab, PROFILE, "q", spec={"colour": "black"})
    await lab.run(5)
    assert status_of(lab)["colour"] == "black"


async def test_keys_that_are_gone_are_removed_at_any_depth_and_nothing_is_written_at_rest(lab):
    await lab.apply(make_gadget("g"))
    for name in ("a", "b"):
        await lab.apply(make_part(name, 1))
    await lab.run(5)
    assert status_of(lab)["parts"] == {"a": "seen", "b": "seen"}
    await lab.delete(PART, "a")
    await lab.run(5)
    assert status_of(lab)["parts"] == {"b": "seen"}
    before = lab.cluster.tried.copy()
    await lab.run(600)
    assert lab.cluster.tried == before


async def test_the_status_of_a_part_is_written_and_follows_what_it_is_about(lab):
    await lab.apply(make_profile("p", "red"))
    await lab.apply(make_gadget("g", profile="p"))
    await lab.apply(make_part("a", 1))
    await lab.run(5)
    assert status_of(lab, PART, "a") == {"number": 1, "colour": "red"}
    await merge(lab, GADGET, "g", spec={"profile": ""})
    await lab.run(5)
    assert status_of(lab, PART, "a") == {"number": 1}
    managers = {m["manager"] for m in lab.find(PART, "a")["metadata"]["managedFields"]}
    assert "gadget" in managers


async def test_the_status_of_a_part_is_written_at_most_once_a_second_but_its_last_state_always(lab):
    await lab.apply(make_gadget("g"))
    await lab.apply(make_part("a", 0))
    await lab.run(5)
    before = lab.cluster.writes[PART_STATUS]
    for number in range(1, 21):
        await merge(lab, PART, "a", spec={"number": number})
        await lab.run(0.2)
    await lab.run(3)
    assert status_of(lab, PART, "a")["number"] == 20
    assert lab.cluster.writes[PART_STATUS] - before <= 6


async def test_a_status_of_a_part_that_another_client_wrote_over_is_put_back(lab):
    await lab.apply(make_gadget("g"))
    await lab.apply(make_part("a", 3))
    await lab.run(5)
    target = replace(lab.api.target(PART, "default", "a"), subresource="status")
    spoiled = PatchBody(PatchType.MERGE, {"status": {"number": 9, "colour": "odd"}})
    await lab.api.patch(target, spoiled, WriteOptions())
    await lab.run(5)
    assert status_of(lab, PART, "a") == {"number": 3}


async def test_events_are_reported_by_the_home_of_the_api():
    said = Notice("Normal", "Seen", "a gadget was seen")
    lab = Lab(apis=[replace(GADGETS, list_events=lambda *seen: (said,))])
    await lab.open(nodes=1)
    await lab.apply(make_gadget("g"))
    await lab.run(5)
    (event,) = [e for e in lab.all(EVENT) if e["reason"] == "Seen"]
    assert event["source"]["component"] == event["reportingComponent"] == "gadget-reporter"
    await lab.close()


async def test_unreadable_references_of_a_workload_do_not_disturb_others(lab):
    bad = replace(GADGETS.references[0], find_names=lambda root: root["spec"]["none"]["such"])
    broken = replace(GADGETS, references=(bad,))
    other = Lab(apis=[broken])
    await other.open(nodes=1)
    await other.apply(make_gadget("g"))
    await other.run(5)
    assert status_of(other)["size"] == 0
    await other.close()
