"""A network topology on its way to Volcano, and what users read of it, on every carrier."""

from collections.abc import AsyncIterator

import pytest
from operator_lab import Lab
from topology_lab import (
    NOWHERE,
    add_hyper_node,
    bind,
    find_degraded,
    make_packed,
    move,
    open_topology_lab,
    put,
    remove_hyper_node,
    schedulers,
    specs,
)

from kohort.apis.api import DEFAULTS
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.cluster import kinds
from kohort.cluster.objects import name_of, uid_of
from kohort.simulator.scheduling.scheduler import Scheduler

HARD = {"mode": "hard", "highestTierAllowed": 2}
NOTE = f"/metadata/annotations/{labels.NETWORK_TOPOLOGY.replace('/', '~1')}"


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    opened = await open_topology_lab()
    yield opened
    await opened.close()


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_the_field_reaches_pod_groups_and_both_kinds_of_pods_get_the_scheduler(
    lab: Lab, carrier: str
):
    await lab.apply(make_packed(carrier, HARD, groups=2, size=4))
    await lab.run(30)
    assert [spec["networkTopology"] for spec in specs(lab)] == [HARD, HARD]
    assert [spec["minMember"] for spec in specs(lab)] == [4, 4]
    assert schedulers(lab) == {"volcano"}
    assert len(lab.all(kinds.POD)) == 8
    assert find_degraded(lab) == {}


async def test_the_annotation_serves_where_the_field_is_not(lab: Lab, carrier: str):
    notes = {labels.NETWORK_TOPOLOGY: '{"mode":"soft","highestTierAllowed":1}'}
    await lab.apply(make_packed(carrier, None, groups=1, annotations=notes))
    await lab.run(30)
    assert specs(lab)[0]["networkTopology"] == {"mode": "soft", "highestTierAllowed": 1}
    assert schedulers(lab) == {"volcano"}


async def test_a_gang_that_waits_follows_the_wish_and_its_status_is_left_alone(
    lab: Lab, carrier: str
):
    """P6: PodGroups have no status of their own to write apart."""
    await lab.apply(make_packed(carrier, HARD, groups=1, pod=NOWHERE))
    await lab.run(30)
    lab.hold_component(next(s for s in lab.world.runners if isinstance(s.component, Scheduler)))
    (group,) = lab.all(POD_GROUP)
    status = {"phase": "Inqueue", "running": 0}
    await lab.edit(name_of(group), put("/status", status), kind=POD_GROUP)
    await lab.edit("x", put("/spec/networkTopology", {"mode": "soft", "highestTierName": "rack"}))
    await lab.run(30)
    (after,) = lab.all(POD_GROUP)
    assert after["spec"]["networkTopology"] == {"mode": "soft", "highestTierName": "rack"}
    assert (after["status"], uid_of(after)) == (status, uid_of(group))
    await lab.edit("x", {"op": "remove", "path": "/spec/networkTopology"})
    await lab.run(30)
    if carrier == "pods":
        assert "networkTopology" not in specs(lab)[0]


async def test_a_gang_that_is_placed_keeps_its_constraint(lab: Lab, carrier: str):
    """P5: new groups use the new one."""
    await lab.apply(make_packed(carrier, HARD, groups=1))
    await lab.until(lab.is_available)
    await lab.edit("x", put("/spec/networkTopology/highestTierAllowed", 1))
    await lab.edit("x", put("/spec/replicas", 2))
    await lab.until(lab.is_available)
    tiers = [spec.get("networkTopology", {}).get("highestTierAllowed") for spec in specs(lab)]
    assert tiers == [2, 1]
    for group in lab.all(POD_GROUP):
        await lab.delete(POD_GROUP, name_of(group))
    await lab.run(30)
    assert [spec.get("networkTopology") for spec in specs(lab)] == [None, None]


async def test_at_rest_nothing_is_written(lab: Lab, carrier: str):
    notes = {"kohort.dev/gang": "volcano"}
    await lab.apply(make_packed(carrier, {"highestTierAllowed": 7}, annotations=notes))
    await lab.run(120)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_a_tier_that_no_hyper_node_has_is_said_until_one_has_it(lab: Lab, carrier: str):
    await lab.apply(make_packed(carrier, {"highestTierAllowed": 3}))
    await lab.run(30)
    found = find_degraded(lab)
    assert (found["status"], found["reason"]) == ("True", "ClauseLost")
    assert found["message"] == (
        "no HyperNode has tier 3 (there are tiers 0, 1, 2): the whole cluster is allowed"
    )
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "TopologyDegraded"]
    assert [event["type"] for event in events] == ["Warning"]
    await add_hyper_node(lab, "zone", 3)
    await lab.run(30)
    assert find_degraded(lab)["status"] == "False"


async def test_nothing_can_match_tier_0_where_no_hyper_node_has_it(lab: Lab, carrier: str):
    await remove_hyper_node(lab, "h0")
    await lab.apply(make_packed(carrier, {"highestTierAllowed": 0}, groups=0))
    await lab.run(30)
    assert "nothing can match" in find_degraded(lab)["message"]
    await add_hyper_node(lab, "h0", 0)
    await lab.run(30)
    assert find_degraded(lab)["status"] == "False"
    await lab.edit("x", put("/spec/replicas", 1))
    await lab.run(30)
    assert specs(lab)[0]["networkTopology"]["highestTierAllowed"] == 0


async def test_a_name_that_no_tier_has_is_said(lab: Lab, carrier: str):
    await lab.apply(make_packed(carrier, {"highestTierName": "rack"}))
    await lab.run(30)
    assert "no HyperNode has the tier name rack" in find_degraded(lab)["message"]
    await add_hyper_node(lab, "r1", 1, "rack")
    await lab.run(30)
    assert find_degraded(lab)["status"] == "False"


async def test_a_template_with_a_scheduler_of_its_own_is_not_edited_and_that_is_said(
    lab: Lab, carrier: str
):
    await lab.apply(make_packed(carrier, HARD, pod={"schedulerName": "mine"}))
    await lab.run(30)
    assert schedulers(lab) == {"mine"}
    assert find_degraded(lab)["message"] == (
        "networkTopology is not told to scheduler mine of a template: say schedulerName volcano "
        "in both"
    )


async def test_without_gangs_a_topology_reaches_no_scheduler_and_the_status_says_so(carrier: str):
    lab = await open_topology_lab(DEFAULTS)
    await lab.apply(make_packed(carrier, HARD))
    await lab.until(lab.is_available)
    assert find_degraded(lab)["message"] == (
        "networkTopology has no effect, since no gangs are made: the operator has no --gang"
    )
    assert schedulers(lab) == {"default-scheduler"}
    await lab.close()


async def test_an_annotation_that_cannot_be_read_is_said_and_the_rest_works(lab: Lab, carrier: str):
    """Admission may have been away when it was written."""
    await lab.apply(make_packed(carrier, None))
    await lab.until(lab.is_available)
    lab.remove_webhooks()
    await lab.edit("x", put(NOTE, "{"))
    await lab.run(30)
    assert "is no JSON" in find_degraded(lab)["message"]
    assert lab.is_available()


async def test_a_limit_that_the_scheduler_does_not_keep_is_said(carrier: str):
    """Volcano enforces hard topology only where its plugin is on, and does not report it."""
    lab = await open_topology_lab(tiers=())
    for place in range(8):
        member = {"type": "Node", "selector": {"exactMatch": {"name": f"gpu-{place:02}"}}}
        await add_hyper_node(lab, f"n{place}", 0, members=[member])
    # No scheduler that knows of the limit places these pods.
    await lab.apply(make_packed(carrier, {"highestTierAllowed": 0}, groups=1, pod=NOWHERE))
    await lab.run(30)
    assert find_degraded(lab) == {}
    for place, pod in enumerate(sorted(name_of(pod) for pod in lab.all(kinds.POD))):
        await bind(lab, pod, f"gpu-{place:02}")
    await lab.run(30)
    found = find_degraded(lab)
    assert (found["status"], found["reason"]) == ("True", "ConstraintIgnored")
    assert found["message"] == (
        "group 0 stands in a domain of tier 1, wider than tier 0: volcano does not enforce "
        "hard topology"
    )
    await lab.edit("x", put("/spec/networkTopology/highestTierAllowed", 1))
    await lab.run(30)
    assert find_degraded(lab)["reason"] != "ConstraintIgnored"
    await lab.close()


async def test_nodes_that_move_to_another_domain_are_measured_again():
    lab = await open_topology_lab(tiers=())
    for rack in ("a", "b"):
        chosen = {"labelMatch": {"matchLabels": {"rack": rack}}}
        await add_hyper_node(lab, rack, 0, members=[{"type": "Node", "selector": chosen}])
    await lab.apply(make_packed("pods", {"highestTierAllowed": 0}, groups=1, pod=NOWHERE))
    await lab.run(30)
    for place, pod in enumerate(sorted(name_of(pod) for pod in lab.all(kinds.POD))):
        await move(lab, f"gpu-{place:02}", "ab"[place % 2])
        await bind(lab, pod, f"gpu-{place:02}")
    await lab.run(30)
    assert find_degraded(lab)["reason"] == "ConstraintIgnored"
    await move(lab, "gpu-01", "a")
    await lab.edit("x", put("/metadata/labels", {"touched": "yes"}))
    await lab.run(30)
    assert find_degraded(lab)["status"] == "False"
    await lab.close()
