"""
Everything that a cluster needs for the operator, as objects to be applied.

Their order is that in which they can be applied: what others refer to comes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.gangs.intent import Tier
from kohort.cluster.objects import Object
from kohort.cluster.permissions import Grant, write_rules
from kohort.controller.installing.deployment import write_deployment
from kohort.controller.installing.names import (
    ACCOUNT,
    CERTIFICATE_ROLE,
    CONFIG_KEY,
    CONFIG_MAP,
    ELECTION_ROLE,
    LABELS,
    MANAGER_ROLE,
    METRICS_SERVICE,
    NAMESPACE,
    SECRET,
    SELECTOR,
    WEBHOOK_SERVICE,
)
from kohort.controller.installing.permissions import (
    certificate_grants,
    cluster_grants,
    election_grants,
)
from kohort.controller.installing.webhooks import Endpoint, write_configurations
from kohort.controller.running.gangs import find_known, list_variants

_RBAC = "rbac.authorization.k8s.io"
_CONFIGURATION = """\
apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
leaderElection:
  leaderElect: true
"""
_GANGS = """\
gangSchedulingManagement:
  schedulerProvider: {}
"""


@dataclass(frozen=True, slots=True)
class ManifestOptions:
    """What the manifests are for."""

    namespace: str = NAMESPACE
    image: str = ""  # the operator runs elsewhere if empty
    webhook_url: str = ""  # a service of the cluster if empty
    gang: str = ""  # the schedulers that gangs are made for
    tiers: tuple[Tier, ...] = ()

    @property
    def settings(self) -> Settings:
        """What the operator will be told, whichever variants the cluster serves."""
        return replace(DEFAULTS, gangs=list_variants(self.gang, find_known()))

    @property
    def flags(self) -> tuple[str, ...]:
        """What the operator is told beside its file."""
        return tuple(f"--tier={t.number}={t.name}={t.label}" for t in self.tiers)

    @property
    def configuration(self) -> str:
        """The text of the configuration file."""
        return _CONFIGURATION + (_GANGS.format(self.gang) if self.gang else "")


def write_manifests(apis: Sequence[Api], options: ManifestOptions) -> list[Object]:
    """All objects, in the order in which to apply them."""
    namespace = options.namespace
    endpoint = Endpoint(options.webhook_url, namespace)
    objects = [
        _write("v1", "Namespace", namespace),
        *(api.definition() for api in apis),
        _write("v1", "ServiceAccount", ACCOUNT, namespace),
        *_write_roles(cluster_grants(apis, options.settings), namespace),
        _write("v1", "Secret", SECRET, namespace, type="Opaque"),
        _write("v1", "ConfigMap", CONFIG_MAP, namespace, data={CONFIG_KEY: options.configuration}),
    ]
    if not options.webhook_url:
        objects.append(_write_service(WEBHOOK_SERVICE, namespace, "webhook", 443, 9443))
    if options.image:
        objects.append(_write_service(METRICS_SERVICE, namespace, "metrics", 8443, 8443))
        objects.append(write_deployment(namespace, options.image, options.flags))
    return [*objects, *write_configurations(apis, endpoint)]


def _write_roles(grants: Sequence[Grant], namespace: str) -> list[Object]:
    return [
        *_write_role(MANAGER_ROLE, "", grants, namespace),
        *_write_role(ELECTION_ROLE, namespace, election_grants(), namespace),
        *_write_role(CERTIFICATE_ROLE, namespace, certificate_grants(), namespace),
    ]


def _write_role(name: str, place: str, grants: Sequence[Grant], home: str) -> list[Object]:
    """A role and its binding to the operator, for one namespace or for all."""
    kind = "Role" if place else "ClusterRole"
    version = f"{_RBAC}/v1"
    binding = _write(
        version,
        f"{kind}Binding",
        f"{name}binding",
        place,
        roleRef={"apiGroup": _RBAC, "kind": kind, "name": name},
        subjects=[{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": home}],
    )
    return [_write(version, kind, name, place, rules=write_rules(grants)), binding]


def _write_service(name: str, namespace: str, port_name: str, port: int, target: int) -> Object:
    ports = [{"name": port_name, "port": port, "protocol": "TCP", "targetPort": target}]
    spec = {"ports": ports, "selector": dict(SELECTOR)}
    return _write("v1", "Service", name, namespace, spec=spec)


def _write(version: str, kind: str, name: str, namespace: str = "", **content: Any) -> Object:
    metadata: Object = {"name": name, "labels": dict(LABELS)}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}
