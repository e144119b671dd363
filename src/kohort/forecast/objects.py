"""
The forecast for an API whose workloads other controllers run: created, changed, deleted objects.

Read, plan, render, write the actions into objects that exist only here, and begin again. When
nothing is left to write, autoscalers bring workloads within their bounds, and what follows from
that is written. Then all workloads become ready, and the objects that wait for them are written
next. A step ends there, as in every forecast. Pods stay as they are: only the status of their
workloads counts, and the load stays as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson

from kohort.apis.api import Api, Snapshot
from kohort.cluster.actions import Action, Create, Delete, Patch, address_of
from kohort.cluster.objects import Kind, Object, is_leaving, name_of
from kohort.cluster.port import PatchType
from kohort.forecast.values import Ending, Move
from kohort.planning.plan import plan

PASSES_MAX = 100
_IDENTITY = ("name", "namespace", "uid", "resourceVersion")
Objects = Mapping[Kind, Mapping[str, Object]]


@dataclass(frozen=True, slots=True)
class ObjectMove:
    """One object that is made, changed or deleted."""

    move: Move
    kind: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ObjectStep:
    """The writes of one step, until workloads become ready, and the objects at its end."""

    number: int
    moves: tuple[ObjectMove, ...]
    objects: Objects = field(repr=False)


@dataclass(frozen=True, slots=True)
class ObjectForecast:
    """The future writes for an object, if nothing fails."""

    strategy: str
    ending: Ending
    steps: tuple[ObjectStep, ...]
    before: Objects = field(repr=False)
    after: Objects = field(repr=False)


def forecast_objects(api: Api, snapshot: Snapshot, moment: datetime) -> ObjectForecast:
    """All writes until nothing is left to write; raises InvalidWorkload."""
    assert api.delegation is not None
    cluster = _Objects(api, snapshot)
    before, strategy = cluster.list_objects(), ""
    if is_leaving(snapshot.root):
        return ObjectForecast(strategy, Ending.DELETED, (), before, before)
    steps: list[ObjectStep] = []
    moves: list[ObjectMove] = []
    ending = Ending.CUT
    for _ in range(PASSES_MAX):
        seen = cluster.make_snapshot()
        reading = api.read_checked(seen)
        strategy = api.name_strategy(reading)
        decided = plan(reading.workload, reading.observed, moment.timestamp())
        actions = api.render(seen, reading, decided)
        written = [cluster.apply(action) for action in actions] or cluster.scale()
        moves += written
        if written:
            continue
        if moves:
            steps.append(ObjectStep(len(steps) + 1, tuple(moves), cluster.list_objects()))
            moves = []
        if not cluster.make_ready():
            ending = Ending.DONE
            break
    return ObjectForecast(strategy, ending, tuple(steps), before, cluster.list_objects())


class _Objects:
    """The children of one object, as JSON, which writes change."""

    def __init__(self, api: Api, snapshot: Snapshot) -> None:
        self._api = api
        self._snapshot = replace(snapshot, root=_give_uid(snapshot.root))
        self._decoders = {watched.kind: watched.decode for watched in api.watched}
        self._made = 0
        self._held: dict[Kind, dict[str, Object]] = {}
        for kind, children in snapshot.children.items():
            if kind != api.members:
                whole = (child.decode() for child in children if hasattr(child, "decode"))
                self._held[kind] = {name_of(obj): obj for obj in whole}

    def list_objects(self) -> Objects:
        """All objects as they are now."""
        return {kind: dict(held) for kind, held in self._held.items()}

    def make_snapshot(self) -> Snapshot:
        """The snapshot with these children."""
        children: dict[Kind, tuple[Any, ...]] = dict(self._snapshot.children)
        for kind, held in self._held.items():
            decode = self._decoders[kind]
            children[kind] = tuple(decode(orjson.dumps(obj)) for obj in held.values())
        return replace(self._snapshot, children=children)

    def apply(self, action: Action) -> ObjectMove:
        """Apply a write to the modelled objects."""
        address = address_of(action)
        held = self._held.setdefault(address.kind, {})
        found = held.get(address.name)
        move = Move.UPDATE if found is not None else Move.CREATE
        if isinstance(action, Delete):
            held.pop(address.name, None)
            move = Move.DELETE
        elif isinstance(action, Create):
            held[address.name] = self._make(action.obj)
        elif found is None and isinstance(action.patch, dict):
            held[address.name] = self._make(action.patch)
        elif found is not None:
            held[address.name] = _change(found, action)
        return ObjectMove(move, address.kind.name, address.name, action.why)

    def _make(self, obj: Object) -> Object:
        self._made += 1
        known = {"uid": f"made-{self._made}", "resourceVersion": "1", "generation": 1}
        return {**obj, "metadata": {**obj["metadata"], **known}}

    def scale(self) -> list[ObjectMove]:
        """Let one autoscaler scale its workload, if one would."""
        assert self._api.delegation is not None
        scaled = self._api.delegation.scale(self._held)
        if scaled is None:
            return []
        kind, obj, why = scaled
        generation = int(obj["metadata"].get("generation") or 1) + 1
        metadata = {**obj["metadata"], "generation": generation}
        self._held[kind][name_of(obj)] = {**obj, "metadata": metadata}
        return [ObjectMove(Move.UPDATE, kind.name, name_of(obj), why)]

    def make_ready(self) -> bool:
        """Make all workloads ready; returns whether that changed anything."""
        assert self._api.delegation is not None
        is_changed = False
        for kind, held in self._held.items():
            for name, obj in held.items():
                ready = self._api.delegation.make_ready(kind, obj)
                is_changed = is_changed or ready != obj
                held[name] = ready
        return is_changed


def _give_uid(root: Object) -> Object:
    """The object itself, or as the API server would make it: what it owns is known by its uid."""
    made = {"uid": "made", **root["metadata"]}
    return root if made == root["metadata"] else {**root, "metadata": made}


def _change(found: Object, action: Patch) -> Object:
    """The object after a patch; an apply also removes what its manager no longer asks for."""
    metadata = found["metadata"]
    if action.form is PatchType.JSON or not isinstance(action.patch, dict):
        # This patch takes over fields of another manager, and changes no value.
        return {**found, "metadata": {**metadata, "managedFields": []}}
    is_apply = action.form is PatchType.APPLY
    owned = _find_owned(found, action.manager) if is_apply else None
    merged: Object = _merge(found, action.patch, owned)
    is_other = merged.get("spec") != found.get("spec")
    kept = {
        "uid": metadata.get("uid", ""),
        "resourceVersion": metadata.get("resourceVersion", ""),
        "generation": int(metadata.get("generation") or 1) + is_other,
    }
    if is_apply:
        kept["managedFields"] = _own(action.manager, action.patch, owned)
    return {**merged, "metadata": {**merged["metadata"], **kept}}


def _find_owned(found: Object, manager: str) -> Object | None:
    """The fields that a manager has applied; None if that is not known."""
    for entry in found["metadata"].get("managedFields") or ():
        if (entry.get("manager"), entry.get("operation")) == (manager, "Apply"):
            fields: Object = entry.get("fieldsV1") or {}
            return fields
    return None


def _own(manager: str, asked: Object, owned: Object | None) -> list[Object]:
    """The managedFields entry of an apply; no client manages what identifies an object."""
    patch = {key: each for key, each in asked.items() if key not in ("apiVersion", "kind")}
    metadata = {k: each for k, each in patch.get("metadata", {}).items() if k not in _IDENTITY}
    fields = _write_fields({**patch, "metadata": metadata}, owned)
    return [{"manager": manager, "operation": "Apply", "fieldsV1": fields}]


def _write_fields(value: Any, owned: Any) -> Object:
    if not isinstance(value, dict) or _is_atomic(owned):
        return {}
    below = owned or {}
    return {f"f:{key}": _write_fields(each, below.get(f"f:{key}")) for key, each in value.items()}


def _is_atomic(owned: Any) -> bool:
    """Whether the server keeps a map as one value, so that it is replaced whole."""
    return owned is not None and not owned


def _merge(held: Any, patch: Any, owned: Any) -> Any:
    if not isinstance(held, dict) or not isinstance(patch, dict) or _is_atomic(owned):
        return patch
    below = owned or {}
    kept = {k: v for k, v in held.items() if k in patch or f"f:{k}" not in below}
    merged = {k: _merge(held.get(k), v, below.get(f"f:{k}")) for k, v in patch.items()}
    return {key: value for key, value in {**kept, **merged}.items() if value is not None}
