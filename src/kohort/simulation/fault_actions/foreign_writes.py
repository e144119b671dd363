"""
What others do to the children of the workload, and to the names that these would have.
"""

import asyncio

from kohort.cluster import kinds
from kohort.cluster.objects import Kind
from kohort.simulation.fault_actions.targets import find_child
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import NAME, Fault, make_namesake

_CHILDREN = {
    "Pod": kinds.POD,
    "StatefulSet": kinds.STATEFUL_SET,
    "Service": kinds.SERVICE,
    "Deployment": kinds.DEPLOYMENT,
    "ControllerRevision": kinds.CONTROLLER_REVISION,
}
FREE_NAME_POLLS_MAX = 300
FREE_NAME_POLL_SECONDS = 0.1


async def _delete_child(harness: Harness, fault: Fault) -> None:
    kinds_of = {kind.name: kind for kind in harness.truth.children}
    kind = kinds_of[fault.value]
    found = find_child(harness, kind, fault.pick)
    if found is not None:
        await harness.delete(kind, found["metadata"]["name"])


async def _strip_label(harness: Harness, fault: Fault) -> None:
    leaders = [group.leader["metadata"]["name"] for group in harness.truth.groups()]
    if leaders:
        name, label = leaders[fault.pick % len(leaders)], harness.simulated.labels.revision
        await harness.patch(kinds.POD, name, {"metadata": {"labels": {label: None}}})


async def _scale_child(harness: Harness, fault: Fault) -> None:
    if harness.truth.leader_set is not None:
        replicas = 1 + fault.pick % 3
        await harness.patch(kinds.STATEFUL_SET, NAME, {"spec": {"replicas": replicas}})


async def _plant_namesake(harness: Harness, fault: Fault) -> None:
    """Take a name of ours as soon as it is free, and give it back after a while."""
    kind = _CHILDREN[fault.value]
    for _ in range(FREE_NAME_POLLS_MAX):
        name = _find_free_name(harness, kind, fault.pick)
        if name:
            await harness.create(kind, make_namesake(kind, name))
            await asyncio.sleep(fault.seconds)
            await harness.delete(kind, name, 0)
            return
        await asyncio.sleep(FREE_NAME_POLL_SECONDS)


def _find_free_name(harness: Harness, kind: Kind, pick: int) -> str:
    """A free name that a child would have, first that which was picked."""
    names = harness.simulated.list_free_names(harness.scenario, kind, pick)
    held = harness.truth.objects[kind]
    return next((name for name in names if name not in held), "")


ACTIONS = {
    "delete-child": _delete_child,
    "strip-label": _strip_label,
    "scale-child": _scale_child,
    "namesake": _plant_namesake,
}
