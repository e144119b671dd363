"""What objects of a role are made from, in tests."""

from typing import Any

from kohort.apis.rolebasedgroup.objects.sets import make_instance_set
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.revision import hash_roles
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.cluster.objects import Object


def contexts_of(group: Object, **more: Any) -> list[RoleContext]:
    spec = read_spec(group)
    return [RoleContext(group, spec, role, **more) for role in spec.roles]


def context_of(group: Object, role: str, **more: Any) -> RoleContext:
    return next(c for c in contexts_of(group, **more) if c.role.name == role)


def set_of(group: Object, role: str, **more: Any) -> Object:
    """The RoleInstanceSet of a role, as if the API server had given it a uid."""
    made = make_instance_set(context_of(group, role, **more), hash_roles(group)[role])
    made["metadata"]["uid"] = f"uid-of-{role}"
    return made


def template_of(group: Object, role: str, component: int = 0, **more: Any) -> Object:
    listed = set_of(group, role, **more)["spec"]["roleInstanceTemplate"]["components"]
    found: Object = listed[component]["template"]
    return found


def container_of(group: Object, role: str, component: int = 0, **more: Any) -> Object:
    found: Object = template_of(group, role, component, **more)["spec"]["containers"][0]
    return found
