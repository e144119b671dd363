"""
Stand-ins for the four upstream controllers: Deployment, Service, lease and webhook configurations.

The Deployment is real, and its pods are simulated ones. The stand-in holds the lease while a
pod of the Deployment exists, as upstream does with leader election on.
"""

from dataclasses import dataclass

from kohort.cluster.objects import Object

NAMESPACES = {"lws": "lws-system", "ms": "kthena-system", "rbg": "rbgs-system", "isvc": "ome"}


@dataclass(frozen=True)
class Other:
    """The names of one upstream controller, as its project documents them."""

    api: str
    deployment: str
    lease: str
    service: str
    hooks: tuple[tuple[str, str, str], ...]  # kind, name, API group of its rule
    labels: tuple[tuple[str, str], ...]
    replicas: int = 2
    converts: tuple[str, ...] = ()  # definitions whose versions its webhook converts

    @property
    def namespace(self) -> str:
        return NAMESPACES[self.api]

    def list_objects(self) -> list[Object]:
        """All objects of the controller, in the order in which they can be made."""
        labels = dict(self.labels)
        metadata = {"name": self.deployment, "namespace": self.namespace, "labels": labels}
        container = {"name": "manager", "image": f"{self.api}/upstream:1"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {
            "replicas": self.replicas,
            "selector": {"matchLabels": labels},
            "template": template,
        }
        port = {"port": 443, "targetPort": 9443}
        return [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec},
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": self.service, "namespace": self.namespace},
                "spec": {"selector": labels, "ports": [port]},
            },
            *(self._write_hook(*hook) for hook in self.hooks),
        ]

    def _write_hook(self, kind: str, name: str, group: str) -> Object:
        service = {"name": self.service, "namespace": self.namespace, "path": "/x", "port": 443}
        rule = {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE"],
            "resources": ["standins"],
            "scope": "*",
        }
        hook = {
            "name": f"hook.{self.api}.example.com",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": service, "caBundle": "Cg=="},
            "failurePolicy": "Ignore",
            "rules": [rule],
            "sideEffects": "None",
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            "webhooks": [hook],
        }

    def write_conversion(self) -> Object:
        """The conversion of each definition that it converts."""
        service = {"name": self.service, "namespace": self.namespace, "path": "/convert"}
        webhook = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
        return {"strategy": "Webhook", "webhook": webhook}

    def write_lease(self, holder: str, stamp: str) -> Object:
        """The lease as upstream's process renews it."""
        spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": stamp}
        metadata = {"name": self.lease, "namespace": self.namespace}
        kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        return {**kind, "metadata": metadata, "spec": spec}


MUTATING, VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
OTHERS = {
    other.api: other
    for other in (
        Other(
            "lws",
            "lws-controller-manager",
            "b8b2488c.x-k8s.io",
            "lws-webhook-service",
            (
                (MUTATING, "lws-mutating-webhook-configuration", "leaderworkerset.x-k8s.io"),
                (VALIDATING, "lws-validating-webhook-configuration", "leaderworkerset.x-k8s.io"),
            ),
            (("app.kubernetes.io/name", "lws"), ("control-plane", "controller-manager")),
        ),
        Other(
            "ms",
            "kthena-controller-manager",
            "lease.kthena.controller-manager",
            "kthena-controller-manager-webhook",
            (
                (
                    VALIDATING,
                    "kthena-controller-manager-validating-webhook",
                    "workload.serving.volcano.sh",
                ),
            ),
            (("app.kubernetes.io/component", "kthena-controller-manager"),),
            replicas=1,
        ),
        Other(
            "rbg",
            "rbgs-controller-manager",
            "rbg-controller",
            "rbgs-webhook-service",
            ((VALIDATING, "rbgs-validating-webhook-configuration", "workloads.x-k8s.io"),),
            (("control-plane", "rbgs-controller"),),
            converts=(
                "rolebasedgroups.workloads.x-k8s.io",
                "rolebasedgroupsets.workloads.x-k8s.io",
            ),
        ),
        Other(
            "isvc",
            "ome-controller-manager",
            "ome-controller-manager-leader-lock",
            "ome-webhook-server-service",
            (
                (MUTATING, "inferenceservice.ome.io", "ome.io"),
                (VALIDATING, "inferenceservice.ome.io", "ome.io"),
                (VALIDATING, "benchmarkjob.ome.io", "ome.io"),
            ),
            (("control-plane", "ome-controller-manager"),),
            replicas=3,
        ),
    )
}
