"""
Scaling adapters: one for each role that asks for it, so that an autoscaler finds a scale.

The selector is made from the labels that all pods of a role have, whatever carries the role:
upstream reads it from statuses, and gives none for StatefulSets and Deployments. Of leader and
workers only leaders are selected, since an instance counts once.
"""

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.services import reference_to
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.roles import Pattern
from kohort.cluster.objects import Object, name_of, namespace_of

BOUND, NOT_BOUND = "Bound", "NotBound"


def make_adapter(context: RoleContext) -> Object:
    """The adapter of a role; it is born with the role's replicas."""
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
    """The labels of an adapter: those that the role gives it, and whose it is."""
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
    """A selector as Kubernetes prints it, keys sorted."""
    return ",".join(f"{key}={value}" for key, value in sorted(marks.items()))
