"""Validation of the spec of a pod or a pod template."""

from kohort.apiserver.resources.pods.containers import validate_containers
from kohort.apiserver.resources.pods.placement import (
    validate_affinity,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from kohort.apiserver.resources.pods.security import validate_pod_security
from kohort.apiserver.resources.pods.volumes import validate_volumes
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    forbidden,
    invalid,
    required,
)
from kohort.apiserver.resources.validation.metadata import validate_annotations, validate_labels
from kohort.cluster.fields import FieldError
from kohort.cluster.names import (
    BAD_ADDRESS,
    check_label,
    check_subdomain,
    find_address,
)
from kohort.cluster.objects import Object

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_SECONDS_MAX = 2**31 - 1
# Fields that most pods lack, so that one test skips their validation.
_RARE = frozenset(
    {
        *("nodeSelector", "affinity", "topologySpreadConstraints", "schedulingGates", "nodeName"),
        *("activeDeadlineSeconds", "hostname", "subdomain", "hostAliases", "priorityClassName"),
        *("imagePullSecrets", "runtimeClassName"),
    }
)


def validate_template(template: Object, path: str) -> list[FieldError]:
    """The errors in a pod template."""
    metadata = template.get("metadata") or {}
    faults = validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    faults += validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    return faults + validate_pod_spec(template.get("spec") or {}, f"{path}.spec")


def validate_pod_spec(spec: Object, path: str) -> list[FieldError]:
    """The errors in a pod spec."""
    volumes = spec.get("volumes")
    faults, names = validate_volumes(volumes, f"{path}.volumes") if volumes else ([], set[str]())
    faults += validate_containers(spec, path, names)
    if spec.get("restartPolicy") not in _RESTART_POLICIES:
        policy = spec.get("restartPolicy")
        faults += check_choice(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    faults += _validate_dns(spec, path)
    if spec.get("securityContext"):
        faults += validate_pod_security(spec["securityContext"], f"{path}.securityContext")
    if not _RARE.isdisjoint(spec):
        faults += _validate_placement(spec, path) + _validate_names(spec, path)
    if spec.get("tolerations"):
        faults += validate_tolerations(spec["tolerations"], f"{path}.tolerations")
    if spec.get("hostAliases"):
        faults += _validate_aliases(spec["hostAliases"], f"{path}.hostAliases")
    if spec.get("priorityClassName"):
        faults += _check_subdomain(spec["priorityClassName"], f"{path}.priorityClassName")
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        faults += check_choice(f"{path}.preemptionPolicy", policy, _PREEMPTION_POLICIES)
    return faults


def _validate_dns(spec: Object, path: str) -> list[FieldError]:
    policy, config = spec.get("dnsPolicy"), spec.get("dnsConfig")
    faults = check_choice(f"{path}.dnsPolicy", policy, _DNS_POLICIES)
    if policy == "None":
        if config is None:
            why = "must provide `dnsConfig` when `dnsPolicy` is None"
            faults.append(required(f"{path}.dnsConfig", why))
        elif not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            faults.append(required(f"{path}.dnsConfig.nameservers", why))
    for index, address in enumerate((config or {}).get("nameservers") or ()):
        if find_address(address) is None:
            faults.append(invalid(f"{path}.dnsConfig.nameservers[{index}]", address, BAD_ADDRESS))
    return faults


def _validate_placement(spec: Object, path: str) -> list[FieldError]:
    faults = validate_labels(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    faults += validate_affinity(spec.get("affinity") or {}, f"{path}.affinity")
    spread = f"{path}.topologySpreadConstraints"
    faults += validate_spread(spec.get("topologySpreadConstraints") or [], spread)
    gates = spec.get("schedulingGates")
    if gates:
        faults += validate_gates(gates, f"{path}.schedulingGates")
        if spec.get("nodeName"):
            why = "cannot be set until all schedulingGates have been cleared"
            faults.append(forbidden(f"{path}.nodeName", why))
    return faults


def _validate_names(spec: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            faults.append(required(f"{path}.imagePullSecrets[{index}].name"))
    for field in ("serviceAccountName", "nodeName"):
        if spec.get(field):
            faults += _check_subdomain(spec[field], f"{path}.{field}")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _SECONDS_MAX:
        why = f"must be between 1 and {_SECONDS_MAX}, inclusive"
        faults.append(invalid(f"{path}.activeDeadlineSeconds", deadline, why))
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            where = f"{path}.{field}"
            faults += [invalid(where, spec[field], why) for why in check_label(spec[field])]
    if spec.get("runtimeClassName"):
        faults += _check_subdomain(spec["runtimeClassName"], f"{path}.runtimeClassName")
    return faults


def _check_subdomain(name: str, path: str) -> list[FieldError]:
    return [invalid(path, name, why) for why in check_subdomain(name)]


def _validate_aliases(aliases: list[Object], path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, alias in enumerate(aliases):
        if find_address(alias.get("ip") or "") is None:
            faults.append(invalid(f"{path}[{index}].ip", alias.get("ip") or "", BAD_ADDRESS))
        for place, name in enumerate(alias.get("hostnames") or ()):
            faults += _check_subdomain(name, f"{path}[{index}].hostnames[{place}]")
    return faults
