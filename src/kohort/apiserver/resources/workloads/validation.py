"""
Validation of the kinds that create pods, of ControllerRevisions, and of disruption budgets.

A selector must select the pods of its own template and never changes: a controller that
lost sight of its pods would make them again. Revisions are history, so their data stays.
"""

from collections.abc import Callable
from typing import Any

import orjson

from kohort.apiserver.resources.pods.validation import validate_template
from kohort.apiserver.resources.validation.field_errors import (
    check_amount,
    check_choice,
    check_not_negative,
    check_share,
    check_unchanged,
    forbidden,
    invalid,
    ordered,
    required,
    unsupported,
)
from kohort.apiserver.resources.validation.metadata import (
    check_metadata,
    validate_metadata_update,
)
from kohort.apiserver.resources.validation.selectors import is_empty, validate_selector
from kohort.apiserver.schemas.go_json import write_raw
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_label
from kohort.cluster.objects import Object
from kohort.cluster.selectors import read_label_selector

Check = Callable[[Object, Object | None], list[FieldError]]

_RETENTION = ("Retain", "Delete")
_EVICTION = ("AlwaysAllow", "IfHealthyBudget")
_SET_CHANGES = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
_SET_FROZEN = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)


def validate_stateful_set(stateful_set: Object, old: Object | None) -> list[FieldError]:
    """The errors in a StatefulSet."""
    spec = stateful_set.get("spec") or {}
    # Its name becomes a part of the host names of its pods.
    faults = check_metadata(stateful_set, old, kinds.STATEFUL_SET, check_label)
    if old is not None and spec == old.get("spec"):
        return faults
    faults += _validate_set_words(spec)
    for field in ("replicas", "minReadySeconds"):
        faults += check_not_negative(f"spec.{field}", spec.get(field))
    faults += check_not_negative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
    faults += _validate_selection(spec, "statefulset", "")
    if old is not None and _frozen_part(spec) != _frozen_part(old["spec"]):
        faults.append(forbidden("spec", _SET_FROZEN))
    return faults


def _frozen_part(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if key not in _SET_CHANGES}


def _validate_set_words(spec: Object) -> list[FieldError]:
    faults: list[FieldError] = []
    policy = spec.get("podManagementPolicy")
    if policy not in ("OrderedReady", "Parallel"):
        why = "must be 'OrderedReady' or 'Parallel'"
        faults.append(invalid("spec.podManagementPolicy", policy, why))
    strategy = spec.get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    path = "spec.updateStrategy"
    if strategy.get("type") == "OnDelete":
        if rolling is not None:
            shown = {
                "Partition": rolling.get("partition"),
                "MaxUnavailable": rolling.get("maxUnavailable"),
            }
            why = "only allowed for updateStrategy 'RollingUpdate'"
            faults.append(invalid(f"{path}.rollingUpdate", ordered(shown), why))
    elif strategy.get("type") == "RollingUpdate":
        faults += _validate_rolling(rolling or {}, f"{path}.rollingUpdate")
    else:
        why = "must be 'RollingUpdate' or 'OnDelete'"
        faults.append(invalid(path, _show_strategy(strategy), why))
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        where = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
        faults += check_choice(where, retention.get(field), _RETENTION)
    return faults


def _validate_rolling(rolling: Object, path: str) -> list[FieldError]:
    faults = check_not_negative(f"{path}.partition", rolling.get("partition"))
    amount = rolling.get("maxUnavailable")
    if amount is not None:
        faults += check_share(f"{path}.maxUnavailable", amount)
        if amount in (0, "0%"):
            faults.append(invalid(f"{path}.maxUnavailable", amount, "cannot be 0"))
    return faults


def _show_strategy(strategy: Object) -> Any:
    rolling = strategy.get("rollingUpdate")
    return ordered({"Type": strategy.get("type") or "", "RollingUpdate": rolling})


def validate_deployment(deployment: Object, old: Object | None) -> list[FieldError]:
    """The errors in a Deployment."""
    spec = deployment.get("spec") or {}
    faults = check_metadata(deployment, old, kinds.DEPLOYMENT)
    if old is not None and spec == old.get("spec"):
        return faults
    faults += check_not_negative("spec.replicas", spec.get("replicas"))
    faults += _validate_selection(spec, "deployment", "invalid label selector")
    faults += _validate_strategy(spec.get("strategy") or {}, "spec.strategy")
    for field in ("minReadySeconds", "revisionHistoryLimit"):
        faults += check_not_negative(f"spec.{field}", spec.get(field))
    deadline = spec.get("progressDeadlineSeconds")
    faults += check_not_negative("spec.progressDeadlineSeconds", deadline)
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        why = "must be greater than minReadySeconds"
        faults.append(invalid("spec.progressDeadlineSeconds", deadline, why))
    return faults + _check_selector_kept(spec, old)


def _validate_strategy(strategy: Object, path: str) -> list[FieldError]:
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate":
        if rolling is None:
            return []
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [forbidden(f"{path}.rollingUpdate", why)]
    if strategy.get("type") != "RollingUpdate":
        return [unsupported(path, _show_strategy(strategy), ("Recreate", "RollingUpdate"))]
    surge, unavailable = (rolling or {}).get("maxSurge"), (rolling or {}).get("maxUnavailable")
    path = f"{path}.rollingUpdate"
    faults = check_amount(f"{path}.maxUnavailable", unavailable)
    faults += check_amount(f"{path}.maxSurge", surge)
    if _is_nothing(surge) and _is_nothing(unavailable):
        why = "may not be 0 when `maxSurge` is 0"
        faults.append(invalid(f"{path}.maxUnavailable", unavailable, why))
    faults += [f for f in check_share(f"{path}.maxUnavailable", unavailable) if f not in faults]
    return faults


def _is_nothing(amount: Any) -> bool:
    return amount in (None, 0, "0%")


def validate_replica_set(replica_set: Object, old: Object | None) -> list[FieldError]:
    """The errors in a ReplicaSet."""
    spec = replica_set.get("spec") or {}
    faults = check_metadata(replica_set, old, kinds.REPLICA_SET)
    if old is not None and spec == old.get("spec"):
        return faults
    for field in ("replicas", "minReadySeconds"):
        faults += check_not_negative(f"spec.{field}", spec.get(field))
    faults += _validate_selection(spec, "deployment", "invalid label selector")
    return faults + _check_selector_kept(spec, old)


def validate_daemon_set(daemon_set: Object, old: Object | None) -> list[FieldError]:
    """The errors in a DaemonSet."""
    spec = daemon_set.get("spec") or {}
    faults = check_metadata(daemon_set, old, kinds.DAEMON_SET)
    if old is not None and spec == old.get("spec"):
        return faults
    faults += _validate_selection(spec, "daemonset", "")
    for field in ("minReadySeconds", "revisionHistoryLimit"):
        faults += check_not_negative(f"spec.{field}", spec.get(field))
    return faults + _check_selector_kept(spec, old)


def validate_replication_controller(controller: Object, old: Object | None) -> list[FieldError]:
    """The errors in a ReplicationController, whose selector is a plain map of labels."""
    spec = controller.get("spec") or {}
    faults = check_metadata(controller, old, kinds.REPLICATION_CONTROLLER)
    for field in ("replicas", "minReadySeconds"):
        faults += check_not_negative(f"spec.{field}", spec.get(field))
    selector, template = spec.get("selector"), spec.get("template") or {}
    if not selector:
        return [*faults, required("spec.selector")]
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not read_label_selector({"matchLabels": selector}).matches(labels):
        why = "`selector` does not match template `labels`"
        faults.append(invalid("spec.template.metadata.labels", labels, why))
    return faults + validate_template(template, "spec.template")


def _check_selector_kept(spec: Object, old: Object | None) -> list[FieldError]:
    if old is None:
        return []
    return check_unchanged("spec.selector", spec.get("selector"), old["spec"].get("selector"))


def _validate_selection(spec: Object, owner: str, bad_selector: str) -> list[FieldError]:
    """Errors unless the selector selects the pods of the template."""
    selector, template = spec.get("selector"), spec.get("template") or {}
    faults: list[FieldError] = []
    if selector is None:
        faults.append(required("spec.selector"))
    else:
        faults += validate_selector(selector, "spec.selector")
        if is_empty(selector):
            why = f"empty selector is invalid for {owner}"
            faults.append(invalid("spec.selector", selector, why))
    if selector is not None and faults and not is_empty(selector):
        # An invalid selector cannot be compared with labels.
        return [*faults, invalid("spec.selector", selector, bad_selector)]
    labels = (template.get("metadata") or {}).get("labels")
    if not read_label_selector(selector).matches(labels or {}):
        why = "`selector` does not match template `labels`"
        faults.append(invalid("spec.template.metadata.labels", labels, why))
    claims = spec.get("volumeClaimTemplates")
    faults += validate_template(_with_claims(template, claims), "spec.template")
    return faults + _validate_template_rules(template.get("spec") or {}, owner)


def _with_claims(template: Object, claims: list[Object] | None) -> Object:
    """The template with a volume for each claim template, so that containers may mount them."""
    if not claims:
        return template
    spec = template.get("spec") or {}
    volumes = list(spec.get("volumes") or ())
    known = {volume.get("name") for volume in volumes}
    for claim in claims:
        name = (claim.get("metadata") or {}).get("name", "")
        if name not in known:
            known.add(name)
            volumes.append({"name": name, "persistentVolumeClaim": {"claimName": name}})
    return {**template, "spec": {**spec, "volumes": volumes}}


def _validate_template_rules(spec: Object, owner: str) -> list[FieldError]:
    faults: list[FieldError] = []
    if spec.get("restartPolicy") != "Always":
        path = "spec.template.spec.restartPolicy"
        faults.append(unsupported(path, spec.get("restartPolicy"), ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        name = "StatefulSet" if owner == "statefulset" else "ReplicaSet"
        path = "spec.template.spec.activeDeadlineSeconds"
        faults.append(forbidden(path, f"activeDeadlineSeconds in {name} is not Supported"))
    return faults


def validate_revision(revision: Object, old: Object | None) -> list[FieldError]:
    """The errors in a ControllerRevision; its data never changes."""
    faults = check_metadata(revision, old, kinds.CONTROLLER_REVISION)
    faults += check_not_negative("revision", revision.get("revision"))
    data = revision.get("data")
    if data is None:
        faults.append(required("data", "data is mandatory"))
    elif not isinstance(data, dict):
        faults.append(required("data", "data must be a valid JSON object"))
    elif old is not None and (text := write_raw(data)) != write_raw(old.get("data")):
        faults.append(invalid("data", orjson.Fragment(text), "field is immutable"))
    return faults


def validate_budget(budget: Object, old: Object | None) -> list[FieldError]:
    """The errors in a PodDisruptionBudget."""
    spec = budget.get("spec") or {}
    faults = check_metadata(budget, old, kinds.BUDGET)
    low, high = spec.get("minAvailable"), spec.get("maxUnavailable")
    if low is not None and high is not None:
        shown = {
            "MinAvailable": low,
            "Selector": spec.get("selector"),
            "MaxUnavailable": high,
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        why = "minAvailable and maxUnavailable cannot be both set"
        faults.append(invalid("spec", ordered(shown), why))
    for field in ("minAvailable", "maxUnavailable"):
        if spec.get(field) is not None:
            faults += check_share(f"spec.{field}", spec[field])
    policy = spec.get("unhealthyPodEvictionPolicy")
    faults += validate_selector(spec.get("selector"), "spec.selector")
    if policy is not None:
        faults += check_choice("spec.unhealthyPodEvictionPolicy", policy, _EVICTION)
    return faults


def counts(*fields: str) -> Check:
    """A check that these counts of the status are no more than its replicas."""

    def validate(obj: Object, old: Object | None) -> list[FieldError]:
        status = obj.get("status") or {}
        faults = validate_metadata_update(obj, old) if old is not None else []
        faults += check_not_negative("status.replicas", status.get("replicas"))
        for field in fields:
            faults += check_not_negative(f"status.{field}", status.get(field))
        total = status.get("replicas") or 0
        for field in fields:
            count = status.get(field) or 0
            if count > total:
                why = "cannot be greater than status.replicas"
                faults.append(invalid(f"status.{field}", count, why))
        available, ready = status.get("availableReplicas") or 0, status.get("readyReplicas") or 0
        if available > ready:
            why = "cannot be greater than readyReplicas"
            faults.append(invalid("status.availableReplicas", available, why))
        return faults

    return validate
