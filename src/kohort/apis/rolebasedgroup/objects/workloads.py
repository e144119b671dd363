"""
Roles whose workload is a Deployment, a StatefulSet or a LeaderWorkerSet.

The operator writes template, replicas and partition; the controller of that kind rolls the pods. A
Deployment has no partition, and a pause of its own.
"""

from dataclasses import replace
from typing import Any

from kohort.apis.carriers.delegated import read_tally
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.runtimes import INJECTED
from kohort.apis.rolebasedgroup.objects.templates import RoleContext, make_template
from kohort.apis.rolebasedgroup.roles import (
    LEADER,
    PARALLEL,
    WORKER,
    RuntimeSpec,
    as_map,
    as_objects,
)
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, labels_of, namespace_of, owner_reference

_TEMPLATES = ("template", "leaderWorkerTemplate")
TEMPLATE_PATHS = tuple(f"spec.{name}" for name in _TEMPLATES)
_FIXED = ("selector", "serviceName", "podManagementPolicy")
_HELD = "held"  # the only profile of a role that keeps what its profiles brought
_RECREATE, _NONE = "RecreateGroupOnPodRestart", "None"


def make_workload(context: RoleContext, role_hash: str, count: int, partition: int) -> Object:
    """The workload of a role, with the replicas and the partition of this plan."""
    role = context.role
    assert role.workload is not None and role.workload != labels.INSTANCE_SET
    kind: Kind = role.workload
    makers = {
        DEPLOYMENT: _make_deployment,
        STATEFUL_SET: _make_stateful_set,
        labels.LEADER_WORKER_SET: _make_leader_worker_set,
    }
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            "name": context.workload_name,
            "namespace": namespace_of(context.group),
            "labels": {
                **role.labels,
                **context.common_labels,
                labels.role_revision(role.name): role_hash,
            },
            "annotations": {**role.annotations, labels.ROLE_SIZE: str(role.replicas)},
            "ownerReferences": [owner_reference(context.group)],
        },
        "spec": {"replicas": count, **makers[kind](context, partition)},
    }


def keep_fixed(wanted: Object, found: Object) -> Object:
    """The workload with what an existing one cannot change: else all of a write were refused."""
    held = as_map(found.get("spec"))
    kept = {key: held[key] for key in _FIXED if key in wanted["spec"] and held.get(key)}
    return {**wanted, "spec": {**wanted["spec"], **kept}}


def keep_injected(context: RoleContext, found: Object) -> RoleContext:
    """
    The role with what its profiles brought to the pods of an existing workload before.

    An edit of a profile that does not roll pods is not applied then, and what another client
    changed in the rest of the template is put back all the same.
    """
    own = _find_pod(make_workload(replace(context, profiles={}), "", 0, 0))
    held, brought = _find_pod(found), dict[str, list[Object]]()
    for field in INJECTED:
        names = {each.get("name") for each in as_objects(own.get(field))}
        listed = as_objects(held.get(field))
        brought[field] = [each for each in listed if each.get("name") not in names]
    # The overrides of the role are in these containers already.
    role = replace(context.role, runtimes=(RuntimeSpec(_HELD),))
    return replace(context, role=role, profiles={_HELD: {"spec": brought}})


def _find_pod(workload: Object) -> Object:
    """The pod spec into which profiles are injected: that of a LeaderWorkerSet's leaders."""
    spec = as_map(workload.get("spec"))
    leaders = as_map(spec.get("leaderWorkerTemplate")).get("leaderTemplate")
    return as_map(as_map(spec.get("template") or leaders).get("spec"))


def keep_template(wanted: Object, found: Object, role: str) -> Object:
    """The workload with its existing template, and with the role's hash that belongs to it."""
    held, key = as_map(found.get("spec")), labels.role_revision(role)
    kept = {name: held[name] for name in _TEMPLATES if name in held}
    marks = {**labels_of(wanted), key: labels_of(found).get(key, "")}
    metadata = {**wanted["metadata"], "labels": marks}
    return {**wanted, "metadata": metadata, "spec": {**wanted["spec"], **kept}}


def pause(wanted: Object, found: Object, is_new: bool) -> Object:
    """
    The Deployment of a paused role; ``is_new``: the role has just changed, but not its template.

    It is paused itself if the pause came in the middle of a rollout, and until the role goes on:
    its controller then replaces no pod and still scales. Otherwise it is not: a Deployment that is
    paused from the start makes no pod, and one in which another client's template was put back
    would keep the pods of that.
    """
    told = read_tally(found)
    is_rolling = not told.is_seen or told.updated < told.exist
    is_paused = (is_new and is_rolling) or as_map(found.get("spec")).get("paused") is True
    return {**wanted, "spec": {**wanted["spec"], "paused": True}} if is_paused else wanted


def _make_deployment(context: RoleContext, partition: int) -> Object:
    written = context.role.rollout.written
    rolling = {key: written[key] for key in ("maxSurge", "maxUnavailable")}
    return {
        "selector": {"matchLabels": context.common_labels},
        **_wait(context),
        "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "template": _find_template(context, context.role.components[0].name),
    }


def _make_stateful_set(context: RoleContext, partition: int) -> Object:
    # Without maxUnavailable, as upstream: the StatefulSet controller then replaces one pod at a
    # time. It knows no surge, so a role with maxUnavailable 0 has one pod down all the same, of
    # which admission warns.
    return {
        "selector": {"matchLabels": context.common_labels},
        "serviceName": context.service_name,
        "podManagementPolicy": PARALLEL,
        **_wait(context),
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}},
        "template": _find_template(context, context.role.components[0].name),
    }


def _make_leader_worker_set(context: RoleContext, partition: int) -> Object:
    role = context.role
    written = role.rollout.written
    rolling: dict[str, Any] = {key: written[key] for key in ("maxUnavailable", "maxSurge")}
    workers = role.find_component(WORKER)
    first = LEADER if workers is not None else role.components[0].name
    template: Object = {
        "size": role.size,
        "leaderTemplate": _find_template(context, first),
        "workerTemplate": _find_template(context, WORKER if workers else first),
        "restartPolicy": _RECREATE if role.restart.recreates_instance else _NONE,
    }
    return {
        "leaderWorkerTemplate": template,
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {**rolling, "partition": partition},
        },
    }


def _wait(context: RoleContext) -> Object:
    """The seconds that a pod must be ready; the API server stores none where they are zero."""
    seconds = context.role.min_ready_seconds
    return {"minReadySeconds": seconds} if seconds else {}


def _find_template(context: RoleContext, component: str) -> Object:
    found = context.role.find_component(component)
    assert found is not None
    return make_template(context, found)
