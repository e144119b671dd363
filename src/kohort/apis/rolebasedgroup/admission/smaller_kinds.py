"""
Validation of the smaller kinds: CoordinatedPolicy, RoleInstanceSet and scaling adapter.

Upstream checks none of them beyond its schemas, and silently ignores a policy that it cannot use.
"""

from kohort.apis.rolebasedgroup.admission.validation import check_rollout
from kohort.apis.rolebasedgroup.coordination import list_faults
from kohort.apis.rolebasedgroup.roles import as_int, as_map, as_objects
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object, labels_of

_NOT_NEGATIVE = "must be greater than or equal to 0"


def validate_policy(policy: Object) -> list[FieldError]:
    """Every rule that a CoordinatedPolicy breaks."""
    return [
        FieldError(FieldErrorType.INVALID, fault.path, fault.message, fault.value)
        for fault in list_faults(policy)
    ]


def validate_instance_set(instance_set: Object, old: Object | None = None) -> list[FieldError]:
    """Every rule that a RoleInstanceSet breaks; users may create one by hand."""
    spec = as_map(instance_set.get("spec"))
    replicas = as_int(spec.get("replicas"), 1)
    if replicas < 0:
        return [FieldError(FieldErrorType.INVALID, "spec.replicas", _NOT_NEGATIVE, replicas)]
    found = []
    # The garbage collector, which lets a set of a group go, changes no spec and is never refused.
    is_same = old is not None and old.get("spec") == instance_set.get("spec")
    strategy = {} if is_same else as_map(spec.get("updateStrategy"))
    owners = as_objects(as_map(instance_set.get("metadata")).get("ownerReferences"))
    # Admission checked a set with a controller as a role of its group; it may still be growing.
    if replicas and strategy and not any(owner.get("controller") for owner in owners):
        found = list(check_rollout(strategy, replicas, "spec.updateStrategy"))
    selector = as_map(as_map(spec.get("selector")).get("matchLabels"))
    marks = labels_of(instance_set)
    missing = {key: value for key, value in selector.items() if marks.get(key) != value}
    if missing:
        why = "must select the set's own labels, which its instances take over"
        path = "spec.selector.matchLabels"
        found.append(FieldError(FieldErrorType.INVALID, path, why, missing))
    return found


def validate_adapter(adapter: Object) -> list[FieldError]:
    """Every rule that a scaling adapter breaks."""
    replicas = as_map(adapter.get("spec")).get("replicas")
    if isinstance(replicas, int) and replicas < 0:
        return [FieldError(FieldErrorType.INVALID, "spec.replicas", _NOT_NEGATIVE, replicas)]
    return []
