"""
Engine runtime profiles: containers and volumes that the operator injects into pods of a role.

A container or volume that the pod already has by that name stays. A role's overrides add variables
and arguments to containers of the profile. ``injectContainers`` names containers of the role: a pod
without any of them gets nothing. Upstream ignores this field, so templates it made ignore it, too.
"""

from collections.abc import Mapping
from typing import Any

from kohort.apis.rolebasedgroup.roles import RoleSpec, RuntimeSpec, as_map, as_objects
from kohort.cluster.objects import Object

INJECTED = ("initContainers", "containers", "volumes")
ROLLING_UPDATE = "RollingUpdate"


def describe_missing(role: RoleSpec, profiles: Mapping[str, Object]) -> str:
    """A sentence about a profile that a role names and that does not exist; empty: all exist."""
    missing = [each.profile for each in role.runtimes if each.profile not in profiles]
    if not missing:
        return ""
    return (
        f"role {role.name} names engine runtime profile {missing[0]!r}, which does not exist; "
        "create the ClusterEngineRuntimeProfile"
    )


def inject_runtimes(
    pod: Object, role: RoleSpec, profiles: Mapping[str, Object], is_ours: bool
) -> Object:
    """The pod spec with all existing profiles of the role injected."""
    for runtime in role.runtimes:
        profile = as_map(as_map(profiles.get(runtime.profile)).get("spec"))
        if profile and (not is_ours or _is_wanted(pod, runtime)):
            pod = _inject(pod, runtime, profile)
    return pod


def rolls_with_profile(profile: Object) -> bool:
    """Whether an edit of the profile rolls existing pods; else only new role revisions get it."""
    return as_map(profile.get("spec")).get("updateStrategy") == ROLLING_UPDATE


def _is_wanted(pod: Object, runtime: RuntimeSpec) -> bool:
    present = {container.get("name") for container in as_objects(pod.get("containers"))}
    return not runtime.inject_containers or bool(present & set(runtime.inject_containers))


def _inject(pod: Object, runtime: RuntimeSpec, profile: Object) -> Object:
    changed = dict(pod)
    overrides = {container.get("name"): container for container in runtime.containers}
    for field in INJECTED:
        present = as_objects(pod.get(field))
        names = {entry.get("name") for entry in present}
        added = [
            entry for entry in as_objects(profile.get(field)) if entry.get("name") not in names
        ]
        if added:
            changed[field] = [*present, *added]
    known = {entry.get("name") for entry in as_objects(profile.get("containers"))}
    changed["containers"] = [
        _override(container, overrides[container.get("name")])
        if container.get("name") in overrides and container.get("name") in known
        else container
        for container in as_objects(changed.get("containers"))
    ]
    return changed


def _override(container: Object, override: Object) -> Object:
    changed = dict(container)
    for field in ("env", "args"):
        more: Any = override.get(field)
        if more:
            changed[field] = [*(container.get(field) or ()), *more]
    return changed
