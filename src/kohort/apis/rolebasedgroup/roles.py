"""
One role as a value: numbers resolved, defaults filled in, templates merged.

A role is standalone (one pod for each instance), a leader with workers, or a list of components.
All three become components with complete templates, so that code which creates pods handles one
form. Percentages are resolved as upstream does for RoleInstanceSets: the partition rounds down,
the surge up, and ``maxUnavailable`` down, or up if there is no surge. The partition rounds up where
instances are stateless, and where another controller makes them.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kohort.apis.amounts import find_percent, resolve_amount
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.problems import Problem
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Kind, Object
from kohort.model.cycles import find_cycle
from kohort.model.policies import Amendment

LEADER, WORKER = "leader", "worker"
NO_RESTART, RECREATE_INSTANCE = "None", "RecreateRoleInstanceOnPodRestart"
OLD_RECREATE = "RecreateRBGOnPodRestart"  # of v0.4; we restart instances, not the group
IN_PLACE_IF_POSSIBLE, IN_PLACE_ONLY, RECREATE_POD = (
    "InPlaceIfPossible",
    "InPlaceOnly",
    "RecreatePod",
)
OLD_RECREATE_POD = "Recreate"  # of v1alpha1
ORDERED, PARALLEL = "OrderedReady", "Parallel"
STATEFUL, STATELESS = "Stateful", "Stateless"
SHARED_LEADER = "LeaderOnly"
PREFERRED, REQUIRED = "Preferred", "Required"
BY_POD, BY_COMPONENT = "Pod", "Component"
BASE_DELAY_SECONDS, MAX_DELAY_SECONDS = 30, 600

_AMENDMENTS = {
    RECREATE_POD: Amendment.NEVER,
    OLD_RECREATE_POD: Amendment.NEVER,
    IN_PLACE_ONLY: Amendment.ONLY,
}
WORKLOAD_TYPES = {
    f"{kind.api_version}/{kind.name}": kind
    for kind in (
        labels.INSTANCE_SET,
        STATEFUL_SET,
        DEPLOYMENT,
        labels.LEADER_WORKER_SET,
    )
}
# A kind that v1alpha1 names and that was never installed; RoleInstanceSet replaces it.
WORKLOAD_TYPES["workloads.x-k8s.io/v1alpha1/InstanceSet"] = labels.INSTANCE_SET


class Pattern(StrEnum):
    """The pattern of an instance's pods; values are those of the role type label."""

    STANDALONE = "PodTemplate"
    LEADER_WORKER = "LeaderWorkerSet"
    COMPONENTS = "Components"


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """One kind of pod of an instance."""

    name: str
    size: int
    template: Object
    service_name: str = ""  # empty: the role's Service, or none
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    start_after: tuple[str, ...] = ()
    delete_after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestartSpec:
    """Whether the restart of a pod recreates its instance, and how long the next one waits."""

    type: str = NO_RESTART
    base_seconds: int = BASE_DELAY_SECONDS
    max_seconds: int = MAX_DELAY_SECONDS

    @property
    def recreates_instance(self) -> bool:
        """Whether the operator recreates the whole instance when one pod restarts."""
        return self.type == RECREATE_INSTANCE

    @property
    def reset_seconds(self) -> int:
        """How long an instance must run without a restart until the count returns to 0."""
        return max(2 * self.max_seconds, 600)


@dataclass(frozen=True, slots=True)
class RolloutSpec:
    """How instances roll to a new revision; amounts as the user wrote them, and resolved."""

    type: str = IN_PLACE_IF_POSSIBLE
    amendment: Amendment = Amendment.IF_POSSIBLE
    partition: int = 0
    max_unavailable: int = 1
    max_surge: int = 0
    is_paused: bool = False
    grace_seconds: int | None = None
    written: Mapping[str, Any] = field(default_factory=dict)  # partition, maxUnavailable, maxSurge


@dataclass(frozen=True, slots=True)
class AdapterSpec:
    """Whether the role has a scaling adapter, and the adapter's labels."""

    is_enabled: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuntimeSpec:
    """One engine runtime profile that the operator injects into pods of the role."""

    profile: str
    inject_containers: tuple[str, ...] = ()
    containers: tuple[Object, ...] = ()


@dataclass(frozen=True, slots=True)
class SchedulingSpec:
    """Whether a recreated pod prefers or requires the node of the pod that it replaces."""

    mode: str = ""  # empty: off
    granularity: str = BY_POD
    avoided: tuple[str, ...] = ()  # keys of labels on nodes to avoid


@dataclass(frozen=True, slots=True)
class HookSpec:
    """The labels and finalizers by which another client holds an instance."""

    labels: Mapping[str, str] = field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    hides_pods: bool = False  # pods leave their endpoints while the instance waits

    def __bool__(self) -> bool:
        return bool(self.labels or self.finalizers)


@dataclass(frozen=True, slots=True)
class LifecycleSpec:
    """The hooks of a stateless set."""

    pre_delete: HookSpec = HookSpec()
    in_place_update: HookSpec = HookSpec()

    def __bool__(self) -> bool:
        return bool(self.pre_delete or self.in_place_update)


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """The spec of one role."""

    name: str
    replicas: int
    pattern: Pattern
    components: tuple[ComponentSpec, ...]
    workload: Kind | None = labels.INSTANCE_SET  # None: an unsupported kind
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    rollout: RolloutSpec = RolloutSpec()
    restart: RestartSpec = RestartSpec()
    is_ordered: bool = False  # create an instance when those before it are ready
    dependencies: tuple[str, ...] = ()
    min_ready_seconds: int = 0
    is_stateless: bool = False  # instances have names without ordinals
    lifecycle: LifecycleSpec = LifecycleSpec()
    unwanted: frozenset[str] = frozenset()  # instances that the user wants replaced, by name
    growth_max: int | None = None  # instances that may be unavailable while more are made
    service_selection: str = ""  # All or LeaderOnly, for leader-worker roles
    service_ports: tuple[Object, ...] = ()
    runtimes: tuple[RuntimeSpec, ...] = ()
    adapter: AdapterSpec = AdapterSpec()
    scheduling: SchedulingSpec = SchedulingSpec()
    is_instance_gang: bool = False  # schedule all pods of an instance or none
    problems: tuple[Problem, ...] = ()

    @property
    def size(self) -> int:
        """Pods of one instance."""
        return sum(component.size for component in self.components)

    @property
    def has_ordinals(self) -> bool:
        """Whether pods have an index and DNS names: not in Deployments and stateless sets."""
        return self.workload != DEPLOYMENT and not self.is_stateless

    @property
    def has_service(self) -> bool:
        """Whether the operator creates a headless Service for the role."""
        return self.workload in (labels.INSTANCE_SET, STATEFUL_SET)

    @property
    def selects_leader(self) -> bool:
        """Whether the Service selects leaders only: by the user, or by default in instance sets."""
        if self.pattern is not Pattern.LEADER_WORKER:
            return False
        by_default = self.workload == labels.INSTANCE_SET and not self.service_selection
        return by_default or self.service_selection == SHARED_LEADER

    def find_component(self, name: str) -> ComponentSpec | None:
        """The component of that name."""
        return next((each for each in self.components if each.name == name), None)

    def list_kept(self, shrinking: Collection[str]) -> frozenset[str]:
        """
        The components whose surplus pods stay until those of others have gone.

        Components go in the reverse order of their start, and after those that ``deleteAfter``
        names. Components that wait for each other in a cycle have no order.
        """
        before = {
            each.name: (*each.delete_after, *self._list_later(each.name))
            for each in self.components
        }
        if find_cycle(before):
            return frozenset()
        waits = (name for name, others in before.items() if not set(others).isdisjoint(shrinking))
        return frozenset(waits)

    def _list_later(self, name: str) -> Iterator[str]:
        return (each.name for each in self.components if name in each.start_after)


def read_lifecycle(lifecycle: Any) -> LifecycleSpec:
    """The hooks in the ``lifecycle`` of a RoleInstanceSet."""
    found = as_map(lifecycle)
    return LifecycleSpec(*(_read_hook(found.get(key)) for key in ("preDelete", "inPlaceUpdate")))


def _read_hook(hook: Any) -> HookSpec:
    found = as_map(hook)
    finalizers = tuple(f for f in as_list(found.get("finalizersHandler")) if isinstance(f, str))
    is_hiding = found.get("markPodNotReady") is True
    return HookSpec(as_texts(found.get("labelsHandler")), finalizers, is_hiding)


def read_role_rollout(role: Object) -> RolloutSpec:
    """The rollout of a role as the user wrote it."""
    notes = as_texts(role.get("annotations"))
    kind = WORKLOAD_TYPES.get(notes.get(labels.WORKLOAD_TYPE) or "", labels.INSTANCE_SET)
    return read_rollout(
        as_map(role.get("rolloutStrategy")).get("rollingUpdate"),
        max(0, as_int(role.get("replicas"), 1)),
        is_stateless=notes.get(labels.INSTANCE_PATTERN) == STATELESS,
        is_carried=kind != labels.INSTANCE_SET,
    )


def read_rollout(
    strategy: Any,
    replicas: int,
    default_unavailable: Any = 1,
    *,
    is_stateless: bool = False,
    is_carried: bool = False,
) -> RolloutSpec:
    """
    The rollout of a role's ``rollingUpdate`` or of a RoleInstanceSet's ``updateStrategy``.

    A role is carried if its workload is a StatefulSet or another kind with a controller of its own.
    """
    rolling = as_map(strategy)
    kind = str(rolling.get("type") or IN_PLACE_IF_POSSIBLE)
    written = {
        "partition": given(rolling.get("partition"), 0),
        "maxUnavailable": given(rolling.get("maxUnavailable"), default_unavailable),
        "maxSurge": given(rolling.get("maxSurge"), 0),
    }
    surge = max(0, resolve_amount(written["maxSurge"], replicas, round_up=True))
    unavailable = resolve_amount(written["maxUnavailable"], replicas, round_up=surge == 0)
    rounds_up = is_stateless or is_carried
    partition = resolve_amount(written["partition"], replicas, round_up=rounds_up)
    percent = find_percent(written["partition"])
    if is_stateless and not is_carried and percent is not None and percent < 100:
        # Upstream's stateless sets always update an instance, unless all are protected.
        partition = min(partition, max(0, replicas - 1))
    grace = as_map(rolling.get("inPlaceUpdateStrategy")).get("gracePeriodSeconds")
    return RolloutSpec(
        type=RECREATE_POD if kind == OLD_RECREATE_POD else kind,
        amendment=_AMENDMENTS.get(kind, Amendment.IF_POSSIBLE),
        partition=max(0, min(partition, replicas)),
        max_unavailable=max(unavailable, 1 if surge == 0 else 0),
        max_surge=surge,
        is_paused=rolling.get("paused") is True,
        grace_seconds=None if grace is None else max(0, as_int(grace, 0)),
        written=written,
    )


def read_restart(pattern: Object, default: str) -> RestartSpec:
    """The restart policy of a pattern, or of an instance: its config, else the former field."""
    config = as_map(pattern.get("restartPolicyConfig"))
    kind = config.get("type") or pattern.get("restartPolicy") or default
    return RestartSpec(
        type=RECREATE_INSTANCE if kind == OLD_RECREATE else str(kind),
        base_seconds=max(0, as_int(config.get("baseDelaySeconds"), BASE_DELAY_SECONDS)),
        max_seconds=max(0, as_int(config.get("maxDelaySeconds"), MAX_DELAY_SECONDS)),
    )


def read_scheduling(annotations: Mapping[str, str], is_stateless: bool) -> SchedulingSpec:
    """The in-place scheduling settings in a role's annotations."""
    default = BY_COMPONENT if is_stateless else BY_POD
    avoided = annotations.get(labels.IN_PLACE_AVOID, "")
    return SchedulingSpec(
        mode=annotations.get(labels.IN_PLACE_SCHEDULING, ""),
        granularity=annotations.get(labels.IN_PLACE_GRANULARITY) or default,
        avoided=tuple(key.strip() for key in avoided.split(",") if key.strip()),
    )


def as_map(value: Any) -> Object:
    """The value if it is a map, else an empty map."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def as_objects(value: Any) -> list[Object]:
    """The entries of a list that are objects."""
    return [entry for entry in as_list(value) if isinstance(entry, dict)]


def as_texts(value: Any) -> dict[str, str]:
    """The entries of a map whose values are strings."""
    return {key: held for key, held in as_map(value).items() if isinstance(held, str)}


def as_int(value: Any, default: int) -> int:
    """The value if it is an integer, else the default."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def given(value: Any, default: Any) -> Any:
    """The value, or the default if the value is None."""
    return default if value is None else value
