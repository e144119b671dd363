"""What has not changed is not made again: long texts and instances cost nothing at rest."""

import operator
from dataclasses import replace
from sys import getrefcount

import msgspec
import pytest
from group_lab import GroupLab, leader_worker, standalone, start
from test_instance_restarts import read_changed

from kohort.apis.api import Snapshot
from kohort.apis.references import Projection
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.names import config_name
from kohort.apis.rolebasedgroup.objects.pods import INSTANCE_POD_READY
from kohort.apis.rolebasedgroup.read import read
from kohort.apis.rolebasedgroup.render import render
from kohort.apis.rolebasedgroup.report import list_projections
from kohort.cluster.actions import Create, Patch
from kohort.cluster.kinds import CONFIG_MAP, POD
from kohort.cluster.objects import Object, name_of, uid_of
from kohort.model.observed import Instance
from kohort.planning.plan import plan
from kohort.simulation.virtual_loop import START


def instances_of(snapshot: Snapshot) -> dict[str, Instance]:
    (group,) = read(snapshot).observed.groups
    return {f"{r.role}-{i.ordinal}": i for r in group.roles for i in r.instances}


async def test_only_the_instance_whose_pod_changed_is_read_again(lab: GroupLab):
    await start(lab, leader_worker(), standalone())
    snapshot = read_changed(lab, lambda obj: None)[0]
    before = instances_of(snapshot)
    pods = snapshot.children[POD]
    # The same facts in another object, as a cache holds them after an event.
    again = tuple(replace_pod(pod) if pod.metadata.name == "x-engine-0-1" else pod for pod in pods)
    after = instances_of(replace(snapshot, children={**snapshot.children, POD: again}))
    changed = {name for name, found in after.items() if found is not before[name]}
    assert (changed, after) == ({"engine-0"}, before)


def replace_pod(pod):
    return type(pod)(*(getattr(pod, name) for name in pod.__struct_fields__))


async def test_the_discovery_text_is_written_once_for_a_group(lab: GroupLab):
    await start(lab, leader_worker())
    held = read_changed(lab, lambda obj: None)[0]
    snapshot = replace(held, children={**held.children, CONFIG_MAP: ()})
    first, second = (find_config(snapshot) for _ in range(2))
    assert first is second


async def test_a_text_that_another_client_wrote_is_put_back_and_not_kept(lab: GroupLab):
    """A tenant could fill the operator's memory with texts of a megabyte."""
    await start(lab, leader_worker())
    held = read_changed(lab, lambda obj: None)[0]
    found = next(c for c in held.children[CONFIG_MAP] if c.metadata.name == config_name("x"))
    text = f"foreign {found.metadata.uid}"
    edited = msgspec.structs.replace(found, text=text)
    snapshot = replace(held, children={**held.children, CONFIG_MAP: (edited,)})
    before = getrefcount(text)
    reading = read(snapshot)
    actions = render(snapshot, reading, plan(reading.workload, reading.observed, 0.0))
    patched = [a for a in actions if isinstance(a, Patch) and a.address.kind == CONFIG_MAP]
    assert len(patched) == 1 and getrefcount(text) == before


def find_config(snapshot: Snapshot):
    reading = read(snapshot)
    actions = render(snapshot, reading, plan(reading.workload, reading.observed, 0.0))
    made = (a for a in actions if isinstance(a, Create) and a.kind == CONFIG_MAP)
    return next(made).obj


def spoil(path: str, value: object):
    """Change a field of one pod: of its metadata, or the status of a condition."""

    def change(obj: Object) -> None:
        if name_of(obj) != "x-engine-0-1":
            return
        place, _, key = path.partition("/")
        if place == "conditions":
            held = obj["status"]["conditions"]
            next(each for each in held if each["type"] == key)["status"] = value
        elif key:
            obj["metadata"].setdefault(place, {})[key] = value
        else:
            obj["metadata"][place] = value

    return change


CHANGES = {
    "nothing": lambda obj: None,
    "gate": spoil(f"conditions/{INSTANCE_POD_READY}", "False"),
    "containers": spoil("conditions/ContainersReady", "False"),
    "ready": spoil("conditions/Ready", "False"),
    "component": spoil(f"labels/{labels.COMPONENT_NAME}", "other"),
    "revision": spoil(f"labels/{labels.REVISION}", "other"),
    "grace": spoil(f"annotations/{labels.IN_PLACE_GRACE}", "{}"),
    "leaving": spoil("deletionTimestamp", "2026-01-01T00:00:00Z"),
    "owner": spoil("ownerReferences", []),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_an_instance_at_rest_would_get_no_write_if_it_were_looked_at(
    lab: GroupLab, what: str
):
    await start(lab, leader_worker(), standalone())
    snapshot = read_changed(lab, CHANGES[what])[0]
    reading = read(snapshot)
    decided = plan(reading.workload, reading.observed, START.timestamp())
    views = [view for own in reading.memory.views.values() for view in own.values()]
    at_rest = sum(view.is_at_rest for view in views)
    assert (at_rest, len(views)) == (4 if what == "nothing" else 3, 4)
    skipped = render(snapshot, reading, decided)
    for view in views:
        view.is_at_rest = False
    assert render(snapshot, reading, decided) == skipped


async def test_the_status_of_an_instance_is_written_out_once_for_its_facts(lab: GroupLab):
    await start(lab, leader_worker())
    snapshot = read_changed(lab, lambda obj: None)[0]
    first, second = (find_instance_statuses(snapshot, f"{year}-01-01") for year in (2030, 2031))
    assert len(first) == 2 and all(map(operator.is_, first, second))
    stored = {uid_of(obj): obj["status"] for obj in lab.all(labels.INSTANCE)}
    assert {uid_of(each.obj): each.status for each in first} == stored


async def test_a_status_that_is_not_stored_yet_has_the_time_of_each_look(lab: GroupLab):
    await start(lab, leader_worker(replicas=1))
    snapshot = read_changed(lab, spoil("conditions/Ready", "False"))[0]
    (first,), (second,) = (find_instance_statuses(snapshot, now) for now in ("first", "second"))
    assert first.status["conditions"][0]["lastTransitionTime"] == "first"
    assert second.status["conditions"][0]["lastTransitionTime"] == "second"


def find_instance_statuses(snapshot: Snapshot, now: str) -> list[Projection]:
    reading = read(snapshot)
    decided = plan(reading.workload, reading.observed, 0.0)
    found = list_projections(snapshot, reading, decided, now)
    return [each for each in found if each.kind == labels.INSTANCE]
