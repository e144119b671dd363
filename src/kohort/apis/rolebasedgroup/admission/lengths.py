"""
Names of a role that its objects can have, but not the labels and host names made from them.

Upstream lets such a group pass as well, so it is warned of and not refused: a group with a name of
53 characters may serve already, where the hash of its role is a short one.
"""

from collections.abc import Iterator

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.templates import RoleContext, find_service
from kohort.apis.rolebasedgroup.roles import WORKER, ComponentSpec, Pattern, RoleSpec
from kohort.apis.rolebasedgroup.spec import GroupSpec
from kohort.cluster.kinds import STATEFUL_SET
from kohort.cluster.objects import Object, metadata_of

_GENERATED_SUFFIX = "00000"
_SHORTER = "shorten the name of the group or of the role"


def find_name(obj: Object) -> str:
    """The name that an object has, or one as long as the API server will give it."""
    metadata = metadata_of(obj)
    generated = str(metadata.get("generateName") or "") + _GENERATED_SUFFIX
    return str(metadata.get("name") or generated)


def warn_names(group: Object, spec: GroupSpec, path: str = "spec") -> Iterator[str]:
    """A warning for each role that can have no pods by the length of its names."""
    named = {**group, "metadata": {**metadata_of(group), "name": find_name(group)}}
    for index, role in enumerate(spec.roles):
        if role.workload is None or role.problems:
            continue
        context = RoleContext(named, spec, role)
        found = _find_long_set(context) or _find_long_pod(context)
        if found:
            yield f"{path}.roles[{index}].name: {found}; {_SHORTER}"


def _find_long_set(context: RoleContext) -> str:
    """Why pods of a role cannot bear the revision of their set as a label; empty: they can."""
    role, name = context.role, context.workload_name
    is_carried = role.workload in (STATEFUL_SET, labels.LEADER_WORKER_SET)
    is_labelled = is_carried or (role.workload == labels.INSTANCE_SET and not role.is_stateless)
    if role.workload == labels.LEADER_WORKER_SET and role.size > 1:
        # Each leader has a StatefulSet of its name for its workers.
        name = names.instance_name(name, max(0, role.replicas - 1))
    if not is_labelled or len(name) <= names.LABELLED_MAX:
        return ""
    what = "pods" if is_carried else "instances"
    return (
        f"{name} has {len(name)} characters and may have {names.LABELLED_MAX}, since a label of "
        f"the role's {what} holds that name and a hash, and the API server refuses {what} with a "
        f"label of more than {names.NAME_MAX}"
    )


def _find_long_pod(context: RoleContext) -> str:
    """Why a pod of a role cannot have its name as its host name; empty: all can."""
    role = context.role
    if role.workload != labels.INSTANCE_SET:
        return ""
    last, made = max(0, role.replicas - 1), context.workload_name
    owner = names.instance_name(made, last)
    if role.is_stateless:
        owner = names.stateless_name(made, names.instance_id("", last))
    hosts = [
        _name_last_pod(owner, role, component)
        for component in role.components
        if component.size and find_service(context, component)
    ]
    name = max(hosts, key=len, default="")
    if len(name) <= names.NAME_MAX:
        return ""
    return (
        f"a pod of the role would be named {name}, with {len(name)} characters, and the API server "
        f"refuses a host name of more than {names.NAME_MAX}"
    )


def _name_last_pod(owner: str, role: RoleSpec, component: ComponentSpec) -> str:
    """The last pod of a component in an instance, which has the longest name."""
    if role.pattern is Pattern.STANDALONE:
        return names.standalone_pod_name(owner)
    if role.pattern is Pattern.LEADER_WORKER:
        return names.leader_worker_pod_name(
            owner, component.size if component.name == WORKER else 0
        )
    return names.component_pod_name(owner, component.name, component.size - 1)
