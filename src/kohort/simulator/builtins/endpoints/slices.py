"""
EndpointSlices: the backends of a service in portions of a hundred.

A backend stays in the slice it is in, so that one pod that comes or goes
changes one slice. Each slice holds backends of one list of ports. A service
without backends keeps one empty slice.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import ENDPOINT_SLICE, SERVICE
from kohort.cluster.objects import Object, labels_of
from kohort.simulator.builtins.endpoints.backends import Backend, Ports, write_ports
from kohort.simulator.builtins.names import make_suffix
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    Moment,
    ReplaceRequest,
)

SLICE_MAX = 100
CHANGED = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS = "service.kubernetes.io/headless"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_SERVICE = "kubernetes.io/service-name"


@dataclass(slots=True)
class _Slice:
    name: str
    entry: StoredObject | None
    obj: Object
    backends: list[Backend]


def plan_slices(
    service: StoredObject,
    obj: Object,
    backends: Iterable[Backend],
    existing: Iterable[StoredObject],
    moment: Moment,
) -> list[ComponentAction]:
    """Bring the slices of a service to what its backends are."""
    groups: dict[Ports, list[Backend]] = defaultdict(list)
    for backend in backends:
        groups[backend.ports].append(backend)
    if not groups:
        groups[()] = []
    slices = [
        _Slice(entry.name, entry, entry.decode(), [])
        for entry in sorted(existing, key=lambda entry: entry.name)
        if not entry.facts.is_leaving
    ]
    taken = {portion.name for portion in slices}
    wanted = [write_ports(ports) for ports in groups]
    spare = [s for s in slices if (s.obj.get("ports") or []) not in wanted]
    used: list[tuple[Ports, _Slice]] = []
    for ports, members in groups.items():
        mine = [s for s in slices if (s.obj.get("ports") or []) == write_ports(ports)]
        if not mine and spare:
            # A slice whose ports no pod has any more is used again instead of a new one.
            mine = [spare.pop(0)]
        _fill(mine, members)
        while len(mine) * SLICE_MAX < len(members) or not mine:
            mine.append(_Slice(_free_name(service, taken), None, {}, []))
        _spread(mine, members)
        full = [s for s in mine if s.backends] or mine[:1]
        used.extend((ports, portion) for portion in full)
        spare.extend(s for s in mine if s not in full)
    deletes = [
        DeleteRequest(ENDPOINT_SLICE, s.entry.namespace, s.name, s.entry.uid)
        for s in spare
        if s.entry
    ]
    return [*_write(service, obj, used, moment), *deletes]


def _fill(slices: list[_Slice], members: list[Backend]) -> None:
    """Put backends back into the slices that they are in."""
    home: dict[str, _Slice] = {}
    for portion in slices:
        for endpoint in portion.obj.get("endpoints") or ():
            home[(endpoint.get("targetRef") or {}).get("uid", "")] = portion
    for backend in members:
        portion_of = home.get(backend.pod.uid)
        if portion_of is not None and len(portion_of.backends) < SLICE_MAX:
            portion_of.backends.append(backend)


def _spread(slices: list[_Slice], members: list[Backend]) -> None:
    """Put backends that are in no slice where there is room, the fullest first."""
    placed = {backend.pod.uid for portion in slices for backend in portion.backends}
    waiting = [backend for backend in members if backend.pod.uid not in placed]
    for portion in sorted(slices, key=lambda s: (-len(s.backends), s.name)):
        room = SLICE_MAX - len(portion.backends)
        portion.backends.extend(waiting[:room])
        waiting = waiting[room:]
        portion.backends.sort(key=lambda backend: backend.pod.name)


def _free_name(service: StoredObject, taken: set[str]) -> str:
    serial = 0
    while (name := f"{service.name}-{make_suffix(service.uid, serial)}") in taken:
        serial += 1
    taken.add(name)
    return name


def _write(
    service: StoredObject, obj: Object, used: list[tuple[Ports, _Slice]], moment: Moment
) -> Iterable[ComponentAction]:
    for ports, portion in used:
        rendered = _render(service, obj, ports, portion)
        if portion.entry is None:
            rendered["metadata"]["annotations"] = {CHANGED: moment.stamp}
            yield CreateRequest(ENDPOINT_SLICE, rendered)
        elif not _is_same(portion.obj, rendered):
            metadata = {**portion.obj["metadata"], "labels": rendered["metadata"]["labels"]}
            annotations = {**(metadata.get("annotations") or {}), CHANGED: moment.stamp}
            metadata["annotations"] = annotations
            yield ReplaceRequest(ENDPOINT_SLICE, {**rendered, "metadata": metadata})


def _is_same(one: Object, other: Object) -> bool:
    return labels_of(one) == labels_of(other) and all(
        (one.get(field) or []) == (other.get(field) or []) for field in ("endpoints", "ports")
    )


def _render(service: StoredObject, obj: Object, ports: Ports, portion: _Slice) -> Object:
    spec = obj["spec"]
    labels = {
        **{k: v for k, v in labels_of(obj).items() if k != HEADLESS},
        _SERVICE: service.name,
        _MANAGED_BY: "endpointslice-controller.k8s.io",
    }
    if spec.get("clusterIP") == "None":
        labels[HEADLESS] = ""
    owner = {
        "apiVersion": SERVICE.api_version,
        "kind": SERVICE.name,
        "name": service.name,
        "uid": service.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    publishes = bool(spec.get("publishNotReadyAddresses"))
    return {
        "apiVersion": ENDPOINT_SLICE.api_version,
        "kind": ENDPOINT_SLICE.name,
        "metadata": {
            "name": portion.name,
            "generateName": f"{service.name}-",
            "namespace": service.namespace,
            "labels": labels,
            "ownerReferences": [owner],
        },
        "addressType": (spec.get("ipFamilies") or ["IPv4"])[0],
        "endpoints": [_endpoint(backend, publishes) for backend in portion.backends] or None,
        "ports": write_ports(ports) or None,
    }


def _endpoint(backend: Backend, publishes: bool) -> Object:
    endpoint: Object = {
        "addresses": [backend.ip],
        "conditions": {
            "ready": publishes or (backend.is_ready and not backend.is_leaving),
            "serving": backend.is_ready,
            "terminating": backend.is_leaving,
        },
        "targetRef": backend.target,
    }
    for field, value in (
        ("hostname", backend.hostname),
        ("nodeName", backend.node),
        ("zone", backend.zone),
    ):
        if value:
            endpoint[field] = value
    return endpoint
