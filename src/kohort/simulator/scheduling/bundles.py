"""
Bundles: pods that preemption evicts together.

A gang may lose the members that it has beyond its minimum, one by one. If it lost one
more, the remaining members would hold their room in vain: so all its pods go, or none.
Members of subgroups never count as beyond the minimum here, since each subgroup has a
minimum of its own. A pod that is already being deleted goes alone.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec
from kohort.simulator.scheduling.gangs.roster import Gang, Roster
from kohort.simulator.scheduling.gangs.units import find_policy


@dataclass(frozen=True, slots=True)
class Bundle:
    """Pods that can only be evicted together."""

    pods: tuple[Demand, ...]
    along: tuple[Demand, ...] = ()  # gang members that cannot stay if ``pods`` go
    is_gang: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key: highest priority first; of equal ones, whole gangs before single pods."""
        first = min(pod.order for pod in self.pods)
        return first[0], not self.is_gang, first


def bundle_pods(pods: Iterable[Demand], priority: int, roster: Roster) -> list[Bundle]:
    """The bundles in which these pods of one node can be evicted for a higher priority."""
    bundles: list[Bundle] = []
    members: dict[GangKey, list[Demand]] = {}
    for pod in pods:
        gang = roster.find(pod.uid)
        if gang is None or gang.spec is None or pod.uid in gang.doomed:
            bundles.append(Bundle((pod,)))
        else:
            members.setdefault(gang.key, []).append(pod)
    for key, found in members.items():
        bundles += _bundle_members(roster.gangs[key], found, priority)
    return bundles


def _bundle_members(gang: Gang, pods: list[Demand], priority: int) -> list[Bundle]:
    spec = gang.spec
    assert spec is not None
    spare = _find_spare(gang, spec, pods)
    bundles = [Bundle((pod,)) for pod in spare]
    standing = gang.standing()
    if len(spare) < len(pods) and all(pod.priority < priority for pod in standing):
        rest = tuple(pod for pod in standing if pod not in spare)
        bundles.append(Bundle(rest, tuple(spare), is_gang=True))
    return bundles


def _find_spare(gang: Gang, spec: GangSpec, pods: Iterable[Demand]) -> list[Demand]:
    """The members beyond a gang's minimum, lowest priority first."""
    left = gang.count() - spec.minimum
    roles = Counter(pod.role for pod in gang.standing())
    spare: list[Demand] = []
    for pod in sorted(pods, key=lambda pod: pod.order, reverse=True):
        is_demanded = roles[pod.role] <= spec.minima.get(pod.role, 0)
        if left > 0 and not is_demanded and find_policy(pod, spec.policies) is None:
            spare.append(pod)
            roles[pod.role] -= 1
            left -= 1
    return spare
