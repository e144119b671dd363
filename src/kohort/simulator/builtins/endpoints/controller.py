"""
The endpoints controllers: Endpoints and EndpointSlices of services with selectors.

Endpoints are the older form, which some clients still read; slices are the newer
one. Both are made from the same backends.
"""

from collections import defaultdict
from collections.abc import Iterable

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import ENDPOINT_SLICE, ENDPOINTS, NODE, POD, SERVICE
from kohort.cluster.objects import Kind, Object, labels_of
from kohort.cluster.selectors import LabelSelector, require_labels
from kohort.simulator.builtins.endpoints.backends import (
    Backend,
    Identities,
    Ports,
    find_backends,
    write_ports,
)
from kohort.simulator.builtins.endpoints.slices import CHANGED, HEADLESS, plan_slices
from kohort.simulator.builtins.reconcile_pace import Pace
from kohort.simulator.builtins.selectors import Matches
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    Moment,
    ReplaceRequest,
    Step,
    View,
)

ADDRESSES_MAX = 1000
_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_MANAGER = "endpoint-controller"
_OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"


class EndpointsKeeper:
    """The component that writes Endpoints and EndpointSlices."""

    name = "endpoints"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (SERVICE, POD, NODE, ENDPOINTS, ENDPOINT_SLICE)

    def __init__(self) -> None:
        self._matches = Matches()
        self._identities = Identities()
        self._pace = Pace(0.0005)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of a changed Service, of Services that select a pod, or of changed endpoints."""
        entry = new or old
        assert entry is not None
        key = f"{entry.namespace}/{entry.name}"
        if kind == SERVICE:
            self._note_service(key, new, view)
            return (key,)
        if kind == POD:
            return self._note_pod(old, new)
        if kind == ENDPOINTS:
            return (key,)
        if kind == ENDPOINT_SLICE:
            owner = entry.labels.get("kubernetes.io/service-name", "")
            return (f"{entry.namespace}/{owner}",) if owner else ()
        return ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Bring the endpoints of one service up to date."""
        namespace, _, name = key.partition("/")
        service = view.find(SERVICE, namespace, name)
        if service is None:
            return Step(tuple(_clean_up(view.find(ENDPOINTS, namespace, name))))
        if service.facts.is_leaving:
            return Step()
        obj = service.decode()
        if not obj["spec"].get("selector") or obj["spec"].get("type") == "ExternalName":
            return Step()
        rest = self._pace.rest(key, moment)
        if rest > 0:
            return Step(after=rest)
        pods = self._matches.pods(key, view)
        self._pace.looked(key, len(pods), moment)
        backends = find_backends(obj, pods, self._identities, view)
        existing = view.owned(ENDPOINT_SLICE, service.uid)
        actions = plan_slices(service, obj, backends, existing, moment)
        actions.extend(
            _plan_endpoints(obj, backends, view.find(ENDPOINTS, namespace, name), moment)
        )
        return Step(tuple(actions))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Let the key be reconciled again at once."""
        self._pace.hurry(key)

    def _note_service(self, key: str, new: StoredObject | None, view: View) -> None:
        self._pace.hurry(key)
        selector = (new.decode().get("spec") or {}).get("selector") if new else None
        if selector:
            self._matches.put(key, LabelSelector(require_labels(selector)), view)
        else:
            self._matches.drop(key)

    def _note_pod(self, old: StoredObject | None, new: StoredObject | None) -> Iterable[str]:
        if new is None and old is not None:
            self._identities.forget(old)
        keys = self._matches.note(old, new)
        if old is not None and new is not None and _looks_alike(old, new):
            return ()
        return keys


def _looks_alike(old: StoredObject, new: StoredObject) -> bool:
    one, other = old.facts, new.facts
    return (
        old.uid == new.uid
        and old.labels == new.labels
        and one.is_leaving == other.is_leaving
        and one.phase == other.phase
        and one.is_ready == other.is_ready
        and (one.status.pod_ip if one.status else "")
        == (other.status.pod_ip if other.status else "")
    )


def _clean_up(endpoints: StoredObject | None) -> Iterable[ComponentAction]:
    if endpoints is not None and endpoints.labels.get(_MANAGED_BY) == _MANAGER:
        yield DeleteRequest(ENDPOINTS, endpoints.namespace, endpoints.name, endpoints.uid)


def _plan_endpoints(
    service: Object, backends: list[Backend], existing: StoredObject | None, moment: Moment
) -> Iterable[ComponentAction]:
    publishes = bool(service["spec"].get("publishNotReadyAddresses"))
    shown = [backend for backend in backends if publishes or not backend.is_leaving]
    is_truncated = len(shown) > ADDRESSES_MAX
    subsets = _subsets(shown[:ADDRESSES_MAX], publishes)
    labels = {
        **{k: v for k, v in labels_of(service).items() if k != HEADLESS},
        _MANAGED_BY: _MANAGER,
    }
    if service["spec"].get("clusterIP") == "None":
        labels[HEADLESS] = ""
    annotations = {CHANGED: moment.stamp}
    if is_truncated:
        annotations[_OVER_CAPACITY] = "truncated"
    metadata: Object = {
        "name": service["metadata"]["name"],
        "namespace": service["metadata"]["namespace"],
        "labels": labels,
        "annotations": annotations,
    }
    obj: Object = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}
    if subsets:
        obj["subsets"] = subsets
    if existing is None:
        yield CreateRequest(ENDPOINTS, obj)
        return
    old = existing.decode()
    if (old.get("subsets") or []) != subsets or labels_of(old) != labels:
        obj["metadata"] = {**old["metadata"], "labels": labels, "annotations": annotations}
        yield ReplaceRequest(ENDPOINTS, obj)


def _subsets(backends: list[Backend], publishes: bool) -> list[Object]:
    groups: dict[Ports, list[Backend]] = defaultdict(list)
    for backend in backends:
        groups[backend.ports].append(backend)
    subsets = []
    for ports in sorted(groups):
        subset: Object = {}
        for field, wanted in (("addresses", True), ("notReadyAddresses", False)):
            listed = [b for b in groups[ports] if (publishes or b.is_ready) is wanted]
            if listed:
                subset[field] = [_address(b) for b in sorted(listed, key=_by_ip)]
        if ports:
            subset["ports"] = [_drop_empty_name(port) for port in write_ports(ports)]
        subsets.append(subset)
    return subsets


def _by_ip(backend: Backend) -> tuple[list[int] | str, str]:
    parts = backend.ip.split(".")
    is_v4 = len(parts) == 4 and all(part.isdecimal() for part in parts)
    return ([int(part) for part in parts] if is_v4 else backend.ip), backend.pod.uid


def _address(backend: Backend) -> Object:
    address: Object = {"ip": backend.ip, "targetRef": backend.target}
    if backend.hostname:
        address["hostname"] = backend.hostname
    if backend.node:
        address["nodeName"] = backend.node
    return address


def _drop_empty_name(port: Object) -> Object:
    return {key: value for key, value in port.items() if key != "name" or value}
