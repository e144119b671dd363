"""
Webhook configurations, parsed once, since every write needs them.

Stored configurations are defaulted and valid, but a store may come from an
older file, so missing settings have the defaults of the API here as well.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kohort.apiserver.admission.rules import Condition, Rule, read_condition, read_rule
from kohort.cluster.objects import Object, name_of
from kohort.cluster.selectors import LabelSelector, read_label_selector

TIMEOUT_SECONDS = 10
REVIEW_VERSIONS = ("v1", "v1beta1")
_WITHOUT_EFFECTS = ("None", "NoneOnDryRun")

Resolve = Callable[[str, str, int], str]  # namespace, name, port -> https://host:port


@dataclass(frozen=True, slots=True)
class Client:
    """The clientConfig of a webhook: a URL, or a Service."""

    url: str = ""  # for services: the address in messages
    service: tuple[str, str, int] | None = None  # namespace, name, port
    path: str = ""  # services only
    ca: bytes = b""

    @property
    def server_name(self) -> str:
        """The name that a Service's certificate must have; empty for URLs."""
        return f"{self.service[1]}.{self.service[0]}.svc" if self.service else ""

    def locate(self, resolve: Resolve) -> str:
        """The URL to call."""
        if self.service is None:
            return self.url
        return resolve(*self.service).rstrip("/") + self.path


@dataclass(frozen=True, slots=True, eq=False)
class Webhook:
    """One webhook, parsed; compared by identity."""

    name: str
    client: Client
    rules: tuple[Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    conditions: tuple[Condition, ...]
    review_version: str  # empty if the webhook accepts no version that the server speaks
    timeout_seconds: int
    takes_equivalents: bool
    ignores_failures: bool
    has_side_effects: bool
    is_reinvoked: bool


def read_webhooks(configurations: Iterable[Object]) -> tuple[Webhook, ...]:
    """All webhooks in the order in which the server calls them."""
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
    """Read the clientConfig of a webhook."""
    ca = b64decode(client.get("caBundle") or "")
    service = client.get("service")
    if not service:
        return Client(url=client.get("url") or "", ca=ca)
    namespace, name, port = service["namespace"], service["name"], service.get("port") or 443
    path = "/" + (service.get("path") or "").lstrip("/")
    url = f"https://{name}.{namespace}.svc:{port}{path}"
    return Client(url, (namespace, name, port), path, ca)
