"""
The operator's configuration for this API: a ConfigMap whose values are JSON.

A key that cannot be parsed, or a field of another type, is an error that names it: a default
instead could expose services in another way than the administrator wrote. New pods read only the
keys that their annotations ask for, so that a mistake in another key does not keep a lost pod away.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from kohort.apis.inferenceservice import labels, names, reasons
from kohort.apis.inferenceservice.fields import (
    find_number,
    parse_object,
    read_flag,
    read_object,
    read_text,
    read_texts,
)
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import DeploymentMode, InferenceService
from kohort.cluster.objects import Object, encode_json

DOMAIN_TEMPLATE = "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}"
_DEFAULT_MODES = (DeploymentMode.RAW, DeploymentMode.SERVERLESS)
_WORDS: dict[type, str] = {str: "a text", bool: "true or false", int: "a number", list: "a list"}
_INGRESS_TYPES: dict[str, type] = {
    **dict.fromkeys(("ingressGateway", "ingressService", "localGateway"), str),
    **dict.fromkeys(("localGatewayService", "knativeLocalGatewayService"), str),
    **dict.fromkeys(("omeIngressGateway", "ingressDomain", "ingressClassName"), str),
    **dict.fromkeys(("domainTemplate", "urlScheme", "pathTemplate"), str),
    **dict.fromkeys(("disableIstioVirtualHost", "disableIngressCreation"), bool),
    "enableGatewayAPI": bool,
    "additionalIngressDomains": list,
}
_PROBER_TYPES: dict[str, type] = {
    **dict.fromkeys(("image", "cpuRequest", "cpuLimit", "memoryRequest", "memoryLimit"), str),
    **dict.fromkeys(("startupFailureThreshold", "startupPeriodSeconds"), int),
    **dict.fromkeys(("startupTimeoutSeconds", "startupInitialDelaySeconds"), int),
    "unavailableThresholdSeconds": int,
}


@dataclass(frozen=True, slots=True)
class IngressConfig:
    """How clients outside the cluster reach services."""

    gateway: str = ""
    gateway_service: str = ""
    local_gateway: str = ""
    local_gateway_service: str = ""
    knative_gateway_service: str = ""
    ome_gateway: str = ""  # namespace/name of a Gateway
    domain: str = "example.com"
    class_name: str = ""
    additional_domains: tuple[str, ...] = ()
    domain_template: str = DOMAIN_TEMPLATE
    url_scheme: str = "http"
    path_template: str = ""
    is_virtual_host_disabled: bool = False
    is_disabled: bool = False
    uses_gateway_api: bool = False


@dataclass(frozen=True, slots=True)
class ProberConfig:
    """The container that probes whether a Ray cluster serves."""

    image: str = ""
    requests: Object = field(default_factory=dict)
    limits: Object = field(default_factory=dict)
    startup: Object = field(default_factory=dict)
    unavailable_seconds: int = 600


@dataclass(frozen=True, slots=True)
class Configuration:
    """The administrator's settings for this API."""

    default_mode: DeploymentMode = DeploymentMode.RAW
    ingress: IngressConfig = IngressConfig()
    prober: ProberConfig = ProberConfig()
    metrics: Object = field(default_factory=dict)
    model_init: Object | None = None
    adapter: Object | None = None
    sidecar: Object | None = None
    cluster_domain: str = "cluster.local"


def read_configuration(config_map: Object | None) -> Configuration:
    """Read the ConfigMap; raises ServiceError if it is missing or a key is invalid."""
    if config_map is None:
        raise _broken(
            f"ConfigMap {names.CONFIGURATION} is missing in namespace "
            f"{names.CONTROLLER_NAMESPACE}: create it"
        )
    data = read_object(config_map, "data")
    return Configuration(
        default_mode=_read_mode(_read_json(data, "deploy")),
        ingress=_read_ingress(_read_json(data, "ingress")),
        prober=_read_prober(_read_json(data, "multinodeProber") or {}),
        metrics=_read_json(data, "metricsAggregator") or {},
        model_init=_read_json(data, "modelInit"),
        adapter=_read_json(data, "fineTunedAdapter"),
        sidecar=_read_json(data, "servingSidecar"),
    )


def read_pod_configuration(config_map: Object | None, notes: Mapping[str, str]) -> Configuration:
    """What a new pod with these annotations reads; raises ServiceError if a key is invalid."""
    data = read_object(config_map or {}, "data")
    asked = {
        "modelInit": notes.get(labels.INJECT_MODEL_INIT) == "true",
        "fineTunedAdapter": bool(notes.get(labels.INJECT_ADAPTER)),
        "servingSidecar": notes.get(labels.INJECT_SIDECAR) == "true",
    }
    found = {key: _read_json(data, key) for key, is_asked in asked.items() if is_asked}
    return Configuration(
        metrics=parse_object(read_text(data, "metricsAggregator")) or {},
        model_init=found.get("modelInit"),
        adapter=found.get("fineTunedAdapter"),
        sidecar=found.get("servingSidecar"),
    )


def _broken(message: str) -> ServiceError:
    return ServiceError(reasons.INTERNAL, message)


def _read_json(data: Object, key: str) -> Object | None:
    text = data.get(key)
    if text is None:
        return None
    try:
        found: Any = orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError) as error:
        raise _broken(
            f"key {key} of ConfigMap {names.CONFIGURATION} is not JSON ({error}): correct it"
        ) from error
    if not isinstance(found, dict):
        raise _broken(f"key {key} of ConfigMap {names.CONFIGURATION} must be a JSON object")
    return found


def _check_types(key: str, raw: Object, types: Mapping[str, type]) -> None:
    """Raises ServiceError for a field of another type; as in Go, null stands for none."""
    for name, wanted in types.items():
        found = raw.get(name)
        if found is not None and type(found) is not wanted:
            text = encode_json(found).decode()
            raise _broken(
                f"{name} in key {key} of ConfigMap {names.CONFIGURATION} must be "
                f"{_WORDS[wanted]}, not {text}"
            )


def _read_mode(raw: Object | None) -> DeploymentMode:
    _check_types("deploy", raw or {}, {"defaultDeploymentMode": str})
    text = read_text(raw or {}, "defaultDeploymentMode")
    if not text:
        return DeploymentMode.RAW
    if text not in _DEFAULT_MODES:
        raise _broken(
            f"defaultDeploymentMode of ConfigMap {names.CONFIGURATION} must be "
            f"{' or '.join(_DEFAULT_MODES)}, not {text!r}"
        )
    return DeploymentMode(text)


def _read_ingress(raw: Object | None) -> IngressConfig:
    if raw is None:
        return IngressConfig()
    _check_types("ingress", raw, _INGRESS_TYPES)
    missing = [name for name in ("ingressGateway", "ingressService") if not read_text(raw, name)]
    if missing:
        raise _broken(
            f"key ingress of ConfigMap {names.CONFIGURATION} lacks {' and '.join(missing)}"
        )
    path, domain = read_text(raw, "pathTemplate"), read_text(raw, "ingressDomain")
    if path and not domain:
        raise _broken(
            f"key ingress of ConfigMap {names.CONFIGURATION}: pathTemplate needs ingressDomain"
        )
    return IngressConfig(
        gateway=read_text(raw, "ingressGateway"),
        gateway_service=read_text(raw, "ingressService"),
        local_gateway=read_text(raw, "localGateway"),
        local_gateway_service=read_text(raw, "localGatewayService"),
        knative_gateway_service=read_text(raw, "knativeLocalGatewayService"),
        ome_gateway=read_text(raw, "omeIngressGateway"),
        domain=domain or "example.com",
        class_name=read_text(raw, "ingressClassName"),
        additional_domains=read_texts(raw, "additionalIngressDomains"),
        domain_template=read_text(raw, "domainTemplate") or DOMAIN_TEMPLATE,
        url_scheme=read_text(raw, "urlScheme") or "http",
        path_template=path,
        is_virtual_host_disabled=read_flag(raw, "disableIstioVirtualHost"),
        is_disabled=read_flag(raw, "disableIngressCreation"),
        uses_gateway_api=read_flag(raw, "enableGatewayAPI"),
    )


def _read_prober(raw: Object) -> ProberConfig:
    _check_types("multinodeProber", raw, _PROBER_TYPES)
    startup = {
        "failureThreshold": find_number(raw, "startupFailureThreshold") or 120,
        "periodSeconds": find_number(raw, "startupPeriodSeconds") or 30,
        "timeoutSeconds": find_number(raw, "startupTimeoutSeconds") or 60,
        "initialDelaySeconds": find_number(raw, "startupInitialDelaySeconds") or 200,
    }
    pairs = {"cpu": "cpu", "memory": "memory"}
    return ProberConfig(
        image=read_text(raw, "image"),
        requests={n: raw[f"{key}Request"] for n, key in pairs.items() if raw.get(f"{key}Request")},
        limits={n: raw[f"{key}Limit"] for n, key in pairs.items() if raw.get(f"{key}Limit")},
        startup=startup,
        unavailable_seconds=find_number(raw, "unavailableThresholdSeconds") or 600,
    )


def resolve_ingress(config: IngressConfig, service: InferenceService) -> IngressConfig:
    """The ingress of one service: its annotations override the configuration."""
    notes = service.annotations
    domains = notes.get(labels.INGRESS_ADDITIONAL_DOMAINS)
    return IngressConfig(
        gateway=config.gateway,
        gateway_service=config.gateway_service,
        local_gateway=config.local_gateway,
        local_gateway_service=config.local_gateway_service,
        knative_gateway_service=config.knative_gateway_service,
        ome_gateway=config.ome_gateway,
        domain=notes.get(labels.INGRESS_DOMAIN) or config.domain,
        class_name=config.class_name,
        additional_domains=(
            config.additional_domains
            if domains is None
            else tuple(text.strip() for text in domains.split(",") if text.strip())
        ),
        domain_template=notes.get(labels.INGRESS_DOMAIN_TEMPLATE) or config.domain_template,
        url_scheme=notes.get(labels.INGRESS_URL_SCHEME) or config.url_scheme,
        path_template=notes.get(labels.INGRESS_PATH_TEMPLATE) or config.path_template,
        is_virtual_host_disabled=_override(
            notes.get(labels.INGRESS_DISABLE_VIRTUAL_HOST), config.is_virtual_host_disabled
        ),
        is_disabled=_override(notes.get(labels.INGRESS_DISABLE_CREATION), config.is_disabled),
        uses_gateway_api=config.uses_gateway_api,
    )


def _override(text: str | None, usual: bool) -> bool:
    return usual if text is None else text.strip().lower() == "true"
