"""
Webhook configurations, parsed once: the webhooks, and the rules for which writes each is called.

Stored configurations are defaulted and valid, but a store may come from an
older file, so missing settings have the defaults of the API here as well.

All functions here are pure: rules look at the kind and the operation, selectors at
labels, conditions at the whole request. Rules match all writes of a kind alike, so
callers may cache the result; selectors and conditions are evaluated for each write.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.cel.conditions import EvaluationError, compile_condition
from kohort.apiserver.schemas.cel.environment import ExpressionError
from kohort.cluster.errors import ClusterError, forbidden
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.selectors import LabelSelector, read_label_selector

ADMISSION_GROUP = "admissionregistration.k8s.io"
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a webhook: operations on kinds. A resource is a pair (plural, subresource)."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: frozenset[tuple[str, str]]
    scope: str = _ANY  # Cluster, Namespaced

    def matches(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Whether the rule matches such a write."""
        return (
            self._meets_scope(kind)
            and not self.operations.isdisjoint((operation, _ANY))
            and not self.groups.isdisjoint((kind.group, _ANY))
            and not self.versions.isdisjoint((kind.version, _ANY))
            and not self.resources.isdisjoint(
                (name, part) for name in (kind.plural, _ANY) for part in (subresource, _ANY)
            )
        )

    def _meets_scope(self, kind: Kind) -> bool:
        return self.scope == _ANY or (self.scope == "Namespaced") is kind.namespaced


def read_rule(rule: Object) -> Rule:
    """A rule of a webhook configuration."""
    resources = (text.partition("/") for text in rule.get("resources") or ())
    return Rule(
        frozenset(rule.get("operations") or ()),
        frozenset(rule.get("apiGroups") or ()),
        frozenset(rule.get("apiVersions") or ()),
        frozenset((plural, part) for plural, _, part in resources),
        rule.get("scope") or _ANY,
    )


def is_exempt(kind: Kind) -> bool:
    """Whether no webhook is called for the kind: else a broken webhook could not be repaired."""
    return kind.group == ADMISSION_GROUP


def find_form(
    rules: Sequence[Rule],
    operation: str,
    resource: Resource,
    subresource: str,
    equivalents: Iterable[Resource],
) -> Resource | None:
    """The version of the kind in which the rules match a write; None if they do not match.

    The version of the request comes first, then ``equivalents`` in the order of the rules.
    """
    if any(rule.matches(operation, resource.kind, subresource) for rule in rules):
        return resource
    others = [other for other in equivalents if other.kind != resource.kind]
    for rule in rules:
        for other in others:
            if rule.matches(operation, other.kind, subresource):
                return other
    return None


@dataclass(frozen=True, slots=True)
class Condition:
    """A match condition: its expression, and the compiled function."""

    expression: str
    holds: Callable[[dict[str, Any]], bool]


def read_condition(condition: Object) -> Condition:
    """Compile a match condition; one that does not compile fails at each evaluation."""
    expression = condition["expression"]
    try:
        return Condition(expression, compile_condition(expression))
    except ExpressionError as error:
        return Condition(expression, _failing(str(error)))


def _failing(why: str) -> Callable[[dict[str, Any]], bool]:
    def fail(values: dict[str, Any]) -> bool:
        raise EvaluationError(why)

    return fail


def hold_all(conditions: Iterable[Condition], values: dict[str, Any]) -> bool:
    """Whether all conditions hold; false if one is false, even if others fail.

    Raises ``EvaluationError`` if some fail and the others hold.
    """
    problems: list[str] = []
    for condition in conditions:
        try:
            if not condition.holds(values):
                return False
        except EvaluationError as error:
            problems.append(f"expression '{condition.expression}' resulted in error: {error}")
    if problems:
        raise EvaluationError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return True


def refuse_condition(kind: Kind, name: str, why: EvaluationError) -> ClusterError:
    """The error for a write for which a match condition could not be evaluated."""
    return forbidden(kind.plural, kind.group, name, str(why))


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
        namespaces=read_label_selector(webhook.get("namespaceSelector") or {}),
        objects=read_label_selector(webhook.get("objectSelector") or {}),
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
