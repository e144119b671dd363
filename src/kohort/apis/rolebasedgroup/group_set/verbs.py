"""
The user's commands on a RoleBasedGroupSet: they change its template, as those on a group do.

The groups of the set follow the template one after another, within the set's budget. The set
stores no revisions, so there is none to go back to.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from kohort.apis.api import StoredRevision, UserVerbs
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.apis.rolebasedgroup.verbs import VERBS as GROUP
from kohort.apis.user_edits import put_at
from kohort.cluster.objects import Object
from kohort.model.policies import Amendment

T = TypeVar("T")
_TEMPLATE = "groupTemplate"


def _as_group(root: Object) -> Object:
    """The set as a group with the spec of its template."""
    template = as_map(as_map(root.get("spec")).get(_TEMPLATE))
    return {**root, "spec": {"roles": [], **as_map(template.get("spec"))}}


def _change(change: Callable[..., Object]) -> Callable[..., Object]:
    """A change of a group, done to the template of a set."""

    def changed(root: Object, *rest: Any) -> Object:
        found = change(_as_group(root), *rest)
        return put_at({**found, "spec": root["spec"]}, found["spec"], "spec", _TEMPLATE, "spec")

    return changed


def _read(read: Callable[..., T]) -> Callable[..., T]:
    """What is read of a group, read of the template of a set."""
    return lambda root, *rest: read(_as_group(root), *rest)


def _go_back(root: Object, revision: StoredRevision, role: str) -> Object:
    return root


def _count_pods(root: Object, role: str) -> dict[str, int]:
    """The pods of one group by template; a role has as many times those of an instance."""
    group = _as_group(root)
    replicas = {own.name: own.replicas for own in read_spec(group).roles}
    found = GROUP.count_pods(group, role)
    return {field: count * replicas[field.partition("/")[0]] for field, count in found.items()}


def _list_in_place_only(root: Object) -> tuple[str, ...]:
    roles = read_spec(_as_group(root)).roles
    return tuple(role.name for role in roles if role.rollout.amendment is Amendment.ONLY)


SET_VERBS = UserVerbs(
    carrier_of=lambda root, settings: labels.KIND.name + "s",
    list_revisions=lambda snapshot: (),
    go_back=_go_back,
    hold=_change(GROUP.hold),
    release=_change(GROUP.release),
    finish=_change(GROUP.finish),
    list_templates=_read(GROUP.list_templates),
    put_template=_change(GROUP.put_template),
    count_pods=_count_pods,
    list_held=_read(GROUP.list_held),
    list_roles=_read(GROUP.list_roles),
    list_patches=_read(GROUP.list_patches),
    list_in_place_only=_list_in_place_only,
    no_revisions="stores no revisions: apply its former manifest, and its groups follow it one by "
    "one; each group lists its own with 'kohort rollout history rbg/NAME'",
)
