"""
The operator's configuration file, read strictly.

The format is that of the upstream controller, so an existing deployment keeps its file.
Defaults are that controller's. An unknown field is refused, with the name of the nearest
known field: a setting that is silently ignored is worse than a process that does not
start.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from ipaddress import ip_address
from typing import Any

import yaml

from kohort.apis.served import read_apis
from kohort.cluster.durations import read_seconds
from kohort.cluster.errors import KohortError
from kohort.cluster.yaml_faults import describe_yaml_fault
from kohort.controller.certificates.live import SUITES, VERSIONS
from kohort.controller.install import names
from kohort.controller.process.gangs import find_known, read_gangs

API_VERSION = names.CONFIG_VERSION
KIND = "Configuration"
METRICS_PORT, HEALTH_PORT = 8443, 8081


class BadConfiguration(KohortError):
    """The configuration file cannot be used; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings of the configuration file."""

    webhook_host: str = ""
    webhook_port: int = 9443
    cert_dir: str = "/tmp/k8s-webhook-server/serving-certs"
    elects: bool = True
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0
    lease_name: str = names.LEASE
    metrics_address: str = ""  # empty: not set; place_pages chooses one
    health_address: str = ""
    readiness_path: str = "/readyz"
    liveness_path: str = "/healthz"
    tls_version: str = "VersionTLS12"
    tls_suites: tuple[str, ...] = ()
    keeps_certificates: bool = True
    service_name: str = names.WEBHOOK_SERVICE
    secret_name: str = names.SECRET
    qps: float = 500.0
    burst: int = 500
    scheduler: str = ""
    apis: tuple[str, ...] = ()  # names of the APIs to serve; empty: the default ones


def read_configuration(text: str) -> Configuration:
    """The configuration in the text of a file; raises BadConfiguration."""
    try:
        body = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        why = describe_yaml_fault(error)
        raise BadConfiguration(f"the configuration is no YAML: {why}") from error
    if not isinstance(body, dict):
        raise BadConfiguration("the configuration is no mapping")
    if (body.get("apiVersion"), body.get("kind")) != (API_VERSION, KIND):
        given = f"{body.get('kind')} of {body.get('apiVersion')}"
        raise BadConfiguration(f"expected a {KIND} of {API_VERSION}, not a {given}")
    sections = {key: value for key, value in body.items() if key not in (*_HEAD, _APIS)}
    told = _read_sections(sections)
    if body.get(_APIS) is not None:
        told["apis"] = _read_apis(body[_APIS])
    return check_configuration(replace(Configuration(), **told))


def _read_apis(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(n, str) for n in value):
        raise BadConfiguration(f"{_APIS} must be a list of names, not {value!r}")
    try:
        return read_apis(",".join(value))
    except ValueError as error:
        raise BadConfiguration(f"{_APIS}: {error}") from error


def check_configuration(configuration: Configuration) -> Configuration:
    """The same configuration, if its settings are consistent; raises BadConfiguration."""
    it = configuration
    if it.elects and not it.lease_seconds > it.renew_seconds > it.retry_seconds > 0:
        raise BadConfiguration(
            "leaderElection: leaseDuration must be longer than renewDeadline, and that longer "
            f"than retryPeriod, not {it.lease_seconds:g}, {it.renew_seconds:g} "
            f"and {it.retry_seconds:g} s"
        )
    if it.tls_suites and it.tls_version == "VersionTLS13":
        raise BadConfiguration("tls.cipherSuites cannot be chosen when minVersion is VersionTLS13")
    if it.tls_suites and it.keeps_certificates and not any("ECDSA" in s for s in it.tls_suites):
        raise BadConfiguration(
            "tls.cipherSuites: certificates of our own have ECDSA keys, so one suite with ECDSA "
            "is needed"
        )
    return it


def place_pages(configuration: Configuration, *, is_in_cluster: bool) -> Configuration:
    """
    The configuration with default addresses for pages that neither file nor flag sets.

    In a cluster kubelets and scrapers can reach them; elsewhere only this machine can.
    """
    it, host = configuration, "" if is_in_cluster else "127.0.0.1"
    placed = replace(
        it,
        metrics_address=it.metrics_address or f"{host}:{METRICS_PORT}",
        health_address=it.health_address or f"{host}:{HEALTH_PORT}",
    )
    is_shared = placed.metrics_address == placed.health_address not in ("0", "")
    if is_shared and not is_local(placed.metrics_address):
        raise BadConfiguration(
            f"metrics and health cannot share {placed.metrics_address}: other machines read "
            "metrics over HTTPS and with a token, and probes have neither"
        )
    return placed


def is_local(address: str) -> bool:
    """Whether only processes of this machine can reach a listen address."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_sections(sections: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, section in sections.items():
        fields = _SECTIONS.get(name)
        if fields is None:
            raise BadConfiguration(f"unknown field {name!r}{_suggest(name, (*_SECTIONS, _APIS))}")
        if section is not None and not isinstance(section, dict):
            raise BadConfiguration(f"{name} must be a mapping, not {section!r}")
        found |= _read_fields(name, fields, section or {})
        if name == "gangSchedulingManagement" and not found.get("scheduler"):
            raise BadConfiguration(f"{name}.schedulerProvider is required")
    return found


def _read_fields(
    section: str, fields: Mapping[str, "Field"], values: Mapping[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise BadConfiguration(f"unknown field '{section}.{name}'{_suggest(name, fields)}")
        target, read = fields[name]
        if value is None:
            continue
        try:
            taken = read(value)
        except ValueError as error:
            raise BadConfiguration(f"{section}.{name}: {error}") from error
        if target:
            found[target] = taken
    return found


def _suggest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def read_duration(value: Any) -> float:
    """Seconds, from a text such as 15s or 1m30s; a number without a unit is refused."""
    return read_seconds(value, needs_unit=True)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {value!r}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}, not {value!r}")
        return value

    return read


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"must be a number, not {value!r}")
    return float(value)


def _choice(*known: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in known:
            hint = _suggest(str(value), dict.fromkeys(known))
            raise ValueError(f"must be one of {', '.join(known)}, not {value!r}{hint}")
        return str(value)

    return read


def _gangs(value: Any) -> str:
    return read_gangs(_text(value), find_known())


def _suites(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list, not {value!r}")
    return tuple(_choice(*SUITES)(suite) for suite in value)


def read_address(value: Any) -> str:
    """A listen address: host:port or :port; "0" turns the page off."""
    text = _text(value)
    port = text.rpartition(":")[2]
    is_place = ":" in text and port.isdigit() and int(port) < 65_536
    if text not in ("0", "") and not is_place:
        raise ValueError(f"must be an address such as :8081, or 0 for none, not {value!r}")
    return text or "0"


Field = tuple[str, Callable[[Any], Any]]  # our field's name, and its reader
_HEAD = ("apiVersion", "kind")
_APIS = "apis"
_SECTIONS: dict[str, dict[str, Field]] = {
    "webhook": {
        "port": ("webhook_port", _whole(1, 65_535)),
        "host": ("webhook_host", _text),
        "certDir": ("cert_dir", _text),
    },
    "leaderElection": {
        "leaderElect": ("elects", _flag),
        "leaseDuration": ("lease_seconds", read_duration),
        "renewDeadline": ("renew_seconds", read_duration),
        "retryPeriod": ("retry_seconds", read_duration),
        "resourceLock": ("", _choice("leases")),
        "resourceName": ("lease_name", _text),
        "resourceNamespace": ("", _text),  # Ignored: the lease lies in the operator's namespace.
    },
    "metrics": {"bindAddress": ("metrics_address", read_address)},
    "health": {
        "healthProbeBindAddress": ("health_address", read_address),
        "readinessEndpointName": ("readiness_path", _text),
        "livenessEndpointName": ("liveness_path", _text),
    },
    "tls": {
        "minVersion": ("tls_version", _choice(*VERSIONS)),
        "cipherSuites": ("tls_suites", _suites),
    },
    "internalCertManagement": {
        "enable": ("keeps_certificates", _flag),
        "webhookServiceName": ("service_name", _text),
        "webhookSecretName": ("secret_name", _text),
    },
    "clientConnection": {"qps": ("qps", _number), "burst": ("burst", _whole(0, 2**31 - 1))},
    "gangSchedulingManagement": {"schedulerProvider": ("scheduler", _gangs)},
}
