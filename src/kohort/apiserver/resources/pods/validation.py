"""
Validation of pods: of the spec, which pod templates have too, and of updates.

An update may change images, add tolerations, shorten a deadline and remove scheduling gates. While
a gate holds a pod back, an update may also narrow the nodes that it accepts.
"""

from kohort.apiserver.resources.pods.containers import validate_containers, validate_pod_security
from kohort.apiserver.resources.pods.placement import (
    validate_affinity,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from kohort.apiserver.resources.pods.volumes import validate_volumes
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    forbidden,
    invalid,
    required,
)
from kohort.apiserver.resources.validation.metadata import (
    validate_annotations,
    validate_labels,
    validate_metadata,
    validate_metadata_update,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import BAD_ADDRESS, check_label, check_subdomain, find_address
from kohort.cluster.objects import Kind, Object

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


_KIND: Kind = kinds.POD
_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
    "set to 1 if it was previously negative)"
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def validate_pod(pod: Object, old: Object | None) -> list[FieldError]:
    """The errors in a new pod, or in an update of one."""
    if old is None:
        return validate_metadata(pod, _KIND) + validate_pod_spec(pod["spec"], "spec")
    faults = validate_metadata_update(pod, old)
    # The stored spec was valid, so only changes are checked.
    if pod.get("spec") == old.get("spec"):
        return faults
    spec, before = pod["spec"], old["spec"]
    return faults + validate_pod_spec(spec, "spec") + _validate_changes(spec, before)


def validate_pod_status(pod: Object, old: Object | None) -> list[FieldError]:
    """The errors in an update of the status."""
    return validate_metadata_update(pod, old) if old is not None else []


def _validate_changes(spec: Object, before: Object) -> list[FieldError]:
    for field in ("containers", "initContainers"):
        if len(spec.get(field) or ()) != len(before.get(field) or ()):
            return [forbidden(f"spec.{field}", "pod updates may not add or remove containers")]
    faults = [required(f"spec.{field}[{index}].image") for field, index in _imageless(spec)]
    faults += _validate_deadline(spec, before)
    faults += _validate_gates(spec, before)
    if faults:
        return faults
    if not _keeps_tolerations(spec, before):
        why = "existing toleration can not be modified except its tolerationSeconds"
        return [forbidden("spec.tolerations", why)]
    was_gated = bool(before.get("schedulingGates"))
    if was_gated:
        faults += _validate_narrowing(spec, before)
    if not faults and not _may_become(spec, before, was_gated):
        faults.append(forbidden("spec", _FROZEN))
    return faults


def _imageless(spec: Object) -> list[tuple[str, int]]:
    return [
        (field, index)
        for field in ("containers", "initContainers")
        for index, container in enumerate(spec.get(field) or ())
        if not container.get("image")
    ]


def _validate_deadline(spec: Object, before: Object) -> list[FieldError]:
    new, old = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    path = "spec.activeDeadlineSeconds"
    if new is not None and old is not None and new > old:
        return [invalid(path, new, "must be less than or equal to previous value")]
    if new is None and old is not None:
        return [invalid(path, None, "must not update from a positive integer to nil value")]
    return []


def _validate_gates(spec: Object, before: Object) -> list[FieldError]:
    known = {gate.get("name") for gate in before.get("schedulingGates") or ()}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(spec.get("schedulingGates") or ())
        if gate.get("name") not in known
    ]


def _keeps_tolerations(spec: Object, before: Object) -> bool:
    kept = [_without_seconds(toleration) for toleration in spec.get("tolerations") or ()]
    return all(_without_seconds(t) in kept for t in before.get("tolerations") or ())


def _without_seconds(toleration: Object) -> Object:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


def _validate_narrowing(spec: Object, before: Object) -> list[FieldError]:
    new, old = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(new.get(key) != value for key, value in old.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        return [invalid("spec.nodeSelector", new, why)]
    wanted, terms = _node_terms(before), _node_terms(spec)
    if wanted and len(wanted) != len(terms):
        path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
        return [
            invalid(
                path,
                terms,
                "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
            )
        ]
    return []


def _node_terms(spec: Object) -> list[Object]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms: list[Object] = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    return terms


def _frozen_part(spec: Object, was_gated: bool) -> Object:
    """The spec without the fields that may change."""
    loose = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if was_gated:
        loose |= {"nodeSelector", "affinity"}
    part = {key: value for key, value in spec.items() if key not in loose}
    for field in ("containers", "initContainers"):
        if part.get(field):
            part[field] = [{**container, "image": ""} for container in part[field]]
    return part


def _may_become(spec: Object, before: Object, was_gated: bool) -> bool:
    grace = "terminationGracePeriodSeconds"
    if spec.get(grace) == 1 and before.get(grace, 0) < 0:
        before = {**before, grace: 1}
    return _frozen_part(spec, was_gated) == _frozen_part(before, was_gated)
