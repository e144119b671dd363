"""
Webhook configurations, read once into what is asked on every write.

Stored configurations are defaulted and valid, but a store may come from an
older file, so missing settings have the defaults of the API here as well.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kohort.cluster.objects import Object, name_of
from kohort.cluster.selectors import LabelSelector, read_label_selector
from kohort.simulator.admission.rules import Condition, Rule, read_condition, read_rule

TIMEOUT_SECONDS = 10
REVIEW_VERSIONS = ("v1", "v1beta1")
_WITHOUT_EFFECTS = ("None", "NoneOnDryRun")

Resolve = Callable[[str, str, int], str]  # namespace, name, port -> https://host:port


@dataclass(frozen=True, slots=True)
class Client:
    """Where a webhook is: at a URL, or behind a service."""

    url: str = ""  # for services: how messages name the place
    service: tuple[str, str, int] | None = None  # namespace, name, port
    path: str = ""  # services only
    ca: bytes = b""

    @property
    def server_name(self) -> str:
        """The name that the certificate of a service must carry; empty for URLs."""
        return f"{self.service[1]}.{self.service[0]}.svc" if self.service else ""

    def locate(self, resolve: Resolve) -> str:
        """The address to call."""
        if self.service is None:
            return self.url
        return resolve(*self.service).rstrip("/") + self.path


@dataclass(frozen=True, slots=True, eq=False)
class Webhook:
    """One webhook, ready to be asked. Two of them are never the same."""

    name: str
    client: Client
    rules: tuple[Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    conditions: tuple[Condition, ...]
    review_version: str  # empty if the webhook knows none of ours
    timeout_seconds: int
    takes_equivalents: bool
    ignores_failures: bool
    has_side_effects: bool
    is_reinvoked: bool


def read_webhooks(configurations: Iterable[Object]) -> tuple[Webhook, ...]:
    """All webhooks in the order in which they are asked."""
    ordered = sorted(configurations, key=name_of)
    return tuple(
        read_webhook(webhook)
        for configuration in ordered
        for webhook in configuration.get("webhooks") or ()
    )


def read_webhook(webhook: Object) -> Webhook:
    """One webhook of a configuration."""
    versions = webhook.get("admissionReviewVersions") or ()
    return Webhook(
        name=webhook["name"],
        client=read_client(webhook.get("clientConfig") or {}),
        rules=tuple(read_rule(rule) for rule in webhook.get("rules") or ()),
        namespaces=read_label_selector(webhook.get("namespaceSelector")),
        objects=read_label_selector(webhook.get("objectSelector")),
        conditions=tuple(read_condition(c) for c in webhook.get("matchConditions") or ()),
        review_version=next((v for v in versions if v in REVIEW_VERSIONS), ""),
        timeout_seconds=webhook.get("timeoutSeconds") or TIMEOUT_SECONDS,
        takes_equivalents=webhook.get("matchPolicy", "Equivalent") == "Equivalent",
        ignores_failures=webhook.get("failurePolicy") == "Ignore",
        has_side_effects=webhook.get("sideEffects") not in _WITHOUT_EFFECTS,
        is_reinvoked=webhook.get("reinvocationPolicy") == "IfNeeded",
    )


def read_client(client: Object) -> Client:
    """Where a webhook is, from what its configuration says."""
    ca = b64decode(client.get("caBundle") or "")
    service = client.get("service")
    if not service:
        return Client(url=client.get("url") or "", ca=ca)
    namespace, name, port = service["namespace"], service["name"], service.get("port") or 443
    path = "/" + (service.get("path") or "").lstrip("/")
    url = f"https://{name}.{namespace}.svc:{port}{path}"
    return Client(url, (namespace, name, port), path, ca)
