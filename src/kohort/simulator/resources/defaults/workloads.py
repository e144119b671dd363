"""Defaults of the kinds that make pods: StatefulSet, Deployment and ReplicaSet."""

from kohort.cluster.objects import Object
from kohort.simulator.resources.defaults.pods import default_template
from kohort.simulator.resources.defaults.volumes import default_claim_template

_QUARTER = "25%"


def default_stateful_set(stateful_set: Object) -> None:
    """Fill in a StatefulSet."""
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
    """Fill in a StatefulSet of a server that does not know ``maxUnavailable`` yet."""
    default_stateful_set(stateful_set)
    rolling = stateful_set["spec"]["updateStrategy"].get("rollingUpdate")
    if rolling:
        rolling.pop("maxUnavailable", None)


def default_stateful_set_with_max_unavailable(stateful_set: Object) -> None:
    """Fill in a StatefulSet of a server that knows ``maxUnavailable``."""
    default_stateful_set(stateful_set)
    rolling = stateful_set["spec"]["updateStrategy"].get("rollingUpdate")
    if rolling is not None:
        rolling.setdefault("maxUnavailable", 1)


def default_deployment(deployment: Object) -> None:
    """Fill in a Deployment."""
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
    """Fill in a ReplicaSet."""
    spec = replica_set.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec.setdefault("template", {}))
    replica_set.setdefault("status", {}).setdefault("replicas", 0)


def default_revision(revision: Object) -> None:
    """Fill in a ControllerRevision."""
    revision.setdefault("revision", 0)


def default_budget(budget: Object) -> None:
    """Fill in a PodDisruptionBudget."""
    budget.setdefault("spec", {})
    status = budget.setdefault("status", {})
    for field in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
        status.setdefault(field, 0)
