"""Validation of containers: names, images, ports, mounts, probes, lifecycle and privileges."""

from collections.abc import Container, Iterable
from typing import Any

from kohort.apiserver.resources.pods.amounts import validate_resources
from kohort.apiserver.resources.pods.variables import validate_variables
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_not_negative,
    duplicate,
    forbidden,
    invalid,
    not_found,
    ordered,
    required,
)
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_label, check_port, check_port_name
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


_ID_MAX = 2**31 - 1
_BAD_ID = f"must be between 0 and {_ID_MAX}, inclusive"
# Messages show values of this type with the names of its Go fields.
_SHOWN = (
    *("Capabilities", "Privileged", "SELinuxOptions", "WindowsOptions", "RunAsUser"),
    *("RunAsGroup", "RunAsNonRoot", "ReadOnlyRootFilesystem", "AllowPrivilegeEscalation"),
    *("ProcMount", "SeccompProfile", "AppArmorProfile"),
)


def validate_pod_security(context: Object, path: str) -> list[FieldError]:
    """The errors in the security context of a pod."""
    faults: list[FieldError] = []
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        faults += _validate_id(context.get(field), f"{path}.{field}")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        faults += _validate_id(group, f"{path}.supplementalGroups[{index}]")
    return faults


def validate_container_security(context: Object, path: str) -> list[FieldError]:
    """The errors in the security context of a container."""
    faults: list[FieldError] = []
    for field in ("runAsUser", "runAsGroup"):
        faults += _validate_id(context.get(field), f"{path}.{field}")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            faults.append(invalid(path, _show(context), why))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            why = (
                "cannot set `allowPrivilegeEscalation` to false and "
                "`capabilities.Add` CAP_SYS_ADMIN"
            )
            faults.append(invalid(path, _show(context), why))
    return faults


def _show(context: Object) -> Any:
    given = {name[0].upper() + name[1:]: value for name, value in context.items()}
    given["SELinuxOptions"] = given.pop("SeLinuxOptions", None)
    return ordered({name: given.get(name) for name in _SHOWN})


def _validate_id(value: Any, path: str) -> list[FieldError]:
    if value is None or 0 <= value <= _ID_MAX:
        return []
    return [invalid(path, value, _BAD_ID)]


PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
_WATCHED = ("livenessProbe", "readinessProbe", "startupProbe")
_ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"


def validate_containers(spec: Object, path: str, volumes: Container[str]) -> list[FieldError]:
    """The errors in the containers of a pod, init containers included."""
    containers = spec.get("containers")
    if not containers:
        return [required(f"{path}.containers")]
    faults: list[FieldError] = []
    names: set[str] = set()
    on_host = bool(spec.get("hostNetwork"))
    for index, container in enumerate(containers):
        where = f"{path}.containers[{index}]"
        faults += _validate_name(container, where, names)
        faults += _validate_container(container, where, volumes, on_host)
        faults += validate_lifecycle(container, where)
        faults += validate_probes(container, where)
    for index, container in enumerate(spec.get("initContainers") or ()):
        where = f"{path}.initContainers[{index}]"
        faults += _validate_container(container, where, volumes, on_host)
        faults += _validate_init(container, where)
        faults += _validate_name(container, where, names)
    return faults


def _validate_name(container: Object, path: str, names: set[str]) -> list[FieldError]:
    name = container.get("name")
    if not name:
        return [required(f"{path}.name")]
    faults = [invalid(f"{path}.name", name, why) for why in check_label(name)]
    if name in names:
        faults.append(duplicate(f"{path}.name", name))
    names.add(name)
    return faults


def _validate_init(container: Object, path: str) -> list[FieldError]:
    if container.get("restartPolicy") == "Always":
        return validate_lifecycle(container, path) + validate_probes(container, path)
    return [
        forbidden(f"{path}.{field}", _ONLY_SIDECARS)
        for field in ("lifecycle", *_WATCHED)
        if container.get(field) is not None
    ]


def _validate_container(
    container: Object, path: str, volumes: Container[str], on_host: bool
) -> list[FieldError]:
    faults: list[FieldError] = []
    image = container.get("image")
    if not image:
        faults.append(required(f"{path}.image"))
    elif image != image.strip():
        why = "must not have leading or trailing whitespace"
        faults.append(invalid(f"{path}.image", image, why))
    faults += check_choice(
        f"{path}.terminationMessagePolicy",
        container.get("terminationMessagePolicy"),
        _MESSAGE_POLICIES,
    )
    if container.get("ports"):
        faults += _validate_ports(container["ports"], f"{path}.ports", on_host)
    if container.get("env") or container.get("envFrom"):
        faults += validate_variables(container, path)
    if container.get("volumeMounts"):
        faults += _validate_mounts(container["volumeMounts"], f"{path}.volumeMounts", volumes)
    policy = container.get("imagePullPolicy")
    faults += check_choice(f"{path}.imagePullPolicy", policy, _PULL_POLICIES)
    if container.get("resources"):
        faults += validate_resources(container["resources"], f"{path}.resources")
    if container.get("securityContext"):
        faults += validate_container_security(
            container["securityContext"], f"{path}.securityContext"
        )
    return faults


def _validate_ports(ports: Iterable[Object], path: str, on_host: bool) -> list[FieldError]:
    faults: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{path}[{index}]"
        name = port.get("name")
        if name:
            complaints = check_port_name(name)
            faults += [invalid(f"{where}.name", name, why) for why in complaints]
            if not complaints and name in names:
                faults.append(duplicate(f"{where}.name", name))
            names.add(name)
        faults += _validate_numbers(port, where, on_host)
        faults += check_choice(f"{where}.protocol", port.get("protocol"), PROTOCOLS)
    return faults


def _validate_numbers(port: Object, path: str, on_host: bool) -> list[FieldError]:
    number, host = port.get("containerPort"), port.get("hostPort")
    if not number:
        faults = [required(f"{path}.containerPort")]
    else:
        faults = [invalid(f"{path}.containerPort", number, why) for why in check_port(number)]
    if host:
        faults += [invalid(f"{path}.hostPort", host, why) for why in check_port(host)]
        if on_host and host != number:
            why = "must match `containerPort` when `hostNetwork` is true"
            faults.append(invalid(f"{path}.hostPort", host, why))
    return faults


def _validate_mounts(
    mounts: Iterable[Object], path: str, volumes: Container[str]
) -> list[FieldError]:
    faults: list[FieldError] = []
    points: set[str] = set()
    for index, mount in enumerate(mounts):
        name, point = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            faults.append(required(f"{path}[{index}].name"))
        if name not in volumes:
            faults.append(not_found(f"{path}[{index}].name", name))
        if not point:
            faults.append(required(f"{path}[{index}].mountPath"))
        if point in points:
            faults.append(invalid(f"{path}[{index}].mountPath", point, "must be unique"))
        points.add(point)
        # A real server's message has no index in this path.
        faults += validate_relative(mount.get("subPath") or "", f"{path}.subPath")
    return faults


def validate_relative(inner: str, path: str) -> list[FieldError]:
    """The errors in a relative path, which must not leave its volume."""
    faults: list[FieldError] = []
    if inner.startswith("/"):
        faults.append(invalid(path, inner, "must be a relative path"))
    if ".." in inner.split("/"):
        faults.append(invalid(path, inner, "must not contain '..'"))
    return faults
