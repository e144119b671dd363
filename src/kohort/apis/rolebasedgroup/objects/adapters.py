"""
Scaling adapters: the scale subresource of a role, for an autoscaler, if the user enables it.

The selector consists of labels that all pods of a role have, whatever its workload kind: upstream
reads it from statuses, and has none for StatefulSets and Deployments. In leader-worker roles it
selects only leaders, so that each instance counts once.
"""

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.services import reference_to
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.roles import Pattern
from kohort.cluster.objects import Object, name_of, namespace_of

BOUND = "Bound"


def make_adapter(context: RoleContext) -> Object:
    """The adapter of a role; the operator creates it with the role's replicas."""
    group, role = name_of(context.group), context.role
    return {
        "apiVersion": labels.ADAPTER.api_version,
        "kind": labels.ADAPTER.name,
        "metadata": {
            "name": names.adapter_name(group, role.name),
            "namespace": namespace_of(context.group),
            "labels": make_adapter_labels(context),
            "ownerReferences": [reference_to(context.group)],
        },
        "spec": {
            "replicas": role.replicas,
            "scaleTargetRef": {"name": group, "role": role.name},
        },
    }


def make_adapter_labels(context: RoleContext) -> dict[str, str]:
    """The labels of an adapter: the user's for it, and those of its group and role."""
    return {
        **context.role.adapter.labels,
        labels.GROUP_NAME: name_of(context.group),
        labels.ROLE_NAME: context.role.name,
    }


def make_selector(context: RoleContext) -> str:
    """The pods of a role that an autoscaler measures, one for each instance."""
    selector = write_selector(context.common_labels)
    role = context.role
    if role.pattern is Pattern.LEADER_WORKER and role.workload == labels.INSTANCE_SET:
        return f"{selector},{labels.COMPONENT_INDEX}=0"
    return selector


def write_selector(marks: dict[str, str]) -> str:
    """A selector in the text form of ``status.selector``, keys sorted."""
    return ",".join(f"{key}={value}" for key, value in sorted(marks.items()))
