"""
Components of an instance that shrinks: which pods go first (E2E component_ordering), and which
components take no part in restarts (E2E inactive_pod).
"""

from collections.abc import AsyncIterator

import pytest
from group_lab import GroupLab, start, template
from single_lab import SingleLab, component, instance

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object, is_leaving, name_of


@pytest.fixture
async def single() -> AsyncIterator[SingleLab]:
    found = SingleLab()
    await found.open()
    yield found
    await found.close()


def ordered(name: str, size: int = 1, **order: list[str]) -> Object:
    """A component with an order, in the annotation of its template."""
    text = str(order).replace("'", '"')
    made = component(name, size)
    made["template"] = {**template(), "metadata": {"annotations": {labels.DEPENDS_ON: text}}}
    return made


async def shrink(lab: SingleLab, sizes: dict[int, int]) -> list[list[str]]:
    """Give components other sizes at once; the pods that begin to leave together, in order."""
    changes = [
        {"op": "replace", "path": f"/spec/components/{index}/size", "value": size}
        for index, size in sizes.items()
    ]
    gone: list[list[str]] = []
    await lab.edit("solo", *changes, kind=labels.INSTANCE)
    for _ in range(600):
        await lab.run(0.25)
        there = {name_of(p) for p in lab.pods().values() if not is_leaving(p)}
        leaving = sorted(name_of(p) for p in lab.pods().values() if is_leaving(p))
        new = [name for name in leaving if not any(name in known for known in gone)]
        gone += [new] if new else []
        if not leaving and len(there) == 1:
            return gone
    raise AssertionError(f"pods stay: {lab.pods().keys()}")


async def test_a_component_shrinks_after_those_that_it_names(single: SingleLab):
    """Both shrink at once: no worker leaves while the router is there."""
    made = (ordered("worker", 2, deleteAfter=["router"]), component("router"), component("leader"))
    await single.apply(instance(*made))
    await single.until(single.is_instance_ready, 60)
    gone = await shrink(single, {0: 0, 1: 0})
    assert gone == [["solo-router-0"], ["solo-worker-0", "solo-worker-1"]]


async def test_what_started_last_shrinks_first(single: SingleLab):
    made = (component("worker"), ordered("router", 1, startAfter=["worker"]), component("leader"))
    await single.apply(instance(*made))
    await single.until(single.is_instance_ready, 60)
    assert await shrink(single, {0: 0, 1: 0}) == [["solo-router-0"], ["solo-worker-0"]]


async def test_components_that_wait_for_each_other_to_go_have_no_order(single: SingleLab):
    made = (
        ordered("worker", 1, deleteAfter=["router"]),
        ordered("router", 1, deleteAfter=["worker"]),
        component("leader"),
    )
    await single.apply(instance(*made))
    await single.until(single.is_instance_ready, 60)
    assert await shrink(single, {0: 0, 1: 0}) == [["solo-router-0", "solo-worker-0"]]


def components_role(spared: str) -> Object:
    """A role of two components, one of which takes no part in restarts."""
    listed = [component("main"), component("metrics")]
    for each in listed:
        if each["name"] == spared:
            notes = {labels.RESTART_TRIGGER: "Ignore"}
            each["template"] = {**each["template"], "metadata": {"annotations": notes}}
    pattern = {"components": listed, "restartPolicy": "RecreateRoleInstanceOnPodRestart"}
    return {"name": "pd", "replicas": 1, "customComponentsPattern": pattern}


async def test_a_component_that_restarts_ignore_is_made_anew_alone(lab: GroupLab):
    await start(lab, components_role("metrics"))
    before = lab.uids()
    await lab.fail_pod("x-pd-0-metrics-0")
    await lab.until(lambda: lab.uids() != before and lab.is_done(), 240)
    assert lab.uids()["x-pd-0-main-0"] == before["x-pd-0-main-0"]


async def test_a_component_beside_it_still_takes_the_instance_along(lab: GroupLab):
    await start(lab, components_role("metrics"))
    before = lab.uids()
    await lab.fail_pod("x-pd-0-main-0")
    await lab.until(lambda: not set(lab.uids().values()) & set(before.values()), 240)
    await lab.until(lambda: len(lab.pods()) == 2 and lab.is_done(), 240)
