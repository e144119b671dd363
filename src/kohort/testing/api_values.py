"""
The rules that every API value must keep, as a check for authors of APIs.

    from kohort.testing import check_api

    def test_my_api():
        assert check_api(API, {"apiVersion": "example.com/v1", "kind": "Tide", ...}) == []

The object is as a user would write it. The API reads it, plans and renders twice; what it creates
is then stored in a model of the cluster and read again, until the API asks for nothing more. It
must decide the same each time, change nothing that it is given, own what it creates, have the
permissions for what it does, and come to rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from kohort.apis.api import Api, ExecutionSummary, InvalidWorkload, Reading, Snapshot
from kohort.apis.definitions.shapes import shape_of
from kohort.apis.served import APIS
from kohort.cluster.actions import Action, Create, Delete, Patch, address_of, kind_of, verb_of
from kohort.cluster.objects import Kind, Object, find_controller, name_of, namespace_of, uid_of
from kohort.cluster.port import PatchType
from kohort.model.plans import Plan
from kohort.planning.plan import plan
from kohort.testing.samples import copy_json, describe_error, is_json, list_changes, list_faults

_NOW, _MOMENT = "2030-01-01T00:00:00Z", 1893456000.0
_ROUNDS_MAX = 5  # an API that waits for no other controller has made everything by then


def check_api(api: Api, sample: Object) -> list[str]:
    """The rules that an API value breaks, with the object that it was shown; empty: none."""
    if not isinstance(api, Api):
        return [f"it must be an Api, not {type(api).__name__}"]
    faults = [*_check_value(api), *_check_definitions(api)]
    if not faults:
        faults += _check_behaviour(api, _admit(api, sample))
    return list_faults((fault, "") for fault in faults)


def _check_value(api: Api) -> Iterator[str]:
    for other in APIS:
        if api is other:
            continue
        if (other.kind.group, other.kind.name) == (api.kind.group, api.kind.name):
            yield f"another API serves {api.kind.name} ({api.kind.group}) already"
        if other.short_name == api.short_name:
            yield f"{other.kind.name} has the short name {api.short_name} already"
    if not api.short_name or api.short_name != api.short_name.lower():
        yield f"the short name {api.short_name!r} must be a word in lower case"
    for what in ("name", "path"):
        words = [getattr(webhook, what) for webhook in api.webhooks]
        for word in sorted({word for word in words if words.count(word) > 1}):
            yield f"two webhooks have the {what} {word}"


def _check_definitions(api: Api) -> Iterator[str]:
    for define in api.definitions:
        made = define()
        name = name_of(made) or "a definition"
        if made != define():
            yield f"{name} is another one each time that it is made"
        if not is_json(made) or made.get("kind") != "CustomResourceDefinition":
            yield f"{name} is no CustomResourceDefinition"
            return
        if len(made["spec"]["versions"]) > 1 and api.convert is None:
            yield f"{name} has several versions, and nothing converts them: set convert"
    spec = api.definition()["spec"]
    found = spec["group"], spec["names"]["kind"], spec["names"]["plural"]
    if found != (api.kind.group, api.kind.name, api.kind.plural):
        yield f"the first definition is of {found[1]} ({found[0]}), and the API's kind is another"
    if api.kind.version not in [version["name"] for version in spec["versions"]]:
        yield f"the first definition has no version {api.kind.version}, which is the API's"


def _admit(api: Api, sample: Object) -> Object:
    """The object as the API server would store it."""
    root = copy_json(sample)
    root.setdefault("apiVersion", api.kind.api_version)
    root.setdefault("kind", api.kind.name)
    metadata: Object = {"name": "sample", "uid": "root-uid", "generation": 1, **root["metadata"]}
    if api.kind.namespaced:
        metadata.setdefault("namespace", "default")
    return {**root, "metadata": {**metadata, "creationTimestamp": _NOW, "resourceVersion": "1"}}


@dataclass(slots=True)
class _Store:
    """A model of the cluster's objects for one workload."""

    api: Api
    root: Object
    children: dict[tuple[Kind, str], Object] = field(default_factory=dict)

    def snapshot(self) -> Snapshot:
        """The workload and its children, as caches have them."""
        held = {
            watched.kind: tuple(
                watched.decode(orjson.dumps(obj))
                for (kind, _), obj in self.children.items()
                if kind == watched.kind
            )
            for watched in self.api.watched
        }
        return Snapshot(copy_json(self.root), held)

    def apply(self, action: Action) -> None:
        """Apply an action; one that this model does not support changes nothing."""
        address = address_of(action)
        key = address.kind, address.name
        if isinstance(action, Delete):
            self.children.pop(key, None)
        elif isinstance(action, Create):
            self.children.setdefault(key, _stamp(action.obj, address.name))
        elif action.form is PatchType.APPLY and isinstance(action.patch, dict):
            self.children[key] = _stamp(action.patch, address.name)


def _stamp(obj: Object, name: str) -> Object:
    stored = copy_json(obj)
    stored["metadata"] = {
        **stored["metadata"],
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": _NOW,
    }
    return stored


def _check_behaviour(api: Api, root: Object) -> Iterator[str]:
    misfit = api.find_misfit(root)
    if misfit:
        yield f"the object does not fit the definition: {misfit}"
        return
    store = _Store(api, root)
    actions: tuple[Action, ...] = ()
    try:
        for _ in range(_ROUNDS_MAX):
            round_ = _Round(api, store.snapshot())
            yield from round_.find_faults()
            actions = round_.actions
            if not actions:
                break
            for action in actions:
                store.apply(action)
        yield from _check_rest(api, store, actions)
    except InvalidWorkload as error:
        yield f"it cannot plan the object: {error}"
    except Exception as error:
        yield f"it raised {describe_error(error)}"


def _check_rest(api: Api, store: _Store, actions: tuple[Action, ...]) -> Iterator[str]:
    for action in actions:
        if isinstance(action, Create):
            address = address_of(action)
            yield f"it creates {address.kind.name} {address.name} although it exists"
            return
    status = _Round(api, store.snapshot()).status
    store.root = {**store.root, "status": copy_json(status)}
    again = _Round(api, store.snapshot()).status
    if status != again:
        paths = ", ".join(list_changes(status, again)[:3])
        yield f"its status does not come to rest: {paths} differ once they are written"


class _Round:
    """One pass of the operator over a snapshot."""

    def __init__(self, api: Api, snapshot: Snapshot) -> None:
        self._api = api
        self._snapshot = snapshot
        self._before = copy_json(snapshot.root)
        self._reading: Reading[Any] = api.read_checked(snapshot)
        self._plan: Plan = plan(self._reading.workload, self._reading.observed, _MOMENT)
        self.actions = tuple(api.render(snapshot, self._reading, self._plan))
        self.status = api.write_status(snapshot, self._reading, self._plan, _NOW)

    def find_faults(self) -> Iterator[str]:
        """The rules that were broken in this pass."""
        api, snapshot = self._api, self._snapshot
        twin = _Round(api, snapshot)
        if (self._reading.workload, self._plan) != (twin._reading.workload, twin._plan):
            yield "it reads one object in two ways"
        if self.actions != twin.actions:
            yield "it renders one plan in two ways"
        if self.status != twin.status:
            yield "it writes two statuses of one object"
        if snapshot.root != self._before:
            yield "it changed the object that it was given"
        for action in self.actions:
            yield from self._check_action(action)
        yield from self._check_status()
        api.list_events(snapshot, self._reading, self._plan, ExecutionSummary(is_reported=True))

    def _check_action(self, action: Action) -> Iterator[str]:
        kind, verb = kind_of(action), verb_of(action)
        granted = {v for g in self._api.writes if g.kind == kind and not g.part for v in g.verbs}
        if verb not in granted:
            yield f"it may not {verb} {kind.name}: add Grant({kind.name}, ({verb!r},)) to writes"
        makes = action.obj if isinstance(action, Create) else None
        if isinstance(action, Patch) and action.makes and isinstance(action.patch, dict):
            makes = action.patch
        if makes is not None:
            yield from self._check_made(kind, makes)

    def _check_made(self, kind: Kind, made: Object) -> Iterator[str]:
        root, what = self._snapshot.root, f"{kind.name} {name_of(made)}"
        if not is_json(made):
            yield f"{what} is no JSON, so that no API server takes it"
        if (find_controller(made) or {}).get("uid") != uid_of(root):
            yield f"{what} has not the object as its controller: it would stay for ever"
        if namespace_of(made) != namespace_of(root):
            yield f"{what} is in another namespace than its owner"
        if kind not in {watched.kind for watched in self._api.watched}:
            yield f"it makes {kind.name} and does not watch it: add Watched({kind.name}, ...)"

    def _check_status(self) -> Iterator[str]:
        if not isinstance(self.status, dict) or not is_json(self.status):
            yield "its status is no JSON object"
            return
        shape = shape_of(self._api.definitions[0], self._api.kind.version)
        kept = {name: value for name, value in self.status.items() if value is not None}
        for name in shape.find_status_misfits({"status": kept}):
            yield f"status.{name} does not fit the definition"
        fields = _list_status_fields(self._api)
        for name in kept:
            if name not in fields:
                yield f"the definition has no status.{name}: the API server would drop it"


def _list_status_fields(api: Api) -> set[str]:
    versions = api.definition()["spec"]["versions"]
    found = next(version for version in versions if version["name"] == api.kind.version)
    properties = found["schema"]["openAPIV3Schema"]["properties"]
    return set((properties.get("status") or {}).get("properties") or ())
