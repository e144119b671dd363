"""
Validation of pods, and of updates, which may change only a few fields.

An update may change images, add tolerations, shorten a deadline and remove scheduling gates. While
a gate holds a pod back, an update may also narrow the nodes that it accepts.
"""

from kohort.apiserver.resources.pods.spec import validate_pod_spec
from kohort.apiserver.resources.validation.field_errors import forbidden, invalid, required
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Kind, Object

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
