"""
The spec of a ModelServing as a value: numbers resolved, defaults filled in.

An object may be older than any default, so each fact has one. Nothing here raises: admission
reports what is wrong. Amounts in percent are resolved where the total is known:
``maxUnavailable`` rounds down, ``partition`` and the surge round up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kohort.apis.amounts import PODS_MAX, resolve_amount
from kohort.apis.modelserving import labels
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import Object, annotations_of

GROUP_ROLLING, ROLE_ROLLING = "ServingGroupRollingUpdate", "RoleRollingUpdate"
GROUP_RECREATE, ROLE_RECREATE, RECOVER_NONE = "ServingGroupRecreate", "RoleRecreate", "None"
ALL, ENTRY, WORKER = "All", "Entry", "Worker"
BUILT_IN = "BuiltIn"
DEFAULT_SCHEDULER = "volcano"


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """One role of a group."""

    name: str
    replicas: int  # instances in each group
    workers: int  # of each instance, beside its entry
    entry_template: Object
    worker_template: Object | None = None
    # Instances that a rollout by role may replace at once; None: all outdated ones.
    max_unavailable: int | None = None
    partition: int | None = None  # instances before this place in the list keep their revision

    @property
    def size(self) -> int:
        """Pods of one instance, including the entry."""
        return 1 + self.workers

    @property
    def has_service(self) -> bool:
        """Whether instances have a headless Service; those without workers need none."""
        return self.worker_template is not None

    def template_of(self, index: int) -> Object:
        """The template of the pod with that index in its instance."""
        return self.entry_template if index == 0 else self.worker_template or {}


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """One entry of the list of plugins."""

    name: str
    type: str = BUILT_IN
    config: Any = None
    roles: tuple[str, ...] = ()  # empty: all
    target: str = ALL

    def applies_to(self, role: str, is_entry: bool) -> bool:
        """Whether the plugin is called for such a pod; an unknown target matches no pod."""
        if self.roles and role not in self.roles:
            return False
        return self.target in (ALL, ENTRY if is_entry else WORKER)


@dataclass(frozen=True, slots=True)
class ServingSpec:
    """The spec of a ModelServing, with defaults and numbers."""

    replicas: int
    roles: tuple[RoleSpec, ...]
    scheduler: str = DEFAULT_SCHEDULER
    recovery: str = ROLE_RECREATE
    rollout: str = GROUP_ROLLING
    max_unavailable: int = 1
    max_surge: int = 0
    partition: int | None = None  # None: not set, which the status tells apart from 0
    grace_seconds: int = 0  # how long a failed pod may take to become ready again
    min_role_replicas: Mapping[str, int] = field(default_factory=dict)
    group_topology: Object | None = None
    role_topology: Object | None = None
    plugins: tuple[PluginSpec, ...] = ()

    def find_role(self, name: str) -> RoleSpec | None:
        """The role of that name."""
        return next((role for role in self.roles if role.name == name), None)


def read_spec(serving: Object) -> ServingSpec:
    """The current spec of an object."""
    spec: Object = serving.get("spec") or {}
    template: Object = spec.get("template") or {}
    replicas = int(_given(spec.get("replicas"), 1))
    strategy: Object = spec.get("rolloutStrategy") or {}
    rolling: Object = strategy.get("rollingUpdateConfiguration") or {}
    topology: Object = template.get("networkTopology") or {}
    unavailable = _given(rolling.get("maxUnavailable"), 1)
    return ServingSpec(
        replicas=replicas,
        roles=read_roles(template.get("roles") or ()),
        scheduler=spec.get("schedulerName") or DEFAULT_SCHEDULER,
        recovery=spec.get("recoveryPolicy") or ROLE_RECREATE,
        rollout=strategy.get("type") or GROUP_ROLLING,
        max_unavailable=resolve_amount(unavailable, replicas, round_up=False),
        max_surge=_read_surge(serving, rolling, replicas),
        partition=_read_partition(rolling.get("partition"), replicas),
        grace_seconds=int(template.get("restartGracePeriodSeconds") or 0),
        min_role_replicas=(template.get("gangPolicy") or {}).get("minRoleReplicas") or {},
        group_topology=topology.get("groupPolicy"),
        role_topology=topology.get("rolePolicy"),
        plugins=tuple(_read_plugin(entry) for entry in spec.get("plugins") or ()),
    )


def read_roles(roles: Any) -> tuple[RoleSpec, ...]:
    """The roles of a spec, or of a stored revision."""
    return tuple(_read_role(role) for role in roles)


def roles_of(serving: Object) -> list[Object]:
    """The roles of an object as the user wrote them."""
    spec: Object = serving.get("spec") or {}
    found: list[Object] = (spec.get("template") or {}).get("roles") or []
    return found


def at_revision(serving: Object, roles: list[Object]) -> Object:
    """The object with the roles of a stored revision, and all other fields as they are now."""
    spec: Object = serving.get("spec") or {}
    template: Object = {**(spec.get("template") or {}), "roles": roles}
    return {**serving, "spec": {**spec, "template": template}}


def find_surge(serving: Object) -> Any:
    """The surge as the user wrote it: the field, or else the annotation."""
    strategy: Object = (serving.get("spec") or {}).get("rolloutStrategy") or {}
    rolling: Object = strategy.get("rollingUpdateConfiguration") or {}
    return _find_surge(serving, rolling)


def _read_role(role: Object) -> RoleSpec:
    replicas = int(_given(role.get("replicas"), 1))
    unavailable = role.get("maxUnavailable")
    return RoleSpec(
        name=str(role.get("name") or ""),
        replicas=replicas,
        workers=int(role.get("workerReplicas") or 0),
        entry_template=role.get("entryTemplate") or {},
        worker_template=role.get("workerTemplate"),
        max_unavailable=(
            None if unavailable is None else resolve_amount(unavailable, replicas, round_up=False)
        ),
        partition=_read_partition(role.get("partition"), replicas),
    )


def _read_plugin(entry: Object) -> PluginSpec:
    scope: Object = entry.get("scope") or {}
    return PluginSpec(
        name=str(entry.get("name") or ""),
        type=entry.get("type") or BUILT_IN,
        config=entry.get("config"),
        roles=tuple(scope.get("roles") or ()),
        target=scope.get("target") or ALL,
    )


def _read_partition(value: Any, total: int) -> int | None:
    return None if value is None else resolve_amount(value, total, round_up=True)


def _read_surge(serving: Object, rolling: Object, replicas: int) -> int:
    asked = resolve_amount(_find_surge(serving, rolling), replicas, round_up=True)
    return max(0, min(asked, replicas))


def _find_surge(serving: Object, rolling: Object) -> Any:
    """The field, or the annotation where another project's CRD drops the field."""
    if rolling.get("maxSurge") is not None:
        return rolling["maxSurge"]
    text = annotations_of(serving).get(labels.MAX_SURGE, "")
    number = find_count(text)
    return text if number is None else number


def _given(value: Any, default: Any) -> Any:
    return default if value is None else value


def find_excess(spec: ServingSpec) -> str:
    """Why a workload has more groups or pods than the operator makes; empty if it has not."""
    each = sum(role.replicas * role.size for role in spec.roles)
    if spec.replicas * max(1, each) <= PODS_MAX:
        return ""
    return f"{spec.replicas} groups of {each} pods are too many: at most {PODS_MAX} pods are made"
