"""Sets of pods, as built-in kinds: where defaults, checks, columns and warnings come together."""

from collections.abc import Mapping
from functools import partial

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.pods.warnings import warn_of_workload
from kohort.apiserver.resources.prepare import count_change, keep_status
from kohort.apiserver.resources.resource import Behaviour, Scale
from kohort.apiserver.resources.workloads import columns, defaults
from kohort.apiserver.resources.workloads import validation as checks
from kohort.cluster import kinds
from kohort.cluster.objects import Object

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
            defaults.default_replication_controller,
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
        behaviour=Behaviour(validate=checks.validate_revision, default=defaults.default_revision),
        printer=columns.CONTROLLER_REVISIONS,
    ),
    BuiltinKind(
        kinds.DAEMON_SET,
        ("ds",),
        _ALL,
        reported(
            checks.validate_daemon_set,
            defaults.default_daemon_set,
            warn=warn_of_workload,
            prepare_create=defaults.prepare_daemon_set,
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
            defaults.default_deployment,
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
            defaults.default_replica_set,
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
        _stateful_set(default=defaults.default_stateful_set_without_max_unavailable),
        columns.STATEFUL_SETS,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
        gated={
            MAX_UNAVAILABLE_STATEFUL_SET: _stateful_set(
                default=defaults.default_stateful_set_with_max_unavailable
            )
        },
    ),
    BuiltinKind(
        kinds.BUDGET,
        ("pdb",),
        (),
        reported(checks.validate_budget, defaults.default_budget),
        columns.POD_DISRUPTION_BUDGETS,
        subresources=_STATUS,
        has_generation=True,
    ),
)
