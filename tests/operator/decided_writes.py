"""What the operator would write, had another client changed something since it looked last."""

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import orjson
from operator_lab import Lab

from kohort.apis.api import Reading, Settings, Snapshot
from kohort.apis.facts import Whole
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.rolebasedgroup import labels
from kohort.cluster.actions import Action, Create, Delete, Patch, address_of
from kohort.cluster.objects import Kind, Object, is_leaving, labels_of, name_of
from kohort.planning.plan import plan

NOW = 1_800_000_000.0
LEAVING = "2027-01-15T08:00:00Z"
NONE: Mapping[Kind, Collection[str]] = MappingProxyType({})

Change = Callable[[Object], object]


def keep(obj: Object) -> None:
    """Change nothing."""


def decide(
    lab: Lab,
    change: Change = keep,
    *,
    without: Mapping[Kind, Collection[str]] = NONE,
    gangs: tuple[Dialect, ...] | None = None,
) -> list[Action]:
    """
    The writes of one plan, the workload ``x`` and its children being other than they are.

    ``change`` edits each object, ``without`` names those of a kind that are gone, and ``gangs`` are
    those that the operator uses from now on.
    """
    snapshot, reading = _read(lab, change, without, gangs)
    decided = plan(reading.workload, reading.observed, NOW)
    return list(lab.apis[0].render(snapshot, reading, decided))


def observe(lab: Lab, change: Change = keep) -> Reading[Any]:
    """What the operator would see."""
    return _read(lab, change, NONE, None)[1]


def _read(
    lab: Lab,
    change: Change,
    without: Mapping[Kind, Collection[str]],
    gangs: tuple[Dialect, ...] | None,
) -> tuple[Snapshot, Reading[Any]]:
    api, served = lab.apis[0], {resource.kind for resource in lab.api.registry.resources()}
    watched = [each for each in api.watched if each.is_needed]
    known = (*lab.settings.gangs, *(gangs or ()))

    def read(kind: Kind) -> list[bytes]:
        listed = lab.all(kind) if kind in served else []
        found = [deepcopy(obj) for obj in listed if name_of(obj) not in without.get(kind, ())]
        for obj in found:
            if labels.GROUP_REVISION in labels_of(obj):
                # Without this mark a plan that begins an update writes nothing else.
                note(**{labels.SERVED: "true"})(obj)
            change(obj)
        return [orjson.dumps(obj) for obj in found]

    children = {each.kind: tuple(map(each.decode, read(each.kind))) for each in watched}
    children |= {kind: tuple(map(Whole, read(kind))) for each in known for kind in each.kinds}
    references = {each.kind: tuple(map(Whole, read(each.kind))) for each in api.references}
    root = deepcopy(lab.find(api.kind, "x"))
    assert root is not None
    change(root)
    settings = lab.settings if gangs is None else Settings(gangs=gangs)
    snapshot = Snapshot(root, children, settings=settings, references=references)
    return snapshot, api.read(snapshot)


def on(actions: list[Action], kind: Kind) -> list[Action]:
    """The writes to objects of a kind."""
    return [action for action in actions if address_of(action).kind == kind]


def made(actions: list[Action], kind: Kind) -> dict[str, Object]:
    """The objects of a kind that are created, by name."""
    return {name_of(a.obj): a.obj for a in on(actions, kind) if isinstance(a, Create)}


def deleted(actions: list[Action], kind: Kind) -> dict[str, str]:
    """The uid that each delete of an object of that kind asks for, by name."""
    return {a.name: a.uid for a in on(actions, kind) if isinstance(a, Delete)}


def patched(actions: list[Action], kind: Kind) -> dict[str, Any]:
    """The patch of each object of a kind, by name."""
    return {a.address.name: a.patch for a in on(actions, kind) if isinstance(a, Patch)}


def of(kind: Kind, edit: Change, name: str = "") -> Change:
    """A change of the objects of a kind alone, or of the one of that name."""

    def change(obj: Object) -> None:
        is_kind = (obj["apiVersion"], obj["kind"]) == (kind.api_version, kind.name)
        if is_kind and name in ("", name_of(obj)):
            edit(obj)

    return change


def both(*changes: Change) -> Change:
    """All these changes."""

    def change(obj: Object) -> None:
        for each in changes:
            each(obj)

    return change


def leave(obj: Object) -> None:
    """Let an object be deleted that a finalizer keeps."""
    assert not is_leaving(obj)
    obj["metadata"]["deletionTimestamp"] = LEAVING


def note(**notes: str) -> Change:
    """Add annotations to an object."""

    def change(obj: Object) -> None:
        obj["metadata"].setdefault("annotations", {}).update(notes)

    return change


def forget(key: str) -> Change:
    """Take an annotation away."""
    return lambda obj: obj["metadata"]["annotations"].pop(key)


def unplace(pod: Object) -> None:
    """Let a pod have no node."""
    pod["spec"].pop("nodeName", None)


def give_away(obj: Object) -> None:
    """Let another object of the same name and kind own it, such as a predecessor."""
    for owner in obj["metadata"]["ownerReferences"]:
        owner["uid"] = "of-another"
