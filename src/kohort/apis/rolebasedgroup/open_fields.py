"""
Wrong types in fields for which the definitions name no type: pod templates and patches of them.

As upstream's definitions do, ours let the API server store anything there. So these fields are
checked here before other code relies on their shape. Everything else has been checked already.
"""

from collections.abc import Iterator
from functools import cache

from kohort.apis.definitions.shapes import (
    find_patch_misfit,
    find_template_misfit,
    find_type_misfit,
)
from kohort.apis.rolebasedgroup.definition import define_instance
from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.cluster.objects import Object

_NO_SPEC = "spec is missing"
_PATTERNS = ("standalonePattern", "leaderWorkerPattern", "customComponentsPattern")
_PATCHES = ("leaderTemplatePatch", "workerTemplatePatch")


def find_group_misfit(group: Object) -> str:
    """The first error in the roles of a RoleBasedGroup; or nothing."""
    return _find_first(_check_roles(as_map(group.get("spec")), "spec"))


def find_group_set_misfit(found: Object) -> str:
    """The first error in the roles of the groups that a RoleBasedGroupSet makes; or nothing."""
    template = as_map(as_map(found.get("spec")).get("groupTemplate"))
    return _find_first(_check_roles(as_map(template.get("spec")), "spec.groupTemplate.spec"))


def find_instance_set_misfit(found: Object) -> str:
    """The first error in what a RoleInstanceSet makes its instances from; or nothing."""
    path = "spec.roleInstanceTemplate"
    if found.get("spec") is None:
        return _NO_SPEC
    template = as_map(found["spec"]).get("roleInstanceTemplate")
    misfit = find_type_misfit(_instance_spec(), template, path)
    return misfit or _find_first(_check_components(as_map(template), path))


def find_instance_misfit(instance: Object) -> str:
    """The first error in the templates of a RoleInstance; or nothing."""
    if instance.get("spec") is None:
        return _NO_SPEC
    return _find_first(_check_components(as_map(instance["spec"]), "spec"))


def _find_first(misfits: Iterator[str]) -> str:
    return next(filter(None, misfits), "")


def _check_roles(spec: Object, path: str) -> Iterator[str]:
    for index, role in enumerate(as_objects(spec.get("roles"))):
        for name in _PATTERNS:
            pattern, here = as_map(role.get(name)), f"{path}.roles[{index}].{name}"
            for patch in _PATCHES:
                yield find_patch_misfit(pattern.get(patch), f"{here}.{patch}")
            reference = as_map(pattern.get("templateRef"))
            yield find_patch_misfit(reference.get("patch"), f"{here}.templateRef.patch")
            yield from _check_components(pattern, here)


def _check_components(holder: Object, path: str) -> Iterator[str]:
    for index, component in enumerate(as_objects(holder.get("components"))):
        here = f"{path}.components[{index}].template"
        yield find_template_misfit(component.get("template"), here)


@cache
def _instance_spec() -> Object:
    """The schema of the spec of a RoleInstance, which is what the template of a set holds."""
    root: Object = define_instance()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec: Object = root["properties"]["spec"]
    return spec
