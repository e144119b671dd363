"""
Builds units, the sets of pods that are placed together, from a gang and its members.

Members that must start together go first, those beyond the minimum after them. A
subgroup that is not complete is left out. What is missing before the scheduler looks for
room (members, roles, subgroups, claims) is said as a refusal.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kohort.placement.layout import Layout
from kohort.placement.units import Batch, Unit, Window
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.gangs.requests import GangSpec, SubgroupPolicy
from kohort.simulator.scheduling.gangs.roster import Gang

Mask = Callable[[Demand], int]  # the nodes open to a pod, besides its node rule

NOT_ENOUGH_TASKS = "NotEnoughTasks"
NOT_ENOUGH_OF_TASK = "NotEnoughPodsOfTask"
NOT_ENOUGH_RESOURCES = "NotEnoughResources"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a gang is not tried, or does not fit."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class _Subgroup:
    policy: SubgroupPolicy
    waiting: list[Demand]
    standing: list[Demand]

    @property
    def needed(self) -> int:
        return max(0, self.policy.size - len(self.standing))

    @property
    def is_complete(self) -> bool:
        return len(self.waiting) >= self.needed


class Builder:
    """Builds the units of one gang."""

    def __init__(self, gang: Gang, spec: GangSpec, layout: Layout, mask: Mask) -> None:
        self._spec = spec
        self._layout = layout
        self._mask = mask
        candidates, standing = gang.candidates(), gang.standing()
        self._strangers = [pod for pod in candidates if not _is_seen(pod, spec)]
        self._waiting = [pod for pod in candidates if _is_seen(pod, spec)]
        self._standing = [pod for pod in standing if _is_seen(pod, spec)]
        self._count = len(self._standing) + gang.succeeded()
        self.needed = max(0, spec.minimum - self._count)
        self.window = spec.limit.resolve(layout.forest) if spec.limit else None

    def find_refusal(self) -> Refusal | None:
        """What the gang lacks before a search for room makes sense; None if nothing."""
        present = len(self._waiting) + self._count
        if present < self._spec.minimum:
            return Refusal(
                NOT_ENOUGH_TASKS,
                "Not enough valid tasks for gang-scheduling, "
                f"valid: {present}, min: {self._spec.minimum}",
            )
        roles = Counter(pod.role for pod in (*self._waiting, *self._standing))
        for role, minimum in self._spec.minima.items():
            if roles[role] < minimum:
                return Refusal(
                    NOT_ENOUGH_OF_TASK,
                    f"Not enough valid pods of task {role}, valid: {roles[role]}, min: {minimum}",
                )
        return self._find_missing_parts() or self._find_mixture()

    def _find_missing_parts(self) -> Refusal | None:
        parts = self._split()[1]
        for policy in self._spec.policies:
            complete = sum(part.policy is policy and part.is_complete for part in parts)
            if complete < policy.needed:
                return Refusal(
                    NOT_ENOUGH_OF_TASK,
                    f"Not enough valid subgroups of {policy.name}, "
                    f"valid: {complete}, min: {policy.needed}",
                )
        return None

    def _find_mixture(self) -> Refusal | None:
        priorities = {pod.priority for pod in (*self._waiting, *self._standing)}
        if self._spec.is_uniform and len(priorities) > 1:
            found = ", ".join(str(priority) for priority in sorted(priorities))
            return Refusal(
                NOT_ENOUGH_TASKS, f"all pods of a group must have one priority, found {found}"
            )
        return None

    def build(self) -> Unit:
        """One unit of all waiting members."""
        loose, parts = self._split()
        ready = Counter(part.policy.name for part in parts if not part.needed)
        complete = [p for p in parts if p.is_complete and p.waiting and p.policy.size]
        standing = Counter(pod.role for pod in self._standing)
        return Unit(
            batches=self._batch(self._rank(loose), self.needed),
            needed=self.needed,
            window=self.window,
            pinned=self._find_pin(self._standing, self.window),
            minima={
                role: minimum - standing[role]
                for role, minimum in self._spec.minima.items()
                if minimum > standing[role]
            },
            parts=tuple(self._build_part(part) for part in complete),
            parts_needed={
                policy.name: policy.needed - ready[policy.name]
                for policy in self._spec.policies
                if policy.needed > ready[policy.name]
            },
        )

    def build_single(self, pod: Demand) -> Unit:
        """A unit of one member beyond the minimum, within the domains of its gang and subgroup."""
        pinned = self._find_pin(self._standing, self.window)
        for part in self._split()[1]:
            if pod in part.waiting:
                alone = self._build_part(_Subgroup(part.policy, [pod], part.standing))
                inner = Unit(alone.batches, 1, alone.window, alone.pinned)
                return Unit((), 1, self.window, pinned, parts=(inner,))
        return Unit(self._batch([pod], 1), 1, self.window, pinned)

    def build_more(self) -> list[Unit]:
        """Units of subgroups beyond the minimum, each placed whole or not at all."""
        pinned = self._find_pin(self._standing, self.window)
        units = []
        for part in self._split()[1]:
            if part.needed and part.is_complete:
                inner = self._build_part(part)
                units.append(Unit((), inner.needed, self.window, pinned, parts=(inner,)))
        return units

    def find_incomplete(self) -> Refusal | None:
        """The first subgroup that lacks members to start, or is not there."""
        for part in self._split()[1]:
            if part.waiting and not part.is_complete:
                present, size = len(part.waiting) + len(part.standing), part.policy.size
                return Refusal(
                    NOT_ENOUGH_OF_TASK,
                    f"Not enough valid pods of a subgroup of {part.policy.name}, "
                    f"valid: {present}, min: {size}",
                )
        if self._strangers:
            return Refusal(NOT_ENOUGH_OF_TASK, "the subgroup that a pod names does not exist")
        return None

    def may_join(self, pod: Demand) -> bool:
        """Whether a member may start without waiting for others: its subgroup has started."""
        if pod in self._strangers:
            return False
        return all(pod not in part.waiting or not part.needed for part in self._split()[1])

    def _build_part(self, part: _Subgroup) -> Unit:
        limit = part.policy.limit
        window = limit.resolve(self._layout.forest) if limit else None
        pinned = self._find_pin(part.standing, window)
        needed = max(1, part.needed)
        batches = self._batch(part.waiting, needed)
        return Unit(batches, needed, window, pinned, policy=part.policy.name)

    def _find_pin(self, pods: Sequence[Demand], window: Window | None) -> int | None:
        """The domain of the placed members; None if the gang needs no domain."""
        if window is None:
            return None
        return self._layout.forest.find_common(pod.node for pod in pods)

    def _split(self) -> tuple[list[Demand], list[_Subgroup]]:
        """The waiting members without a subgroup, and all subgroups."""
        parts: dict[tuple[str, ...], _Subgroup] = {}
        loose = []
        for pods, is_waiting in ((self._waiting, True), (self._standing, False)):
            for pod in pods:
                policy = find_policy(pod, self._spec.policies)
                if policy is None:
                    loose += [pod] if is_waiting else []
                    continue
                key = (policy.name, *(pod.labels[name] for name in policy.keys))
                part = parts.setdefault(key, _Subgroup(policy, [], []))
                (part.waiting if is_waiting else part.standing).append(pod)
        return loose, [parts[key] for key in sorted(parts)]

    def _rank(self, pods: list[Demand]) -> list[Demand]:
        """The members in order, those that fill a role's minimum first."""
        left = Counter(self._spec.minima)
        left.subtract(Counter(pod.role for pod in self._standing))
        demanded: list[Demand] = []
        rest: list[Demand] = []
        for pod in pods:
            is_demanded = left[pod.role] > 0
            left[pod.role] -= 1
            (demanded if is_demanded else rest).append(pod)
        return [*demanded, *rest]

    def _batch(self, pods: Iterable[Demand], needed: int) -> tuple[Batch, ...]:
        """Batches of equal pods, with those beyond the minimum last."""
        groups: dict[tuple[object, ...], list[Demand]] = {}
        for at, pod in enumerate(pods):
            is_extra = at >= needed
            key = (is_extra, pod.shape, pod.terms, pod.role, self._mask(pod), pod.ports)
            groups.setdefault(key, []).append(pod)
        return tuple(
            Batch(
                pods[0].shape,
                tuple(pods),
                pods[0].role,
                self._mask(pods[0]),
                None if pods[0].terms.is_empty else pods[0].terms,
            )
            for _, pods in sorted(groups.items(), key=lambda item: item[0][0] is True)
        )


def _is_seen(pod: Demand, spec: GangSpec) -> bool:
    return not spec.is_closed or find_policy(pod, spec.policies) is not None


def find_policy(pod: Demand, policies: Iterable[SubgroupPolicy]) -> SubgroupPolicy | None:
    """The policy that makes subgroups of pods like this one."""
    for policy in policies:
        if all(key in pod.labels for key in policy.keys) and policy.selector.matches(pod.labels):
            return policy
    return None
