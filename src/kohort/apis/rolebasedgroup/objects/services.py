"""
The headless Service of a role, which gives pods DNS names even before they are ready.

It has no ports. The role's workload owns it, not the group, so it is deleted with the workload.
"""

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.roles import LEADER
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object, name_of, namespace_of, uid_of


def make_service(context: RoleContext, workload: Object) -> Object:
    """The Service of a role, owned by its existing workload."""
    selector = {
        labels.GROUP_NAME: name_of(context.group),
        labels.ROLE_NAME: context.role.name,
    }
    if context.role.selects_leader:
        selector[labels.COMPONENT_NAME] = LEADER
    return {
        "apiVersion": SERVICE.api_version,
        "kind": SERVICE.name,
        "metadata": {
            "name": context.service_name,
            "namespace": namespace_of(context.group),
            "labels": context.common_labels,
            "annotations": {
                **context.role.annotations,
                labels.ROLE_SIZE: str(context.role.replicas),
            },
            "ownerReferences": [reference_to(workload)],
        },
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }


def reference_to(owner: Object) -> Object:
    """An owner reference without the ``controller`` field, as upstream writes it."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "blockOwnerDeletion": True,
    }
