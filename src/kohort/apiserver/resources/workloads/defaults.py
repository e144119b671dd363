"""Defaults of the kinds that keep pods running, such as StatefulSet and Deployment."""

from kohort.apiserver.resources.pods.defaults import default_template
from kohort.apiserver.resources.storage import default_claim_template
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
