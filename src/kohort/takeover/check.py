"""
The check: plans every workload once on live objects, and reports what would change.

Only reads are sent. The objects that a plan would change are read again, to say which fields
differ. Where a write only prepares another one, both are described, as if the first were done.
Notes are the warnings that our admission gives about the objects as they are.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace

import orjson

from kohort.apis.api import Api, Settings
from kohort.cluster.actions import Action, Create, Delete, Patch, address_of, kind_of, verb_of
from kohort.cluster.errors import NotFound
from kohort.cluster.kinds import POD, REPLICA_SET
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Cluster, Selection
from kohort.controller.admission.beside import read_beside
from kohort.controller.clock import Time
from kohort.takeover.field_changes import list_changes, restarts_pods, see_prepared
from kohort.takeover.observer import Finding, Observer
from kohort.takeover.report import (
    Note,
    ObjectCount,
    PlannedWrite,
    Report,
    join_name,
    list_owned_pods,
)


async def check(
    cluster: Cluster, apis: Sequence[Api], settings: Settings, time: Time, namespace: str = ""
) -> Report:
    """What our controller would do now; ``namespace`` limits it, and empty means all."""
    observer = Observer(cluster, apis, settings, time, namespace)
    async with observer.running(plans=False):
        await observer.reconcile_all()
        return await write_report(observer)


async def write_report(observer: Observer) -> Report:
    """What an observer has found, with the fields that would change."""
    findings = list(observer.findings.values())
    described = Describer(observer)
    writes = [write for finding in findings for write in await described.describe(finding)]
    unread = [Note(name_workload(each), each.fault) for each in findings if each.fault]
    unread += [
        Note(
            f"{selection.kind.name} {join_name(*fault.key)}",
            f"cannot be decoded: {fault.why}",
        )
        for selection, fault in observer.undecodable
    ]
    outdated = [pod for each in findings if each.actions for pod in observer.list_outdated(each)]
    notes = tuple(await _list_notes(observer))
    return Report(_count(observer), tuple(writes), tuple(unread), notes, tuple(outdated))


def _count(observer: Observer) -> tuple[ObjectCount, ...]:
    counts = []
    # The main kind of each API is counted even if it has no objects.
    mains = {c.api.home: c for c in reversed(observer.operator.controllers)}.values()
    for controller in observer.operator.controllers:
        objects = len(observer.list_roots(controller)) + len(controller.roots.faults)
        found = [f for f in observer.findings.values() if f.api is controller.api]
        readable = sum(1 for finding in found if not finding.fault)
        if objects or controller in mains:
            counts.append(ObjectCount(controller.api.kind.name, objects, readable))
    return tuple(counts)


class Describer:
    """Describes what actions would change, by reading the live objects."""

    def __init__(self, observer: Observer) -> None:
        self._cluster = observer.cluster
        self._objects: dict[tuple[Kind, str], list[Object]] = {}

    async def describe(self, finding: Finding) -> list[PlannedWrite]:
        """The planned writes of one workload."""
        found = []
        for action in finding.actions:
            live = await self._read(action)
            found.append(await self._describe(finding, action, live))
            if isinstance(action, Patch) and action.prepares is not None and live is not None:
                then = see_prepared(action, live)
                found.append(await self._describe(finding, action.prepares, then))
        return found

    async def _describe(
        self, finding: Finding, action: Action, live: Object | None
    ) -> PlannedWrite:
        address = address_of(action)
        is_made = isinstance(action, Create) or live is None
        changes = () if is_made else list_changes(action, live or {})
        pods: tuple[str, ...] = ()
        if restarts_pods(kind_of(action), action, changes):
            uid = action.uid if isinstance(action, Delete) else uid_of(live or {})
            pods = list_owned_pods(uid, await self._list_objects(finding))
        return PlannedWrite(
            workload=name_workload(finding),
            verb="create" if is_made else verb_of(action),
            kind=address.kind.name,
            namespace=address.namespace,
            name=address.name,
            changes=changes,
            why=action.why,
            pods=pods,
        )

    async def _read(self, action: Action) -> Object | None:
        if isinstance(action, Create | Delete):
            return {}
        try:
            # A status is part of its object, and read with it.
            return await self._cluster.read(replace(action.address, part=""))
        except NotFound:
            return None

    async def _list_objects(self, finding: Finding) -> list[Object]:
        """All objects of a namespace that may own pods of a workload, and the pods."""
        key = finding.api.kind, finding.key[0]
        if key not in self._objects:
            watched = (w.kind for w in finding.api.watched if w.kind.namespaced)
            kinds = dict.fromkeys((*watched, REPLICA_SET, POD))
            listed = [await _list(self._cluster, kind, finding.key[0]) for kind in kinds]
            self._objects[key] = [obj for objects in listed for obj in objects]
        return self._objects[key]


async def _list(cluster: Cluster, kind: Kind, namespace: str) -> list[Object]:
    try:
        listing = await cluster.list(Selection(kind, namespace))
    except NotFound:
        return []
    # Items of a list have no kind of their own.
    return [{**orjson.loads(raw), "kind": kind.name} for raw in listing.items]


async def _list_notes(observer: Observer) -> list[Note]:
    """The warnings of our admission about objects as they are."""
    notes = []
    for controller in observer.operator.controllers:
        for root in observer.list_roots(controller):
            about = join_name(namespace_of(root), name_of(root))
            texts = await _warn(observer, controller.api, root)
            notes += [Note(about, text) for text in texts]
    return notes


async def _warn(observer: Observer, api: Api, root: Object) -> list[str]:
    texts: list[str] = []
    for hook in api.webhooks:
        if hook.kind != api.kind or hook.mutates or not hook.operations:
            continue
        asked = hook.find_beside(root, observer.settings)
        beside = [obj for place in asked for obj in await read_beside(observer.cluster, place)]
        told = replace(observer.settings, beside=tuple(beside))
        result = hook.handle(copy.deepcopy(root), copy.deepcopy(root), told)
        errors = [f"{error.path}: {error.text()}" for error in result.errors]
        errors += [result.refusal] * bool(result.refusal)
        texts += [*result.warnings, *(f"an update would be refused: {error}" for error in errors)]
    return texts


def name_workload(finding: Finding) -> str:
    """A workload as people name it."""
    return f"{finding.api.kind.name} {join_name(*finding.key)}"
