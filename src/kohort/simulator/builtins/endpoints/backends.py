"""
The backends of a Service: the addresses and ports of its pods.

Host names and container ports of a pod never change, so they are read from the
whole pod once; everything else comes from the facts at hand.
"""

from dataclasses import dataclass

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Object
from kohort.simulator.builtins.readiness import FINISHED
from kohort.simulator.component import View

ZONE_LABEL = "topology.kubernetes.io/zone"
Ports = tuple[tuple[str, int, str, str], ...]  # name, number, protocol, application protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """Immutable fields of a pod that the cache's facts lack."""

    hostname: str
    subdomain: str
    ports: dict[tuple[str, str], int]  # named container ports by name and protocol


class Identities:
    """A cache of identities, by uid."""

    def __init__(self) -> None:
        self._known: dict[str, Identity] = {}

    def read(self, pod: StoredObject) -> Identity:
        """The identity of a pod."""
        known = self._known.get(pod.uid)
        if known is None:
            spec = pod.decode().get("spec") or {}
            ports = {
                (port["name"], port.get("protocol", "TCP")): int(port["containerPort"])
                for container in [
                    *(spec.get("containers") or ()),
                    *(spec.get("initContainers") or ()),
                ]
                for port in container.get("ports") or ()
                if port.get("name")
            }
            known = Identity(spec.get("hostname", ""), spec.get("subdomain", ""), ports)
            self._known[pod.uid] = known
        return known

    def forget(self, pod: StoredObject) -> None:
        """Drop a pod that is gone."""
        self._known.pop(pod.uid, None)


@dataclass(frozen=True, slots=True)
class Backend:
    """One pod behind a service."""

    pod: StoredObject
    ip: str
    node: str
    zone: str
    hostname: str
    is_ready: bool
    is_leaving: bool
    ports: Ports

    @property
    def target(self) -> Object:
        """The reference to the pod."""
        return {
            "kind": POD.name,
            "namespace": self.pod.namespace,
            "name": self.pod.name,
            "uid": self.pod.uid,
        }


def find_backends(
    service: Object, pods: list[StoredObject], identities: Identities, view: View
) -> list[Backend]:
    """The pods that have an address and have not ended."""
    wanted = service["spec"].get("ports") or []
    backends = []
    for pod in pods:
        facts = pod.facts
        ip = facts.status.pod_ip if facts.status else ""
        if not ip or facts.phase in FINISHED:
            continue
        identity = identities.read(pod)
        node = facts.spec.node_name if facts.spec else ""
        in_domain = identity.subdomain == service["metadata"]["name"]
        backend = Backend(
            pod=pod,
            ip=ip,
            node=node,
            zone=_find_zone(node, view),
            hostname=identity.hostname if in_domain else "",
            is_ready=facts.is_ready,
            is_leaving=facts.is_leaving,
            ports=_resolve(wanted, identity),
        )
        backends.append(backend)
    return backends


def _find_zone(node: str, view: View) -> str:
    entry = view.find(NODE, "", node) if node else None
    return entry.labels.get(ZONE_LABEL, "") if entry else ""


def _resolve(wanted: list[Object], identity: Identity) -> Ports:
    ports = []
    for port in wanted:
        protocol = port.get("protocol", "TCP")
        target = port.get("targetPort") or port["port"]
        number = identity.ports.get((target, protocol)) if isinstance(target, str) else int(target)
        if number is not None:
            # A pod without the named port is behind the service's other ports only.
            ports.append((port.get("name", ""), number, protocol, port.get("appProtocol", "")))
    return tuple(ports)


def write_ports(ports: Ports) -> list[Object]:
    """Ports as endpoints and slices list them."""
    written = []
    for name, number, protocol, application in ports:
        port: Object = {"name": name, "port": number, "protocol": protocol}
        if application:
            port["appProtocol"] = application
        written.append(port)
    return written
