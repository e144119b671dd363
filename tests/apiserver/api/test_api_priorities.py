"""Which priority a pod gets."""

import pytest
from api_builders import Bench, pod

from kohort.cluster.errors import Forbidden
from kohort.cluster.kinds import POD, PRIORITY_CLASS


async def make_class(bench: Bench, name: str, value: int, *, is_default: bool = False) -> None:
    body = {"metadata": {"name": name}, "value": value, "globalDefault": is_default}
    await bench.create(PRIORITY_CLASS, body)


async def test_a_pod_has_the_priority_of_its_class(bench: Bench):
    await make_class(bench, "high", 7)
    made = await bench.create(POD, pod(priorityClassName="high"))
    assert made["spec"]["priority"] == 7


async def test_a_pod_that_names_no_class_gets_the_default_one(bench: Bench):
    await make_class(bench, "low", 3, is_default=True)
    spec = (await bench.create(POD, pod()))["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("low", 3)


async def test_a_class_that_does_not_exist_is_refused(bench: Bench):
    with pytest.raises(Forbidden, match="no PriorityClass with name none was found"):
        await bench.create(POD, pod(priorityClassName="none"))


async def test_there_is_one_default_class(bench: Bench):
    await make_class(bench, "low", 3, is_default=True)
    await make_class(bench, "high", 7)
    await bench.merge(PRIORITY_CLASS, "low", {"description": "for all"})
    with pytest.raises(Forbidden, match="PriorityClass low is already marked as default"):
        await make_class(bench, "other", 7, is_default=True)
    with pytest.raises(Forbidden, match="PriorityClass low is already marked as default"):
        await bench.merge(PRIORITY_CLASS, "high", {"globalDefault": True})
