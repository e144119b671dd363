"""
Engine runtime profiles: containers and volumes that the operator injects into pods of a role.

A container or volume that the pod already has by that name stays. A role's overrides add variables
and arguments to containers of the profile. ``injectContainers`` names containers of the role: a pod
without any of them gets nothing. Upstream ignores this field, so templates it made ignore it, too.
"""

from collections.abc import Mapping
from typing import Any

from kohort.apis.rolebasedgroup.problems import FAILED_WORKLOAD, Problem
from kohort.apis.rolebasedgroup.roles import RoleSpec, RuntimeSpec, as_map, as_objects
from kohort.cluster.objects import Object

_INJECTED = ("initContainers", "containers", "volumes")
NO_UPDATE, ROLLING_UPDATE = "NoUpdate", "RollingUpdate"


def find_missing_profiles(role: RoleSpec, profiles: Mapping[str, Object]) -> list[Problem]:
    """A problem for each profile that a role names and that does not exist; the role waits."""
    return [
        Problem(
            FAILED_WORKLOAD,
            f"role {role.name!r} names engine runtime profile {runtime.profile!r}, which does not "
            f"exist; create the ClusterEngineRuntimeProfile",
            role.name,
        )
        for runtime in role.runtimes
        if runtime.profile not in profiles
    ]


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
    for field in _INJECTED:
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
