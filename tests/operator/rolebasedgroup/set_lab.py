"""A laboratory with RoleBasedGroupSets in it, and short words for their groups."""

from collections.abc import Callable
from typing import Any

from group_lab import GroupLab, standalone
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.group_set.api import ROLE_BASED_GROUP_SET
from kohort.cluster.objects import Object, is_true, name_of

KIND, CHILD = labels.SET_KIND, labels.KIND
IMAGE = "/spec/groupTemplate/spec/roles/0/standalonePattern/template/spec/containers/0/image"


def group_set(*roles: Object, replicas: int = 2, **template: Any) -> Object:
    """A RoleBasedGroupSet; ``template`` may hold labels, annotations and roleTemplates."""
    spec = {"roles": list(roles) or [standalone(replicas=1)]}
    if "roleTemplates" in template:
        spec["roleTemplates"] = template.pop("roleTemplates")
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"replicas": replicas, "groupTemplate": {**template, "spec": spec}},
    }


class SetLab(GroupLab):
    """A cluster with RoleBasedGroupSets and RoleBasedGroups."""

    def __init__(self) -> None:
        Lab.__init__(self, DEFAULTS, apis=(ROLE_BASED_GROUP, ROLE_BASED_GROUP_SET))

    def set(self) -> Object:
        found = self.find(KIND, "x")
        assert found is not None
        return found

    def set_status(self) -> Object:
        found: Object = self.set().get("status") or {}
        return found

    def children(self) -> dict[str, Object]:
        return {name_of(obj): obj for obj in self.all(CHILD)}

    def child(self, name: str) -> Object:
        return self.children()[name]

    def is_set_ready(self) -> bool:
        obj, status = self.set(), self.set_status()
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        return is_seen and is_true(obj, "Ready")

    def is_rolled(self, image: str) -> Callable[[], bool]:
        return lambda: self.is_set_ready() and self.images() == {image}

    async def change(self, path: str, value: Any) -> None:
        await self.edit("x", {"op": "add", "path": path, "value": value}, kind=KIND)

    async def change_child(self, name: str, path: str, value: Any) -> None:
        await self.edit(name, {"op": "add", "path": path, "value": value}, kind=CHILD)

    async def count_writes(self, seconds: float) -> int:
        """What the operator writes in this time."""
        before = sum(self.cluster.tried.values())
        await self.run(seconds)
        return sum(self.cluster.tried.values()) - before


async def start_set(lab: SetLab, *roles: Object, **more: Any) -> None:
    """Make a RoleBasedGroupSet, and let it become ready."""
    await lab.apply(group_set(*roles, **more))
    await lab.until(lab.is_set_ready, 120)
