"""Validation of a container's probes and lifecycle hooks."""

from typing import Any

from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_not_negative,
    forbidden,
    invalid,
    required,
)
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_port, check_port_name
from kohort.cluster.objects import Object

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_NUMBERS = (
    *("initialDelaySeconds", "timeoutSeconds", "periodSeconds"),
    *("successThreshold", "failureThreshold"),
)
_SCHEMES = ("HTTP", "HTTPS")


def validate_lifecycle(container: Object, path: str) -> list[FieldError]:
    """The errors in the hooks of a container."""
    lifecycle = container.get("lifecycle")
    if not lifecycle:
        return []
    faults: list[FieldError] = []
    for field in ("postStart", "preStop"):
        if lifecycle.get(field) is not None:
            faults += _validate_handler(lifecycle[field], f"{path}.lifecycle.{field}")
    return faults


def validate_probes(container: Object, path: str) -> list[FieldError]:
    """The errors in the probes of a container."""
    faults: list[FieldError] = []
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(field)
        if probe is None:
            continue
        faults += _validate_probe(probe, f"{path}.{field}")
        if field != "readinessProbe" and probe.get("successThreshold", 1) != 1:
            where = f"{path}.{field}.successThreshold"
            faults.append(invalid(where, probe["successThreshold"], "must be 1"))
    return faults


def _validate_probe(probe: Object, path: str) -> list[FieldError]:
    faults = _validate_handler(probe, path)
    for field in _NUMBERS:
        faults += check_not_negative(f"{path}.{field}", probe.get(field))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        where = f"{path}.terminationGracePeriodSeconds"
        faults.append(invalid(where, grace, "must be greater than 0"))
    return faults


def _validate_handler(handler: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    count = 0
    for field in _HANDLERS:
        settings = handler.get(field)
        if settings is None:
            continue
        count += 1
        if count > 1:
            why = "may not specify more than 1 handler type"
            faults.append(forbidden(f"{path}.{field}", why))
        else:
            faults += _validate_settings(field, settings, f"{path}.{field}")
    if not count:
        faults.append(required(path, "must specify a handler type"))
    return faults


def _validate_settings(field: str, settings: Object, path: str) -> list[FieldError]:
    if field == "exec":
        return [] if settings.get("command") else [required(f"{path}.command")]
    if field == "sleep":
        return []
    faults: list[FieldError] = []
    if field == "httpGet" and not settings.get("path"):
        faults.append(required(f"{path}.path"))
    faults += _validate_port(settings.get("port"), f"{path}.port")
    if field == "httpGet":
        faults += check_choice(f"{path}.scheme", settings.get("scheme"), _SCHEMES)
    return faults


def _validate_port(port: Any, path: str) -> list[FieldError]:
    complaints = check_port_name(port) if isinstance(port, str) else check_port(port or 0)
    return [invalid(path, port or (port if port == "" else 0), why) for why in complaints]
