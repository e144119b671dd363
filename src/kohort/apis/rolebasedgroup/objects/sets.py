"""
RoleInstanceSets: the object for one role, as upstream's controller writes it and clients read it.
"""

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.templates import RoleContext, make_component
from kohort.apis.rolebasedgroup.roles import ORDERED, PARALLEL, STATEFUL, STATELESS, RestartSpec
from kohort.cluster.objects import Object, namespace_of, owner_reference, uid_of

REVISION_HISTORY = 10


def make_instance_set(context: RoleContext, role_hash: str) -> Object:
    """The RoleInstanceSet of a role."""
    role = context.role
    metadata = {
        "name": context.workload_name,
        "namespace": namespace_of(context.group),
        "labels": make_set_labels(context, role_hash),
        "annotations": make_set_annotations(context),
        "ownerReferences": [owner_reference(context.group)],
    }
    spec: Object = {
        "replicas": role.replicas,
        "selector": {"matchLabels": context.common_labels},
        "minReadySeconds": role.min_ready_seconds,
        "podManagementPolicy": ORDERED if role.is_ordered else PARALLEL,
        "revisionHistoryLimit": REVISION_HISTORY,
        "roleInstanceTemplate": make_instance_template(context),
        "updateStrategy": make_update_strategy(context),
    }
    return {
        "apiVersion": labels.INSTANCE_SET.api_version,
        "kind": labels.INSTANCE_SET.name,
        "metadata": metadata,
        "spec": spec,
    }


def make_set_labels(context: RoleContext, role_hash: str) -> dict[str, str]:
    """The labels of a role's set: the user's for the role, and those of group and role."""
    role = context.role
    marks = {
        **role.labels,
        **context.common_labels,
        labels.role_revision(role.name): role_hash,
        labels.ROLE_TYPE: role.pattern.value,
    }
    if role.scheduling.mode:
        marks[labels.OWNER_UID] = uid_of(context.group)
    return marks


def make_set_annotations(context: RoleContext) -> dict[str, str]:
    """The annotations of a role's set: the user's for the role, and those instances copy."""
    role = context.role
    notes = {
        **role.annotations,
        labels.ROLE_SIZE: str(role.replicas),
        labels.INSTANCE_PATTERN: STATELESS if role.is_stateless else STATEFUL,
    }
    if role.rollout.grace_seconds is not None:
        notes[labels.GRACE_PERIOD] = str(role.rollout.grace_seconds)
    if role.is_instance_gang:
        notes[labels.INSTANCE_GANG] = "true"
    return notes


def make_instance_template(context: RoleContext) -> Object:
    """The template for each RoleInstance of the role."""
    listed = [make_component(context, component) for component in context.role.components]
    return {"components": listed, "restartPolicyConfig": write_restart(context.role.restart)}


def make_update_strategy(context: RoleContext) -> Object:
    """The set's ``updateStrategy`` for a role's rollout, with amounts as the user wrote them."""
    rollout = context.role.rollout
    strategy: Object = {
        "type": rollout.type,
        **rollout.written,
        "paused": rollout.is_paused,
    }
    if rollout.grace_seconds is not None:
        strategy["inPlaceUpdateStrategy"] = {"gracePeriodSeconds": rollout.grace_seconds}
    return strategy


def write_restart(restart: RestartSpec) -> Object:
    """A restart policy with all of its defaults."""
    return {
        "type": restart.type,
        "baseDelaySeconds": restart.base_seconds,
        "maxDelaySeconds": restart.max_seconds,
    }
