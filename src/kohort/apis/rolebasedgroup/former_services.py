"""
Services that former versions named as the workload of their role, without a prefix.

Upstream keeps such a Service, and its pods name it; so the StatefulSet, the pods and the lists of
addresses have to name it as well. An existing workload decides: a StatefulSet cannot change the
name, and pods would be made anew for it. A new workload takes the Service that the group has. An
InferenceService makes a Service of that name, too, which the group must not take.
"""

from kohort.apis.api import Snapshot
from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.role_facts import components_of
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.rolebasedgroup.spec import roles_of
from kohort.cluster.kinds import DEPLOYMENT, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Object, name_of

_OWNERS = {kind.name for kind in (labels.KIND, labels.INSTANCE_SET, STATEFUL_SET, DEPLOYMENT)}


def list_former(snapshot: Snapshot) -> tuple[str, ...]:
    """The workloads whose Services have a former name, StatefulSets by what they say."""
    group = name_of(snapshot.root)
    known = {names.workload_name(group, str(role.get("name"))) for role in roles_of(snapshot.root)}
    held = (service.metadata for service in snapshot.all(SERVICE))
    found = {metadata.name for metadata in held if _may_be_ours(group, metadata)}
    for carrier in snapshot.all(STATEFUL_SET):
        name = carrier.metadata.name
        said = as_map(carrier.decode().get("spec")).get("serviceName")
        found = found | {name} if said == name else found - {name}
    return tuple(sorted(found & known))


def has_former(context: RoleContext, instance_set: Object) -> bool:
    """Whether the pods of an existing set name a Service of a former name."""
    own = {each.name for each in context.role.components if each.service_name}
    template = as_map(as_map(instance_set.get("spec")).get("roleInstanceTemplate"))
    listed = [each for each in components_of(template) if each.get("name") not in own]
    told = {each.get("serviceName") for each in listed} - {None, ""}
    return context.workload_name in told if told else context.has_former_service


def _may_be_ours(group: str, metadata: Meta) -> bool:
    owners = {owner.kind for owner in metadata.owner_references}
    is_foreign = bool(owners) and owners.isdisjoint(_OWNERS)
    return metadata.labels.get(labels.GROUP_NAME) == group and not is_foreign
