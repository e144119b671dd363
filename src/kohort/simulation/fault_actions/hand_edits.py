"""
Faults by other clients: they edit our objects, and take names that our objects would have. The
user's spec does not change, so in the end everything must match it again; and whatever the operator
replaces for that, it replaces within the budget.
"""

import asyncio
from dataclasses import replace
from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.checkers.truth import controller_of
from kohort.simulation.fault_actions.targets import find_child
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import FOREIGN_IMAGE, NAME, Fault, make_namesake

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


def _find_carrier(harness: Harness, pick: int) -> tuple[Kind, str, Object] | None:
    """One of the objects whose controllers make units of the workload."""
    owner = harness.truth.workload
    held = [
        (kind, name, obj)
        for kind in harness.simulated.carriers
        for name, obj in sorted(harness.truth.objects[kind].items())
        if owner is not None and controller_of(obj) == owner["metadata"]["uid"]
    ]
    return held[pick % len(held)] if held else None


async def _scale_child(harness: Harness, fault: Fault) -> None:
    if found := _find_carrier(harness, fault.pick):
        kind, name, _ = found
        await harness.patch(kind, name, {"spec": {"replicas": 1 + fault.pick % 3}})
    elif harness.truth.leader_set is not None:
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


RESTARTED = "kubectl.kubernetes.io/restartedAt"
ORPHANED_SECONDS_MAX = 300.0
ORPHANED_POLL_SECONDS = 0.05
LEADERS = "leaders"


def _find_set(harness: Harness, fault: Fault) -> str:
    """The leader set, or one of the sets of workers; empty if it is not there."""
    if fault.value == LEADERS:
        return NAME if harness.truth.leader_set is not None else ""
    sets = harness.truth.objects[kinds.STATEFUL_SET]
    names = sorted(name for name in sets if name.startswith(f"{NAME}-"))
    return names[fault.pick % len(names)] if names else ""


async def _edit_template(harness: Harness, fault: Fault, template: Object) -> None:
    name = _find_set(harness, fault)
    if name:
        await harness.patch(kinds.STATEFUL_SET, name, {"spec": {"template": template}})


async def _restart_set(harness: Harness, fault: Fault) -> None:
    notes = {RESTARTED: f"{harness.clock.elapsed():.0f}"}
    await _edit_template(harness, fault, {"metadata": {"annotations": notes}})


async def _set_image(harness: Harness, fault: Fault) -> None:
    if carrier := _find_carrier(harness, fault.pick):
        await _set_carried_image(harness, *carrier)
        return
    name = _find_set(harness, fault)
    held = harness.truth.objects[kinds.STATEFUL_SET].get(name)
    if held is not None:
        containers: list[Any] = held["spec"]["template"]["spec"]["containers"]
        foreign = [{**container, "image": FOREIGN_IMAGE} for container in containers]
        await _edit_template(harness, fault, {"spec": {"containers": foreign}})


async def _set_carried_image(harness: Harness, kind: Kind, name: str, held: Object) -> None:
    await harness.patch(kind, name, {"spec": _with_foreign_images(held["spec"])})


def _with_foreign_images(spec: Object) -> Object:
    """A patch that gives the containers of each template in a spec another image."""
    patch: Object = {}
    for key, value in spec.items():
        if key == "containers":
            patch[key] = [{**container, "image": FOREIGN_IMAGE} for container in value]
        elif isinstance(value, dict) and (inner := _with_foreign_images(value)):
            patch[key] = inner
    return patch


async def _swap_set(harness: Harness, fault: Fault) -> None:
    """Change the template of the leader set for a while; the operator may change it back first."""
    held = harness.truth.objects[kinds.STATEFUL_SET].get(NAME)
    if held is None:
        return
    template = held["spec"]["template"]
    before = (template["metadata"].get("annotations") or {}).get(RESTARTED)
    back: Object = {"metadata": {"annotations": {RESTARTED: before}}}
    leaders = replace(fault, value=LEADERS)
    if fault.value == "restart":
        await _restart_set(harness, leaders)
    else:
        back = {"spec": {"containers": template["spec"]["containers"]}}
        await _set_image(harness, leaders)
    await asyncio.sleep(fault.seconds)
    await _edit_template(harness, leaders, back)


async def _edit_pod(harness: Harness, fault: Fault) -> None:
    found = find_child(harness, kinds.POD, fault.pick)
    if found is not None:
        containers: list[Any] = found["spec"]["containers"]
        foreign = [{**container, "image": FOREIGN_IMAGE} for container in containers]
        await harness.patch(kinds.POD, found["metadata"]["name"], {"spec": {"containers": foreign}})


async def _relabel(harness: Harness, fault: Fault) -> None:
    """Another value for a label of ours, or none, on a child of one kind."""
    labels = harness.simulated.labels
    key = labels.revision
    targets: dict[str, tuple[Kind, Object]] = {
        "Service": (kinds.SERVICE, {key: "foreign", "team": "other"}),
        "StatefulSet": (kinds.STATEFUL_SET, {"team": "other"}),
        "Pod": (kinds.POD, {key: "foreign"}),
        "place": (kinds.POD, labels.misplaced),
    }
    kind, marks = targets[fault.value]
    found = find_child(harness, kind, fault.pick)
    if found is not None:
        await harness.patch(kind, found["metadata"]["name"], {"metadata": {"labels": marks}})


async def _edit_service(harness: Harness, fault: Fault) -> None:
    found = find_child(harness, kinds.SERVICE, fault.pick)
    if found is not None:
        edit = {"spec": {"selector": {"app": "other"}, "publishNotReadyAddresses": False}}
        await harness.patch(kinds.SERVICE, found["metadata"]["name"], edit)


async def _write_between(harness: Harness, fault: Fault) -> None:
    """Some writes of ours to a kind come just after another client's to the same object."""
    harness.trouble.between[fault.kind] = 1 + fault.pick % 4
    await asyncio.sleep(fault.seconds)
    harness.trouble.between.pop(fault.kind, None)


async def _orphan(harness: Harness, fault: Fault) -> None:
    """``kubectl delete --cascade=orphan``, and the same object again."""
    await harness.delete(harness.simulated.kind, NAME, propagation="Orphan")
    end = harness.clock.elapsed() + ORPHANED_SECONDS_MAX
    while harness.truth.workload is not None:
        # Its children are let go first; kubectl waits for that, too.
        await asyncio.sleep(ORPHANED_POLL_SECONDS)
        if harness.clock.elapsed() > end:
            harness.breach("O6: children are not let go, so the workload stays")
            return
    await asyncio.sleep(fault.pick % 3 * 0.7)
    await harness.create_workload()


ACTIONS = {
    "delete-child": _delete_child,
    "strip-label": _strip_label,
    "scale-child": _scale_child,
    "namesake": _plant_namesake,
    "between": _write_between,
    "restart-set": _restart_set,
    "set-image": _set_image,
    "swap-set": _swap_set,
    "edit-pod": _edit_pod,
    "relabel": _relabel,
    "edit-service": _edit_service,
    "orphan": _orphan,
}
