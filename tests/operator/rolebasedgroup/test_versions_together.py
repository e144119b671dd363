"""Versions of chosen roles are kept together, or go back as one."""

from dataclasses import replace

import orjson
from group_lab import GroupLab, group, standalone, start
from test_coordinated_groups import policy, set_images, updated, watch_gap
from test_instance_restarts import read_changed

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.revision import make_group_revision
from kohort.apis.rolebasedgroup.rollback import roll_back
from kohort.cluster import kinds
from kohort.cluster.actions import Patch
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, annotations_of, labels_of
from kohort.model.plans import Rollback
from kohort.model.reasons import Blocker
from kohort.planning.plan import plan
from kohort.simulator.stages import PULL_ERROR

WIDE = {"rolloutStrategy": {"rollingUpdate": {"maxUnavailable": 4}}}
TOGETHER = {"rollingUpdate": {"maxSkew": 1, "versionsTogether": {}}}
NOTED = {labels.VERSIONS_TOGETHER: '{"pd": {"rollBackAfterSeconds": 60}}'}


def events(lab: GroupLab, reason: str) -> list[Object]:
    return [event for event in lab.all(kinds.NEW_EVENT) if event.get("reason") == reason]


async def break_role(lab: GroupLab, index: int) -> None:
    """Give a role an image that no node can pull."""
    template = f"/spec/roles/{index}/standalonePattern/template"
    await lab.edit(
        "x",
        {"op": "add", "path": f"{template}/metadata", "value": {"annotations": {PULL_ERROR: "no"}}},
        {"op": "replace", "path": f"{template}/spec/containers/0/image", "value": "engine:2"},
        kind=labels.KIND,
    )


async def test_roles_end_an_update_together(lab: GroupLab):
    await lab.apply(policy(TOGETHER, "prefill", "decode"))
    await start(lab, standalone("prefill", 4, **WIDE), standalone("decode", 4, **WIDE))
    await set_images(lab, "engine:2")
    assert await watch_gap(lab, 4) <= 1


async def test_a_paused_role_holds_the_others_within_the_skew(lab: GroupLab):
    await lab.apply(policy(TOGETHER, "prefill", "decode"))
    await start(lab, standalone("prefill", 3, **WIDE), standalone("decode", 3, **WIDE))
    path = "/spec/roles/1/rolloutStrategy/rollingUpdate/paused"
    await lab.set_field(path, True)
    await set_images(lab, "engine:2")
    await lab.until(lambda: updated(lab, "prefill") == 1)
    await lab.run(60)
    assert (updated(lab, "prefill"), updated(lab, "decode")) == (1, 0)
    await lab.set_field(path, False)
    assert await watch_gap(lab, 3) <= 1


async def test_roles_go_back_as_one_when_an_update_of_one_fails(lab: GroupLab):
    """The other role returns to the image that served, though its own update worked."""
    updates = {"rollingUpdate": {"maxSkew": "50%"}}
    await lab.apply(policy(updates, "prefill", "decode", **NOTED))
    await start(lab, standalone("prefill", 2), standalone("decode", 2), standalone("router", 1))
    await set_images(lab, "engine:2", 1)
    await break_role(lab, 1)
    await lab.until(lambda: updated(lab, "prefill") > 0)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:1"}, 600)
    (told,) = events(lab, "RolledBack")
    assert "roles prefill and decode go back to the revision that served" in told["message"]
    assert annotations_of(lab.group())[labels.ROLLED_BACK] == told["message"]


async def test_a_group_without_a_revision_that_served_goes_nowhere(lab: GroupLab):
    await lab.apply(policy({"rollingUpdate": {}}, "prefill", "decode", **NOTED))
    broken = standalone("decode", 1)
    broken["standalonePattern"]["template"]["metadata"] = {"annotations": {PULL_ERROR: "no"}}
    await lab.apply(group(standalone("prefill", 1), broken))
    await lab.run(300)
    assert not events(lab, "RolledBack")


async def test_a_revision_that_no_instance_had_has_not_served(lab: GroupLab):
    """Two changes in a row: an undo, by the user or by the operator, goes back to the first."""
    await start(lab, standalone("prefill", 2), standalone("decode", 2))
    held, _ = read_changed(lab, lambda obj: None)
    root = lab.group()
    first = Whole(orjson.dumps(make_group_revision(with_image(root, "engine:2"), 2)))
    revisions = (*held.all(CONTROLLER_REVISION), first)
    children = {**held.children, CONTROLLER_REVISION: revisions}
    snapshot = replace(held, root=with_image(root, "engine:3"), children=children)
    assert find_served(snapshot) == ""
    unchanged = replace(held, root=with_image(root, "engine:3"))
    assert find_served(unchanged) == labels_of(group_revision(held))[labels.GROUP_REVISION]


def with_image(root: Object, image: str) -> Object:
    text = orjson.dumps(root).decode().replace("engine:1", image)
    changed: Object = orjson.loads(text)
    return changed


def find_served(snapshot: Snapshot) -> str:
    reading = ROLE_BASED_GROUP.read(snapshot)
    return plan(reading.workload, reading.observed, 0.0).served


def group_revision(snapshot: Snapshot) -> Object:
    held = [stored.decode() for stored in snapshot.all(CONTROLLER_REVISION)]
    return next(found for found in held if labels.GROUP_REVISION in labels_of(found))


async def test_nothing_is_written_before_the_mark_of_a_revision_that_served(lab: GroupLab):
    """Once another revision is stored or an instance changes, no plan would mark it any more."""
    await start(lab, standalone("prefill", 2), standalone("decode", 2))
    held, _ = read_changed(lab, lambda obj: None)
    snapshot = replace(held, root=with_image(lab.group(), "engine:2"))
    reading = ROLE_BASED_GROUP.read(snapshot)
    decided = plan(reading.workload, reading.observed, 0.0)
    (mark,) = ROLE_BASED_GROUP.render(snapshot, reading, decided)
    assert isinstance(mark, Patch)
    assert mark.patch["metadata"]["annotations"] == {labels.SERVED: "true"}


async def test_a_rollback_changes_no_group_of_the_same_name_made_since(lab: GroupLab):
    await start(lab, standalone("prefill", 1))
    _, reading = read_changed(lab, lambda obj: None)
    (former,) = reading.memory.facts.stored
    back = Rollback("pd", ("prefill",), Blocker("RollingBack", "it is late"))
    decided = replace(plan(reading.workload, reading.observed, 0.0), rollbacks=(back,))
    (patch,) = roll_back(with_image(lab.group(), "engine:2"), former, decided)
    assert isinstance(patch, Patch)
    uid = lab.group()["metadata"]["uid"]
    assert {"op": "test", "path": "/metadata/uid", "value": uid} in patch.patch


async def test_a_rollback_does_not_overwrite_an_edit_that_the_caches_lack(lab: GroupLab):
    await start(lab, standalone("prefill", 1))
    _, reading = read_changed(lab, lambda obj: None)
    (former,) = reading.memory.facts.stored
    back = Rollback("pd", ("prefill",), Blocker("RollingBack", "it is late"))
    decided = replace(plan(reading.workload, reading.observed, 0.0), rollbacks=(back,))
    group = with_image(lab.group(), "engine:2")
    (patch,) = roll_back(group, former, decided)
    assert isinstance(patch, Patch)
    generation = group["metadata"]["generation"]
    same = {"op": "test", "path": "/metadata/generation", "value": generation}
    assert same in patch.patch[:2]


async def test_an_adapter_scales_no_group_of_the_same_name_made_since(lab: GroupLab):
    await start(lab, standalone("prefill", 1, scalingAdapter={"enable": True}))

    def scale(obj: Object) -> None:
        if obj["kind"] == labels.ADAPTER.name:
            obj["spec"]["replicas"] = 3

    snapshot, reading = read_changed(lab, scale)
    decided = plan(reading.workload, reading.observed, 0.0)
    actions = ROLE_BASED_GROUP.render(snapshot, reading, decided)
    (patch,) = [a for a in actions if isinstance(a, Patch) and a.address.kind == labels.KIND]
    uid = lab.group()["metadata"]["uid"]
    assert {"op": "test", "path": "/metadata/uid", "value": uid} in patch.patch


async def test_a_pod_without_a_node_is_unready_since_it_was_made(lab: GroupLab):
    """The kubelet writes the Ready condition, and none has seen the pod yet."""
    await start(lab, standalone("prefill", 1))

    def unschedule(obj: Object) -> None:
        if obj["kind"] == "Pod":
            obj["metadata"]["creationTimestamp"] = "2027-01-15T08:00:00Z"
            obj["status"] = {"phase": "Pending"}

    (observed,) = read_changed(lab, unschedule)[1].observed.groups
    (unit,) = observed.roles[0].instances
    assert unit.has_served
    assert [member.unready_since for member in unit.members] == [1_800_000_000.0]
