"""
Webhook configurations and conversions of definitions, from the webhooks of the APIs.

Every field is written out, also fields with defaults: then the API server stores what was
sent, and the install can compare both without knowing the defaults.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kohort.apis.api import Api, Webhook
from kohort.apis.conversion import CONVERT_PATH, needs_conversion
from kohort.apis.home import Home
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind, Object, name_of
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
    """The URL or Service of the webhooks, and the CA that API servers trust there."""

    url: str = ""  # such as https://127.0.0.1:9443; empty: use the Service
    namespace: str = NAMESPACE
    ca_bundle: bytes = b""  # PEM

    def write(self, path: str) -> Object:
        """The clientConfig for one path."""
        place: Object = {"url": f"{self.url.rstrip('/')}{path}"}
        if not self.url:
            service = {"name": WEBHOOK_SERVICE, "namespace": self.namespace}
            place = {"service": {**service, "path": path, "port": 443}}
        if self.ca_bundle:
            place["caBundle"] = b64encode(self.ca_bundle).decode()
        return place


def write_definitions(apis: Sequence[Api], endpoint: Endpoint) -> list[Object]:
    """The definitions of all APIs; those with several versions name our conversion webhook."""
    # An API may need the definition of another one, too.
    made = dict.fromkeys(define for api in apis for define in api.definitions)
    return [_write_conversion(define(), endpoint) for define in made]


def _write_conversion(definition: Object, endpoint: Endpoint) -> Object:
    if not needs_conversion(definition):
        return definition
    client = endpoint.write(CONVERT_PATH)
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    return {**definition, "spec": {**definition["spec"], "conversion": conversion}}


def write_configurations(apis: Sequence[Api], endpoint: Endpoint) -> list[Object]:
    """The webhook configurations of all homes; a home without webhooks has none."""
    homes = dict.fromkeys(api.home for api in apis)
    return [
        found
        for home in homes
        for found in _write_both(home, [api for api in apis if api.home == home], endpoint)
    ]


def list_bundle_holders(apis: Sequence[Api]) -> list[tuple[Kind, str]]:
    """The kinds and names of all objects with a caBundle for our webhooks."""
    kinds = {kind.name: kind for kind in (MUTATING_KIND, VALIDATING_KIND)}
    made = write_configurations(apis, Endpoint())
    converted = [d for d in write_definitions(apis, Endpoint()) if "conversion" in d["spec"]]
    return [
        *((kinds[found["kind"]], name_of(found)) for found in made),
        *((DEFINITION, name_of(found)) for found in converted),
    ]


def _write_both(home: Home, apis: Sequence[Api], endpoint: Endpoint) -> Iterator[Object]:
    hooks = [hook for api in apis for hook in api.webhooks]
    for kind, usual, mutates in (
        (MUTATING_KIND, home.mutating_name, True),
        (VALIDATING_KIND, home.validating_name, False),
    ):
        by_name: dict[str, list[Webhook]] = {}
        for hook in hooks:
            # A webhook without operations serves configurations that Kohort does not write.
            if hook.operations and hook.mutates is mutates:
                by_name.setdefault(hook.configuration or usual, []).append(hook)
        for name, chosen in by_name.items():
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
        "namespaceSelector": hook.namespaces or {},
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
        written["reinvocationPolicy"] = hook.reinvocation
    return written
