"""
All objects that a cluster needs for the operator, for ``kubectl apply``.

They come in an order in which they can be applied: an object comes after those it refers to.

The operator is a Deployment of the cluster that it works on. Its pods meet the strictest pod
security level (restricted). Two replicas run, of which one holds the lease; both answer webhooks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.gangs.intent import Tier
from kohort.cluster.objects import Object
from kohort.cluster.permissions import Grant, write_rules
from kohort.controller.install.names import (
    ACCOUNT,
    CERTIFICATE_ROLE,
    CONFIG_KEY,
    CONFIG_MAP,
    CONFIG_VERSION,
    DEPLOYMENT,
    ELECTION_ROLE,
    LABELS,
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

REPLICAS = 2
USER = 65532
_CONFIG_PATH = f"/{CONFIG_KEY}"
_PORTS = {"webhook-server": 9443, "health": 8081, "metrics": 8443}

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


def write_deployment(namespace: str, image: str, flags: tuple[str, ...] = ()) -> Object:
    """The Deployment of the operator."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": DEPLOYMENT, "namespace": namespace, "labels": dict(LABELS)},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": dict(SELECTOR)},
            "template": {"metadata": {"labels": dict(LABELS)}, "spec": _write_pod(image, flags)},
        },
    }


def _write_pod(image: str, flags: tuple[str, ...]) -> Object:
    return {
        "serviceAccountName": ACCOUNT,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": 10,
        "containers": [_write_container(image, flags)],
        "volumes": [
            {"name": "config", "configMap": {"name": CONFIG_MAP}},
            {"name": "tmp", "emptyDir": {}},
        ],
    }


def _write_container(image: str, flags: tuple[str, ...]) -> Object:
    return {
        "name": "manager",
        "image": image,
        "command": ["kohort"],
        "args": ["controller", f"--config={_CONFIG_PATH}", *flags],
        "ports": [{"name": name, "containerPort": port} for name, port in _PORTS.items()],
        "livenessProbe": _write_probe("/healthz", 15, 20),
        "readinessProbe": _write_probe("/readyz", 5, 10),
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {
                "name": "config",
                "mountPath": _CONFIG_PATH,
                "subPath": CONFIG_KEY,
                "readOnly": True,
            },
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }


def _write_probe(path: str, delay: int, period: int) -> Object:
    return {
        "httpGet": {"path": path, "port": "health"},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
    }
