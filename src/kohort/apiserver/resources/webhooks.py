"""Configurations of admission webhooks, as built-in kinds."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.printers import AGE, NAME, make_printer, shown
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    invalid,
    required,
    unsupported,
)
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.apiserver.resources.validation.selectors import validate_selector
from kohort.apiserver.schemas.cel.conditions import compile_condition
from kohort.apiserver.schemas.cel.environment import ExpressionError
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_dns_1035, check_port, check_qualified, check_subdomain
from kohort.cluster.objects import Kind, Object

_VERSIONS = ("v1", "v1beta1")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_EFFECTS = ("None", "NoneOnDryRun")
_FORM = "desired format: https://host[/path]"
_LISTS = (
    ("operations", "operations"),
    ("apiGroups", "API groups"),
    ("apiVersions", "API versions"),
)
Check = Callable[[Object, Object | None], list[FieldError]]
WEBHOOK_CONFIGURATIONS = make_printer(
    NAME, shown("Webhooks", lambda obj: len(obj.get("webhooks") or []), type="integer"), AGE
)
_GROUP = "admissionregistration.k8s.io"
MUTATING_WEBHOOKS = Kind(
    _GROUP, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False
)
VALIDATING_WEBHOOKS = Kind(
    _GROUP, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
_EXTENSIONS = ("api-extensions",)


def default_validating_webhooks(configuration: Object) -> None:
    """Set the defaults of validating webhooks."""
    for webhook in configuration.get("webhooks") or ():
        _default_webhook(webhook)


def default_mutating_webhooks(configuration: Object) -> None:
    """Set the defaults of mutating webhooks."""
    for webhook in configuration.get("webhooks") or ():
        _default_webhook(webhook)
        webhook.setdefault("reinvocationPolicy", "Never")


def _default_webhook(webhook: Object) -> None:
    webhook.setdefault("failurePolicy", "Fail")
    webhook.setdefault("matchPolicy", "Equivalent")
    webhook.setdefault("namespaceSelector", {})
    webhook.setdefault("objectSelector", {})
    webhook.setdefault("timeoutSeconds", 10)
    client = webhook.setdefault("clientConfig", {})
    if client.get("service") is not None:
        client["service"].setdefault("port", 443)
    for rule in webhook.get("rules") or ():
        rule.setdefault("scope", "*")


def webhooks_of(kind: Kind) -> Check:
    """The check of webhook configurations of one kind."""

    def validate(configuration: Object, old: Object | None) -> list[FieldError]:
        if old is None:
            faults = validate_metadata(configuration, kind)
        else:
            faults = validate_metadata_update(configuration, old)
        names: set[str] = set()
        for index, webhook in enumerate(configuration.get("webhooks") or ()):
            faults += _validate_webhook(webhook, f"webhooks[{index}]")
            name = webhook.get("name") or ""
            if name and name in names:
                faults.append(invalid(f"webhooks[{index}].name", name, "must be unique"))
            names.add(name)
        return faults

    return validate


def _validate_webhook(webhook: Object, path: str) -> list[FieldError]:
    faults = _validate_name(webhook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        faults += _validate_rule(rule, f"{path}.rules[{index}]")
    faults += check_choice(
        f"{path}.failurePolicy", webhook.get("failurePolicy"), ("Fail", "Ignore")
    )
    faults += check_choice(
        f"{path}.matchPolicy", webhook.get("matchPolicy"), ("Equivalent", "Exact")
    )
    effects = webhook.get("sideEffects")
    if effects is None:
        why = "must specify one of None, NoneOnDryRun"
        faults.append(required(f"{path}.sideEffects", why))
    else:
        faults += check_choice(f"{path}.sideEffects", effects, _EFFECTS)
    seconds = webhook.get("timeoutSeconds", 10)
    if not 1 <= seconds <= 30:
        why = "the timeout value must be between 1 and 30 seconds"
        faults.append(invalid(f"{path}.timeoutSeconds", seconds, why))
    for field in ("namespaceSelector", "objectSelector"):
        faults += validate_selector(webhook.get(field), f"{path}.{field}")
    policy = webhook.get("reinvocationPolicy")
    if policy is not None:
        where = f"{path}.reinvocationPolicy"
        faults += check_choice(where, policy, ("IfNeeded", "Never"))
    faults += validate_client(webhook.get("clientConfig") or {}, f"{path}.clientConfig")
    faults += _validate_versions(
        webhook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions"
    )
    return faults + _validate_conditions(webhook.get("matchConditions") or [], path)


def _validate_name(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    faults = [invalid(path, name, why) for why in check_subdomain(name)]
    if not faults and name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        faults.append(invalid(path, name, why))
    return faults


def _validate_versions(versions: list[str], path: str) -> list[FieldError]:
    if not versions:
        return [required(path, f"must specify one of {', '.join(_VERSIONS)}")]
    faults: list[FieldError] = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            faults.append(invalid(f"{path}[{index}]", version, "duplicate version"))
        faults += [invalid(f"{path}[{index}]", version, why) for why in check_dns_1035(version)]
    if not faults and not set(versions) & set(_VERSIONS):
        why = f"must include at least one of {', '.join(_VERSIONS)}"
        faults.append(invalid(path, versions, why))
    return faults


def _validate_rule(rule: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for field, words in _LISTS:
        entries = rule.get(field) or []
        if not entries:
            faults.append(required(f"{path}.{field}"))
        if len(entries) > 1 and "*" in entries:
            why = f"if '*' is present, must not specify other {words}"
            faults.append(invalid(f"{path}.{field}", entries, why))
        if field == "operations":
            faults += [
                unsupported(f"{path}.operations[{index}]", operation, _OPERATIONS)
                for index, operation in enumerate(entries)
                if operation not in _OPERATIONS
            ]
    faults += _validate_resources(rule.get("resources") or [], f"{path}.resources")
    return faults + check_choice(f"{path}.scope", rule.get("scope"), _SCOPES)


def _validate_resources(resources: list[str], path: str) -> list[FieldError]:
    if not resources:
        return [required(path)]
    if "*/*" in resources and len(resources) > 1:
        why = "if '*/*' is present, must not specify other resources"
        return [invalid(path, resources, why)]
    plain = [name for name in resources if "/" not in name]
    if "*" in plain and plain[-1] != "*":  # Like a real server, only the last one is checked.
        why = "if '*' is present, must not specify other resources without subresources"
        return [invalid(path, resources, why)]
    return [invalid(f"{path}[{i}]", "", "") for i, name in enumerate(resources) if not name]


def validate_client(client: Object, path: str) -> list[FieldError]:
    """The errors in the clientConfig of a webhook."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return _validate_url(url, f"{path}.url")
    assert service is not None
    return _validate_service(service, f"{path}.service")


def _validate_url(url: str, path: str) -> list[FieldError]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return [invalid(path, url, f"url must be a valid URL; {_FORM}")]
    faults: list[FieldError] = []
    if parts.scheme != "https":
        why = f"'https' is the only allowed URL scheme; {_FORM}"
        faults.append(invalid(path, parts.scheme, why))
    if not parts.hostname:
        faults.append(invalid(path, parts.hostname or "", f"host must be specified; {_FORM}"))
    if parts.username is not None:
        user = parts.netloc.rpartition("@")[0]
        faults.append(invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        faults.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        why = "query parameters are not permitted in the URL"
        faults.append(invalid(path, parts.query, why))
    return faults


def _validate_service(service: Object, path: str) -> list[FieldError]:
    faults = [
        required(f"{path}.{field}") for field in ("name", "namespace") if not service.get(field)
    ]
    port = service.get("port")
    faults += [
        invalid(f"{path}.port", port, f"port is not valid: {why}") for why in check_port(port)
    ]
    where = service.get("path")
    return faults + (_validate_path(where, f"{path}.path") if where else [])


def _validate_path(address: str, path: str) -> list[FieldError]:
    if address == "/":
        return []
    if "//" in f"/{address}" and not address.strip("/"):
        return [invalid(path, address, "segment[0] may not be empty")]
    faults: list[FieldError] = []
    if not address.startswith("/"):
        faults.append(invalid(path, address, "must start with a '/'"))
    segments = address[1:].removesuffix("/").split("/")
    for index, segment in enumerate(segments):
        if not segment:
            faults.append(invalid(path, address, f"segment[{index}] may not be empty"))
            continue
        for why in check_subdomain(segment):
            faults.append(invalid(path, address, f"segment[{index}]: {why}"))
    return faults


def _validate_conditions(conditions: list[Any], path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, condition in enumerate(conditions):
        where = f"{path}.matchConditions[{index}]"
        expression = condition.get("expression")
        if not expression:
            faults.append(required(f"{where}.expression"))
        else:
            faults += _validate_expression(expression, f"{where}.expression")
        name = condition.get("name") or ""
        if not name:
            faults.append(required(f"{where}.name"))
        else:
            faults += [invalid(f"{where}.name", name, why) for why in check_qualified(name)]
    return faults


def _validate_expression(expression: str, path: str) -> list[FieldError]:
    try:
        compile_condition(expression)
    except ExpressionError as error:
        return [invalid(path, expression, str(error))]
    return []


KINDS = (
    BuiltinKind(
        MUTATING_WEBHOOKS,
        (),
        _EXTENSIONS,
        Behaviour(validate=webhooks_of(MUTATING_WEBHOOKS), default=default_mutating_webhooks),
        WEBHOOK_CONFIGURATIONS,
        has_generation=True,
    ),
    BuiltinKind(
        VALIDATING_WEBHOOKS,
        (),
        _EXTENSIONS,
        Behaviour(validate=webhooks_of(VALIDATING_WEBHOOKS), default=default_validating_webhooks),
        WEBHOOK_CONFIGURATIONS,
        has_generation=True,
    ),
)
