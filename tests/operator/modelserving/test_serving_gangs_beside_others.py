"""What becomes of the gangs of a ModelServing when other clients have had a hand in them."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from decided_writes import (
    Change,
    both,
    decide,
    deleted,
    give_away,
    leave,
    made,
    note,
    of,
    on,
    patched,
)
from gang_lab import VOLCANO, define_pod_groups
from serving_lab import KIND, ServingLab, role, start

from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP
from kohort.apis.modelserving import labels
from kohort.cluster.kinds import POD
from kohort.cluster.objects import annotations_of, is_leaving, name_of, uid_of
from kohort.simulator.stages import NEVER_READY

BY_ROLE = {"rolloutStrategy": {"type": "RoleRollingUpdate"}}
IN_GANG = {"schedulerName": "volcano", "replicas": 1}
OTHER = "gang-of-another-controller"
STAY = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/stay"]}


@pytest.fixture
async def lab() -> AsyncIterator[ServingLab]:
    found = ServingLab(VOLCANO)
    await found.open()
    await define_pod_groups(found)
    yield found
    await found.close()


def ask(**fields: object) -> Change:
    """Other values in a gang's spec."""
    return of(POD_GROUP, lambda gang: gang["spec"].update(fields))


def roles(edit: Any) -> Change:
    """Another spec of the roles."""
    return of(KIND, lambda serving: edit(serving["spec"]["template"]["roles"]))


async def test_a_gang_that_is_not_ours_or_leaves_is_neither_changed_nor_deleted(lab: ServingLab):
    await start(lab, role(), **IN_GANG)
    (gang,) = lab.all(POD_GROUP)
    mended = patched(decide(lab, ask(minMember=9)), POD_GROUP)
    assert mended == {"x-0": {"metadata": {"uid": uid_of(gang)}, "spec": {"minMember": 2}}}
    off = of(KIND, note(**{labels.GANG: "none"}))
    assert deleted(decide(lab, off), POD_GROUP) == {"x-0": uid_of(gang)}
    for other in (of(POD_GROUP, give_away), of(POD_GROUP, leave)):
        assert not on(decide(lab, both(ask(minMember=9), other)), POD_GROUP)
        assert not on(decide(lab, both(off, other)), POD_GROUP)


async def test_queue_and_priority_that_other_clients_set_stay(lab: ServingLab):
    await start(lab, role(), **IN_GANG)
    assert not on(decide(lab, ask(queue="default", priorityClassName="high")), POD_GROUP)


async def test_a_group_in_a_gang_of_another_name_grows_in_it(lab: ServingLab):
    await start(lab, role(), **IN_GANG)
    renamed = of(POD_GROUP, lambda gang: gang["metadata"].update(name=OTHER))
    named = both(of(POD, note(**{GROUP_NAME: OTHER})), renamed)
    assert not on(decide(lab, named), POD_GROUP)
    more = roles(lambda found: found[0].update(replicas=2))
    assert not made(decide(lab, more, without={POD_GROUP: ["x-0"]}), POD)
    decided = decide(lab, both(named, more))
    assert set(made(decided, POD)) == {"x-0-decode-1-0"}
    assert not on(decided, POD_GROUP)


async def test_the_gang_of_a_group_that_leaves_is_not_changed(lab: ServingLab):
    await start(lab, role(), **IN_GANG)
    assert not on(decide(lab, both(ask(minMember=9), of(POD, leave))), POD_GROUP)


def minimum(lab: ServingLab) -> int:
    (gang,) = lab.all(POD_GROUP)
    found: int = gang["spec"]["minMember"]
    return found


async def test_a_gang_is_as_large_as_its_instances_that_stay(lab: ServingLab):
    await start(lab, role("prefill"), role("decode"), **IN_GANG, **BY_ROLE)
    for index in (0, 1):
        await lab.edit(f"x-0-decode-0-{index}", STAY, kind=POD)
    await lab.set_field("/spec/template/roles/1/workerReplicas", 2)
    await lab.until(lambda: is_leaving(lab.pods()["x-0-decode-0-0"]), 60)
    await lab.run(5)
    assert minimum(lab) == 2 + 3


async def test_gangs_of_old_groups_count_the_replicas_of_today_unless_a_partition_keeps_theirs(
    lab: ServingLab,
):
    """A gang must not wait for pods that never come, nor do without some that are there."""
    kept = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 1}}}
    await start(lab, role(replicas=2), schedulerName="volcano", replicas=3, **kept)
    silent = {"annotations": {NEVER_READY: "true"}}
    await lab.set_field("/spec/template/roles/0/entryTemplate/metadata", silent)
    await lab.until(lambda: NEVER_READY in annotations_of(lab.pods()["x-2-decode-0-0"]), 60)
    before = lab.uids().values()
    await lab.set_field("/spec/template/roles/0/replicas", 1)
    await lab.run(30)
    assert lab.pods()["x-1-decode-0-0"]["metadata"]["uid"] in before
    gangs = {name_of(gang): gang["spec"]["minMember"] for gang in lab.all(POD_GROUP)}
    assert gangs == Counter(name[:3] for name in lab.pods()) == {"x-0": 4, "x-1": 2, "x-2": 2}
