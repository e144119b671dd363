"""Sets of pods, as built-in kinds: rows and defaults, joined with checks, columns and warnings."""

from collections.abc import Mapping
from functools import partial

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.pods.defaults import default_template
from kohort.apiserver.resources.pods.warnings import warn_of_workload
from kohort.apiserver.resources.prepare import count_change, keep_status
from kohort.apiserver.resources.resource import Behaviour, Scale
from kohort.apiserver.resources.storage import default_claim_template
from kohort.apiserver.resources.workloads import columns
from kohort.apiserver.resources.workloads import validation as checks
from kohort.cluster import kinds
from kohort.cluster.objects import Object

_QUARTER = "25%"


def default_stateful_set(stateful_set: Object) -> None:
    """Set the defaults of a StatefulSet."""
    spec = stateful_set.setdefault("spec", {})
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("serviceName", "")
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    default_template(spec.setdefault("template", {}))
    for claim in spec.get("volumeClaimTemplates") or ():
        default_claim_template(claim)
    status = stateful_set.setdefault("status", {})
    status.setdefault("replicas", 0)
    status.setdefault("availableReplicas", 0)


def default_stateful_set_without_max_unavailable(stateful_set: Object) -> None:
    """Set the defaults of a StatefulSet of a server that does not know ``maxUnavailable`` yet."""
    default_stateful_set(stateful_set)
    rolling = stateful_set["spec"]["updateStrategy"].get("rollingUpdate")
    if rolling:
        rolling.pop("maxUnavailable", None)


def default_stateful_set_with_max_unavailable(stateful_set: Object) -> None:
    """Set the defaults of a StatefulSet of a server that knows ``maxUnavailable``."""
    default_stateful_set(stateful_set)
    rolling = stateful_set["spec"]["updateStrategy"].get("rollingUpdate")
    if rolling is not None:
        rolling.setdefault("maxUnavailable", 1)


def default_deployment(deployment: Object) -> None:
    """Set the defaults of a Deployment."""
    spec = deployment.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", _QUARTER)
        rolling.setdefault("maxSurge", _QUARTER)
    default_template(spec.setdefault("template", {}))
    deployment.setdefault("status", {})


def default_replica_set(replica_set: Object) -> None:
    """Set the defaults of a ReplicaSet."""
    spec = replica_set.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec.setdefault("template", {}))
    replica_set.setdefault("status", {}).setdefault("replicas", 0)


def default_daemon_set(daemon_set: Object) -> None:
    """Set the defaults of a DaemonSet."""
    spec = daemon_set.setdefault("spec", {})
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    default_template(spec.setdefault("template", {}))
    status = daemon_set.setdefault("status", {})
    for field in ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled"):
        status.setdefault(field, 0)
    status.setdefault("numberReady", 0)


def prepare_daemon_set(daemon_set: Object) -> None:
    """Clear the status of a new DaemonSet, and set its templateGeneration to 1."""
    daemon_set.pop("status", None)
    default_daemon_set(daemon_set)
    notes = daemon_set["metadata"].setdefault("annotations", {})
    notes["deprecated.daemonset.template.generation"] = "1"


def default_replication_controller(controller: Object) -> None:
    """Set the defaults of a ReplicationController: selector and labels come from its template."""
    spec = controller.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    template = spec.setdefault("template", {})
    labels = (template.get("metadata") or {}).get("labels") or {}
    if labels:
        spec.setdefault("selector", dict(labels))
        controller["metadata"].setdefault("labels", dict(labels))
    default_template(template)
    controller.setdefault("status", {}).setdefault("replicas", 0)


def default_revision(revision: Object) -> None:
    """Set the defaults of a ControllerRevision."""
    revision.setdefault("revision", 0)


def default_budget(budget: Object) -> None:
    """Set the defaults of a PodDisruptionBudget."""
    budget.setdefault("spec", {})
    status = budget.setdefault("status", {})
    for field in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
        status.setdefault(field, 0)


# The feature gate of ``maxUnavailable`` in StatefulSets; off in kube-apiserver 1.36.
MAX_UNAVAILABLE_STATEFUL_SET = "MaxUnavailableStatefulSet"
_ALL = ("all",)
_STATUS = ("status",)
_SCALED = ("scale", "status")
_BY_SELECTOR = Scale(selector=("spec", "selector"))
_stateful_set = partial(
    reported,
    checks.validate_stateful_set,
    validate_status=checks.counts(
        "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"
    ),
    warn=warn_of_workload,
)


def prepare_deployment_update(deployment: Object, old: Object) -> None:
    """Raise the generation when annotations change, since they can control a rollout."""
    keep_status(deployment, old)
    count_change(deployment, old, "annotations")


def replication_controller_fields(controller: Object) -> Mapping[str, str]:
    """The selectable fields of a ReplicationController."""
    return {"status.replicas": str((controller.get("status") or {}).get("replicas") or 0)}


KINDS = (
    BuiltinKind(
        kinds.REPLICATION_CONTROLLER,
        ("rc",),
        _ALL,
        reported(
            checks.validate_replication_controller,
            default_replication_controller,
            warn=warn_of_workload,
            fields=replication_controller_fields,
        ),
        columns.REPLICATION_CONTROLLERS,
        subresources=_SCALED,
        scale=Scale(selector=("spec", "selector"), has_plain_selector=True),
        has_generation=True,
        fields=("status.replicas",),
    ),
    BuiltinKind(
        kinds.CONTROLLER_REVISION,
        behaviour=Behaviour(validate=checks.validate_revision, default=default_revision),
        printer=columns.CONTROLLER_REVISIONS,
    ),
    BuiltinKind(
        kinds.DAEMON_SET,
        ("ds",),
        _ALL,
        reported(
            checks.validate_daemon_set,
            default_daemon_set,
            warn=warn_of_workload,
            prepare_create=prepare_daemon_set,
        ),
        columns.DAEMON_SETS,
        subresources=_STATUS,
        has_generation=True,
    ),
    BuiltinKind(
        kinds.DEPLOYMENT,
        ("deploy",),
        _ALL,
        reported(
            checks.validate_deployment,
            default_deployment,
            checks.counts("updatedReplicas", "readyReplicas", "availableReplicas"),
            warn=warn_of_workload,
            prepare_update=prepare_deployment_update,
            prepare_status=prepare.keep_spec_and_labels,
        ),
        columns.DEPLOYMENTS,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
    ),
    BuiltinKind(
        kinds.REPLICA_SET,
        ("rs",),
        _ALL,
        reported(
            checks.validate_replica_set,
            default_replica_set,
            checks.counts("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
            warn=warn_of_workload,
        ),
        columns.REPLICA_SETS,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
    ),
    BuiltinKind(
        kinds.STATEFUL_SET,
        ("sts",),
        _ALL,
        _stateful_set(default=default_stateful_set_without_max_unavailable),
        columns.STATEFUL_SETS,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
        gated={
            MAX_UNAVAILABLE_STATEFUL_SET: _stateful_set(
                default=default_stateful_set_with_max_unavailable
            )
        },
    ),
    BuiltinKind(
        kinds.BUDGET,
        ("pdb",),
        (),
        reported(checks.validate_budget, default_budget),
        columns.POD_DISRUPTION_BUDGETS,
        subresources=_STATUS,
        has_generation=True,
    ),
)
