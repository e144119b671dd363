"""
Webhook configurations, from the webhooks that the APIs have.

Every field is written out, those with defaults too: what the server stores is then
what was sent, and a comparison needs no knowledge of the server.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kohort.apis.api import Api, Webhook
from kohort.cluster.objects import Object
from kohort.controller.install.names import (
    LABELS,
    MUTATING_KIND,
    NAMESPACE,
    VALIDATING_KIND,
    WEBHOOK_SERVICE,
)

TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the server finds the webhooks, and whom it trusts there."""

    url: str = ""  # such as https://127.0.0.1:9443; a service of the cluster if empty
    namespace: str = NAMESPACE
    ca_bundle: bytes = b""  # PEM

    def write(self, path: str) -> Object:
        """How to reach one path."""
        place: Object = {"url": f"{self.url.rstrip('/')}{path}"}
        if not self.url:
            service = {"name": WEBHOOK_SERVICE, "namespace": self.namespace}
            place = {"service": {**service, "path": path, "port": 443}}
        if self.ca_bundle:
            place["caBundle"] = b64encode(self.ca_bundle).decode()
        return place


def write_configurations(apis: Sequence[Api], endpoint: Endpoint) -> list[Object]:
    """The webhook configurations of all APIs; an API without webhooks has none."""
    return [found for api in apis for found in _write_both(api, endpoint)]


def configuration_names(apis: Sequence[Api]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the mutating and of the validating configurations."""
    made = write_configurations(apis, Endpoint())
    names = {
        kind: tuple(obj["metadata"]["name"] for obj in made if obj["kind"] == kind)
        for kind in (MUTATING_KIND.name, VALIDATING_KIND.name)
    }
    return names[MUTATING_KIND.name], names[VALIDATING_KIND.name]


def _write_both(api: Api, endpoint: Endpoint) -> Iterator[Object]:
    for kind, word, mutates in (
        (MUTATING_KIND, "mutating", True),
        (VALIDATING_KIND, "validating", False),
    ):
        # A webhook without operations is served for other people's configurations only.
        chosen = [hook for hook in api.webhooks if hook.operations and hook.mutates is mutates]
        if chosen:
            name = f"{api.short_name}-{word}-webhook-configuration"
            yield {
                "apiVersion": kind.api_version,
                "kind": kind.name,
                "metadata": {"name": name, "labels": dict(LABELS)},
                "webhooks": [_write_webhook(hook, endpoint) for hook in chosen],
            }


def _write_webhook(hook: Webhook, endpoint: Endpoint) -> Object:
    written: Object = {
        "name": hook.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": endpoint.write(hook.path),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": hook.selector or {},
        "rules": [
            {
                "apiGroups": [hook.kind.group],
                "apiVersions": [hook.kind.version],
                "operations": list(hook.operations),
                "resources": [hook.kind.plural],
                "scope": "*",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    if hook.mutates:
        written["reinvocationPolicy"] = "Never"
    return written
