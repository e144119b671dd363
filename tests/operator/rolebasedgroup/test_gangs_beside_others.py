"""What becomes of a group's gang when other clients or an earlier group have had a hand in it."""

from decided_writes import (
    Change,
    both,
    decide,
    deleted,
    forget,
    give_away,
    keep,
    leave,
    made,
    note,
    of,
    on,
    patched,
    unplace,
)
from group_gang_lab import GANG, STATELESS, GangLab, stepwise
from group_lab import KIND, GroupLab, begin, group, standalone

from kohort.apis.gangs.dialects import kubernetes, kueue
from kohort.apis.gangs.dialects.kai import POD_GROUP as KAI_GROUP
from kohort.apis.gangs.dialects.kai import SUBGROUP_NAME
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.rolebasedgroup import labels
from kohort.cluster.kinds import POD
from kohort.cluster.objects import annotations_of, labels_of, uid_of

QUEUED = {**GANG, labels.GANG_QUEUE: "default"}
ORDERED = {"podManagementPolicy": "OrderedReady"}
OFF = of(KIND, forget(labels.GANG))
IMAGE = "/spec/roles/0/customComponentsPattern/components/{}/template/spec/containers/0/image"


def ask(**fields: object) -> Change:
    """Other values in a gang's spec."""
    return of(POD_GROUP, lambda gang: gang["spec"].update(fields))


def scaled(replicas: int) -> Change:
    return of(KIND, lambda group: group["spec"]["roles"][0].update(replicas=replicas))


async def test_a_gang_that_is_not_ours_or_leaves_is_neither_changed_nor_deleted(volcano: GangLab):
    await begin(volcano, volcano.placed(standalone()), **GANG)
    (gang,) = volcano.all(POD_GROUP)
    mended = patched(decide(volcano, ask(minMember=9)), POD_GROUP)
    assert mended == {"x": {"metadata": {"uid": uid_of(gang)}, "spec": {"minMember": 2}}}
    assert deleted(decide(volcano, OFF), POD_GROUP) == {"x": uid_of(gang)}
    for other in (of(POD_GROUP, give_away), of(POD_GROUP, leave)):
        assert not on(decide(volcano, both(ask(minMember=9), other)), POD_GROUP)
        assert not on(decide(volcano, both(OFF, other)), POD_GROUP)


async def test_a_gang_of_which_one_pod_has_a_node_keeps_its_queue(volcano: GangLab):
    await begin(volcano, volcano.placed(standalone()), **QUEUED)
    first, _ = sorted(volcano.pods())
    other = of(KIND, note(**{labels.GANG_QUEUE: "other"}))
    assert not on(decide(volcano, both(other, of(POD, unplace, first))), POD_GROUP)
    moved = patched(decide(volcano, both(other, of(POD, unplace))), POD_GROUP)
    assert moved["x"]["spec"] == {"queue": "other"}


async def test_a_placed_gang_gets_no_fields_that_its_maker_left_out(volcano: GangLab):
    await begin(volcano, volcano.placed(standalone()), **GANG)
    bare = of(POD_GROUP, lambda gang: gang["spec"].pop("subGroupPolicy"))
    assert not on(decide(volcano, bare), POD_GROUP)
    assert (
        "subGroupPolicy"
        in patched(decide(volcano, both(bare, of(POD, unplace))), POD_GROUP)["x"]["spec"]
    )


async def test_a_clause_that_another_client_added_stays_unless_it_is_the_priority(
    volcano: GangLab,
):
    await begin(volcano, volcano.placed(standalone()), **GANG)
    added = ask(networkTopology={"mode": "hard"}, priorityClassName="high")
    change = patched(decide(volcano, both(added, of(POD, unplace))), POD_GROUP)["x"]["spec"]
    assert change == {"priorityClassName": None}


async def test_a_gang_that_cannot_be_changed_is_not():
    lab = GangLab(kubernetes.V1ALPHA2)
    await lab.begin()
    await begin(lab, standalone(), **GANG)
    (gang,) = lab.all(kubernetes.POD_GROUP_V1ALPHA2)
    assert gang["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2
    more = both(scaled(3), of(POD, unplace))
    assert not on(decide(lab, more), kubernetes.POD_GROUP_V1ALPHA2)
    await lab.close()


async def test_the_gang_of_a_scheduler_that_only_a_flag_names_goes_when_it_is_asked_for_no_more(
    kai: GangLab,
):
    await begin(kai, kai.placed(standalone()), **QUEUED)
    (gang,) = kai.all(KAI_GROUP)
    assert deleted(decide(kai, OFF), KAI_GROUP) == {"x": uid_of(gang)}


def joins(lab: GangLab, change: Change) -> bool:
    """Whether a pod that is made anew is told of the gang."""
    (pod,) = made(decide(lab, change, without={POD: [min(lab.pods())]}), POD).values()
    return SUBGROUP_NAME in labels_of(pod)


async def test_a_pod_joins_no_gang_while_others_of_its_group_are_outside_of_it(kai: GangLab):
    await begin(kai, kai.placed(standalone(replicas=3)), **QUEUED)
    last = max(kai.pods())
    outside = of(POD, forget(labels.GANG_DIALECT), last)
    elsewhere = of(POD, note(**{labels.GANG_DIALECT: "volcano"}), last)
    assert joins(kai, keep)
    assert not joins(kai, outside) and not joins(kai, elsewhere)
    assert joins(kai, both(outside, of(POD, leave, last)))


async def test_pods_say_how_many_pods_of_all_instances_are_in_their_gang(lab: GroupLab):
    await begin(lab, standalone(replicas=3), stepwise(engines=2), **QUEUED)
    decided = decide(lab, without={POD: lab.pods()}, gangs=(kueue.V1BETA2,))
    told = [annotations_of(pod).get(kueue.TOTAL_COUNT) for pod in made(decided, POD).values()]
    assert set(told) == {"9"}


async def test_the_subgroup_of_an_instance_is_there_before_its_pods(kai: GangLab):
    """An instance whose name a leaving pod still has is made under another one."""
    await begin(kai, kai.placed(standalone(replicas=3, annotations=STATELESS)), **QUEUED)
    before = {each["name"] for each in kai.gang()["subGroups"]}
    pod = next(p for p in kai.pods().values() if labels_of(p)[SUBGROUP_NAME] == "router-0")
    decided = decide(kai, without={labels.INSTANCE: [labels_of(pod)[labels.INSTANCE_NAME]]})
    subgroups = patched(decided, KAI_GROUP)["x"]["spec"]["subGroups"]
    assert {each["name"] for each in subgroups} == before - {"router-0"} | {"router-3"}


async def test_an_ordered_role_does_not_count_an_instance_that_leaves(volcano: GangLab):
    await begin(volcano, volcano.placed(standalone(replicas=3, **ORDERED)), **GANG)
    gone = of(labels.INSTANCE, leave, "x-router-2")
    assert patched(decide(volcano, gone), POD_GROUP)["x"]["spec"]["minMember"] == 2


async def test_components_of_several_pods_that_wait_do_not_count(volcano: GangLab):
    await volcano.apply(group(volcano.placed(stepwise(engines=3)), **GANG))
    await volcano.until(lambda: bool(volcano.pods()))
    assert volcano.gang()["minMember"] == 2
    await volcano.until(lambda: volcano.is_done() and volcano.gang()["minMember"] == 8, 120)


async def test_what_surge_waits_for_lowers_no_count(volcano: GangLab):
    rolling = {"type": "RecreatePod", "maxUnavailable": 0, "maxSurge": 1}
    role = {**stepwise(), "rolloutStrategy": {"rollingUpdate": rolling}}
    await begin(volcano, volcano.placed(role), **GANG)
    await volcano.set_field(IMAGE.format(0), "c:2")
    await volcano.until(lambda: any(name.startswith("x-kv-2-") for name in volcano.pods()), 60)
    assert not any(name.startswith("x-kv-2-engine") for name in volcano.pods())
    assert volcano.gang()["minMember"] == 4


async def test_subgroups_stay_while_pods_of_a_role_that_goes_to_none_name_them(kai: GangLab):
    await begin(kai, kai.placed(standalone()), **QUEUED)
    change = patched(decide(kai, scaled(0)), KAI_GROUP)["x"]["spec"]
    assert change["subGroups"] == [{"name": "router-0"}, {"name": "router-1"}]


async def test_a_role_that_goes_to_none_is_no_subgroup_of_volcano(volcano: GangLab):
    await begin(volcano, volcano.placed(standalone()), **GANG)
    change = patched(decide(volcano, scaled(0)), POD_GROUP)["x"]["spec"]
    assert (change["minMember"], change["subGroupPolicy"]) == (0, None)
