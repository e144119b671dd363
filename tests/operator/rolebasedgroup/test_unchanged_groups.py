"""What has not changed is not made again: long texts and instances cost nothing at rest."""

from dataclasses import replace

from group_lab import GroupLab, leader_worker, standalone, start
from test_instance_restarts import read_changed

from kohort.apis.api import Snapshot
from kohort.apis.rolebasedgroup.read import read
from kohort.apis.rolebasedgroup.render import render
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONFIG_MAP, POD
from kohort.model.observed import Instance
from kohort.planning.plan import plan


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


def find_config(snapshot: Snapshot):
    reading = read(snapshot)
    actions = render(snapshot, reading, plan(reading.workload, reading.observed, 0.0))
    made = (a for a in actions if isinstance(a, Create) and a.kind == CONFIG_MAP)
    return next(made).obj
