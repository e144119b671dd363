"""
All objects that a cluster needs for the operator, for ``kubectl apply``.

They come in an order in which they can be applied: an object comes after those it refers to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.gangs.intent import Tier
from kohort.cluster.objects import Object
from kohort.cluster.permissions import Grant, write_rules
from kohort.controller.install.deployment import write_deployment
from kohort.controller.install.names import (
    ACCOUNT,
    CERTIFICATE_ROLE,
    CONFIG_KEY,
    CONFIG_MAP,
    CONFIG_VERSION,
    ELECTION_ROLE,
    MANAGER_ROLE,
    METRICS_SERVICE,
    NAMESPACE,
    SECRET,
    SELECTOR,
    WEBHOOK_SERVICE,
)
from kohort.controller.install.permissions import (
    certificate_grants,
    cluster_grants,
    election_grants,
    list_leases,
    write_metrics_roles,
    write_object,
    write_role,
)
from kohort.controller.install.webhooks import Endpoint, write_configurations, write_definitions
from kohort.controller.process.gangs import find_known, list_variants

_CONFIGURATION = f"""\
apiVersion: {CONFIG_VERSION}
kind: Configuration
leaderElection:
  leaderElect: true
"""
_GANGS = """\
gangSchedulingManagement:
  schedulerProvider: {}
"""
_APIS = """\
apis: [{}]
"""


@dataclass(frozen=True, slots=True)
class ManifestOptions:
    """The options of the manifests."""

    namespace: str = NAMESPACE
    image: str = ""  # empty: no Deployment, the operator runs elsewhere
    webhook_url: str = ""  # empty: webhooks are reached by a Service
    gang: str = ""  # names of the gang schedulers to use
    tiers: tuple[Tier, ...] = ()
    apis: tuple[str, ...] = ()  # names of the APIs to serve; empty: all

    @property
    def settings(self) -> Settings:
        """The operator's settings, with all variants that a cluster may serve."""
        return replace(DEFAULTS, gangs=list_variants(self.gang, find_known()))

    @property
    def flags(self) -> tuple[str, ...]:
        """The operator's command-line flags beside its configuration file."""
        return tuple(f"--tier={t.number}={t.name}={t.label}" for t in self.tiers)

    @property
    def configuration(self) -> str:
        """The text of the configuration file."""
        gangs = _GANGS.format(self.gang) if self.gang else ""
        return _CONFIGURATION + gangs + (_APIS.format(", ".join(self.apis)) if self.apis else "")


def write_manifests(apis: Sequence[Api], options: ManifestOptions) -> list[Object]:
    """All objects, in the order in which to apply them."""
    namespace = options.namespace
    endpoint = Endpoint(options.webhook_url, namespace)
    leases = list_leases(apis, namespace)
    objects = [
        *(write_object("v1", "Namespace", name) for name in dict.fromkeys((namespace, *leases))),
        *write_definitions(apis, endpoint),
        write_object("v1", "ServiceAccount", ACCOUNT, namespace),
        *_write_roles(cluster_grants(apis, options.settings), leases, namespace),
        *write_metrics_roles(namespace),
        write_object("v1", "Secret", SECRET, namespace, type="Opaque"),
        write_object(
            "v1", "ConfigMap", CONFIG_MAP, namespace, data={CONFIG_KEY: options.configuration}
        ),
    ]
    if not options.webhook_url:
        objects.append(_write_service(WEBHOOK_SERVICE, namespace, "webhook", 443, 9443))
    if options.image:
        objects.append(_write_service(METRICS_SERVICE, namespace, "metrics", 8443, 8443))
        objects.append(write_deployment(namespace, options.image, options.flags))
    return [*objects, *write_configurations(apis, endpoint)]


def _write_roles(
    grants: Sequence[Grant], leases: Mapping[str, tuple[str, ...]], namespace: str
) -> list[Object]:
    elections = (
        write_role(ELECTION_ROLE, place, write_rules(election_grants(names)), namespace)
        for place, names in leases.items()
    )
    return [
        *write_role(MANAGER_ROLE, "", write_rules(grants), namespace),
        *(obj for election in elections for obj in election),
        *write_role(CERTIFICATE_ROLE, namespace, write_rules(certificate_grants()), namespace),
    ]


def _write_service(name: str, namespace: str, port_name: str, port: int, target: int) -> Object:
    ports = [{"name": port_name, "port": port, "protocol": "TCP", "targetPort": target}]
    spec = {"ports": ports, "selector": dict(SELECTOR)}
    return write_object("v1", "Service", name, namespace, spec=spec)
