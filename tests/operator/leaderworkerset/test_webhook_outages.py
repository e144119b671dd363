"""While our own webhook is away nothing is given up, and afterwards all is mended soon."""

from operator_lab import Lab, make_lws, set_image
from operator_truth import PREFIX, Budget, Truth

from kohort.cluster import kinds
from kohort.cluster.objects import Object

WHOLE_SECONDS = 30


async def bring_up(lab: Lab, groups: int = 4, **rollout: int) -> Truth:
    truth = Truth(lab)
    await lab.apply(make_lws(groups=groups, size=2, rollout={"maxUnavailable": 2, **rollout}))
    await lab.until(lab.is_available)
    await lab.run(5)
    return truth


def deleted(lab: Lab) -> list[str]:
    return [p["metadata"]["name"] for p in lab.all(kinds.POD) if _is_leaving(p)]


def _is_leaving(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


async def test_no_rollout_begins_while_the_webhook_is_silent(lab: Lab):
    truth = await bring_up(lab)
    truth.promise(Budget(4, unavailable=0))
    lab.break_webhooks()
    await lab.edit("x", set_image("engine:2"))
    await lab.run(600)
    assert truth.breaches == []
    assert len(truth.leaders) == 4
    lab.mend_webhooks()
    truth.promise(Budget(4, unavailable=2))
    await lab.until(lab.is_available)
    assert truth.breaches == []
    assert len(truth.leaders) == 8


async def test_a_rollout_stops_where_the_outage_finds_it(lab: Lab):
    truth = await bring_up(lab, groups=6)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: lab.lws()["status"].get("updatedReplicas", 0) >= 2)
    lab.break_webhooks()
    await lab.run(1)
    gone = 6 - len(truth.groups())
    await lab.run(600)
    assert 6 - len(truth.groups()) == gone
    lab.mend_webhooks()
    await lab.run(WHOLE_SECONDS)
    assert len(truth.ready()) >= 4
    await lab.until(lab.is_available)


async def test_groups_are_whole_soon_after_the_outage(lab: Lab):
    """The set's controller may wait for minutes before it tries again: it is woken."""
    await bring_up(lab)
    lab.break_webhooks()
    for name in ("x-0-1", "x-2"):
        await lab.delete(kinds.POD, name, grace_seconds=0)
    await lab.run(900)
    assert not lab.is_available()
    lab.mend_webhooks()
    await lab.run(WHOLE_SECONDS)
    assert lab.is_available()


async def test_a_group_whose_worker_is_lost_keeps_its_leader_during_the_outage(lab: Lab):
    truth = await bring_up(lab)
    lab.break_webhooks()
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)
    await lab.run(120)
    assert len(truth.made("x-1")) == 1
    assert deleted(lab) == []
    lab.mend_webhooks()
    await lab.run(WHOLE_SECONDS)
    assert lab.is_available()
    assert len(truth.made("x-1")) == 2


async def test_pods_that_were_made_without_our_marks_are_made_again(lab: Lab):
    truth = await bring_up(lab)
    lab.remove_webhooks()
    await lab.delete(kinds.POD, "x-3", propagation="Foreground")
    await lab.run(60)
    unmarked = lab.find(kinds.POD, "x-3")
    assert unmarked and f"{PREFIX}group-index" not in unmarked["metadata"]["labels"]
    assert lab.lws()["status"]["readyReplicas"] == 3
    # To make it again would not help while the API server does not call our webhook.
    assert len(truth.made("x-3")) == 2
    lab.mend_webhooks()
    await lab.run(WHOLE_SECONDS)
    assert lab.is_available()
    mended = lab.find(kinds.POD, "x-3")
    assert mended and mended["metadata"]["labels"][f"{PREFIX}group-index"] == "3"


async def test_at_rest_the_operator_does_not_probe_admission(lab: Lab):
    await bring_up(lab)
    asked: list[str] = []

    async def dry_run_create(*given: object) -> Object:
        asked.append("a pod")
        return {}

    lab.cluster.dry_run_create = dry_run_create  # type: ignore[method-assign,assignment]
    await lab.run(600)
    assert asked == []
