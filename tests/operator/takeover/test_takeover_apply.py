"""A takeover stops the other controller, starts ours, and can be undone: for all four upstreams."""

import asyncio

import pytest
from apply_lab import HOOKS, ApplyLab
from operator_lab import make_lws

from kohort.cluster import kinds
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import labels_of
from kohort.takeover.apply import NotEmpty
from kohort.takeover.report import Acceptance
from kohort.takeover.steps import Surprise, TookTooLong
from upstream_controllers import OTHERS


async def open_lab(*names: str) -> ApplyLab:
    return await ApplyLab(*names).open_with_others()


async def is_ours(lab: ApplyLab, name: str) -> bool:
    """Whether every webhook configuration of the other controller is ours now, or gone."""
    for kind, hook, _ in OTHERS[name].hooks:
        live = await lab.find_live(HOOKS[kind], "", hook)
        if live is not None and labels_of(live).get("app.kubernetes.io/managed-by") != "kohort":
            return False
    return True


@pytest.mark.parametrize("names", [("lws",), ("lws", "ms", "rbg", "isvc")], ids=",".join)
async def test_controllers_are_taken_over_and_given_back(names: tuple[str, ...]):
    lab = await open_lab(*names)
    before = await lab.picture()
    await lab.take_over()
    for name in names:
        assert await is_ours(lab, name)
        assert name == "lws" or await lab.count_replicas(name) == 0
    assert (await lab.record() or {})["is_applied"]
    assert await lab.undo()
    assert await lab.picture() == before
    assert await lab.record() is None
    assert lab.most_writers == 1
    await lab.close()


async def test_our_deployment_stands_in_the_place_of_lws():
    lab = await open_lab("lws")
    await lab.take_over()
    live = await lab.find_live(DEPLOYMENT, "lws-system", "lws-controller-manager")
    assert live is not None
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "kohort:1"
    await lab.close()


async def test_undo_without_a_takeover_changes_nothing():
    lab = await open_lab("lws")
    before = await lab.picture()
    assert not await lab.undo()
    assert await lab.picture() == before
    await lab.close()


async def test_a_workload_that_would_change_stops_it_before_anything_is_written():
    lab = await open_lab("lws")
    await lab.apply(make_lws())
    before = await lab.picture()
    with pytest.raises(NotEmpty) as caught:
        await lab.take_over()
    assert {write.kind for write in caught.value.report.writes} >= {"ControllerRevision"}
    assert await lab.picture() == before
    assert await lab.record() is None
    await lab.close()


async def test_accepted_differences_may_happen():
    lab = await open_lab("lws")
    await lab.apply(make_lws())
    kinds_made = ("StatefulSet", "Service", "ControllerRevision", "LeaderWorkerSet")
    await lab.take_over(accepted=tuple(Acceptance(kind) for kind in kinds_made))
    assert lab.lws()["status"]["readyReplicas"] == 2
    await lab.close()


async def test_a_controller_that_comes_back_is_a_surprise():
    lab = await open_lab("lws", "rbg")
    work = asyncio.ensure_future(lab.take_over())
    await lab.until(lambda: "rbg" not in lab.writers, 60)
    await lab.until(lambda: "ours" in lab.writers, 60)
    await lab.scale("rbg", 1)
    with pytest.raises(Surprise, match="rbgs-controller-manager was stopped and has replicas"):
        await lab.drive(work)
    await lab.scale("rbg", 0)
    assert await lab.undo()
    assert await lab.count_replicas("rbg") == 2
    await lab.close()


async def test_a_pod_that_goes_meanwhile_is_a_surprise_that_names_what_went_with_it():
    """The leader takes its workers and their set along, in whatever order the watches tell it."""
    lab = await open_lab("lws")
    await lab.apply(make_lws())
    kinds_made = ("StatefulSet", "Service", "ControllerRevision", "LeaderWorkerSet")
    accepted = tuple(Acceptance(kind) for kind in kinds_made)
    work = asyncio.ensure_future(lab.take_over(accepted=accepted))
    await lab.until(lambda: lab.find(kinds.POD, "x-0") is not None, 120)
    await lab.delete(kinds.POD, "x-0")
    told = r"Pod default/x-0, Pod default/x-0-1, Pod default/x-0-2 and \d more were deleted"
    with pytest.raises(Surprise, match=told):
        await lab.drive(work)
    await lab.close()


async def test_no_controller_found_is_said_with_what_was_looked_for():
    lab = await ApplyLab("lws").open_with_others(names=())
    with pytest.raises(Surprise, match="lws-controller-manager in all namespaces"):
        await lab.take_over()
    await lab.close()


async def test_a_controller_of_another_name_is_found_by_its_webhook_service():
    lab = await ApplyLab("rbg", "lws").open_with_others(renamed="operators-rbg")
    await lab.take_over()
    live = await lab.find_live(DEPLOYMENT, "rbgs-system", "operators-rbg")
    assert live is not None and live["spec"]["replicas"] == 0
    await lab.close()


async def test_objects_of_a_controller_that_is_not_taken_over_are_not_replaced():
    """The manifests have the names of LeaderWorkerSet's controller, which stays here."""
    lab = await ApplyLab("rbg").open_with_others(names=("rbg", "lws"))
    before = await lab.picture()
    with pytest.raises(Surprise, match="belongs to a controller that is not taken over"):
        await lab.take_over()
    assert await lab.picture() == before
    await lab.close()


async def test_while_a_lease_is_held_by_another_nothing_is_started():
    lab = await open_lab("lws")
    lab.ghost = "lws"  # a process that runs outside of the cluster keeps the lease
    with pytest.raises(TookTooLong, match=r"lease lws-system/b8b2488c.x-k8s.io"):
        await lab.take_over()
    assert "ours" not in lab.writers
    lab.ghost = ""
    assert await lab.undo()
    assert await lab.count_replicas("lws") == 2
    await lab.close()
