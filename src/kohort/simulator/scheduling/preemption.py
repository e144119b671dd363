"""
Preemption: which pods of lower priority to evict, and from which node.

Only room is won this way, not affinity: a node counts if everything but its free room suits the
pod. Of the pods that could go, as many as possible stay, the most important first; of the nodes,
the one whose most important victim matters least is taken. The room is reserved for the pod while
its victims leave. Preemption leaves no gang below its minimum: such a gang goes whole, wherever its
members stand.

A bundle is the pods that are evicted together. A gang may lose the members that it has beyond its
minimum, one by one. If it lost one more, its other members would hold their room for nothing: so
all pods of the gang go, or none does. Members of subgroups are never beyond the minimum here, since
each would have to be counted against its own. A pod that is already being deleted goes alone.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.placement.amounts import Amounts
from kohort.placement.nodes import bits_of
from kohort.simulator.component import (
    ComponentAction,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    View,
)
from kohort.simulator.scheduling.constraints import find_constraints
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec
from kohort.simulator.scheduling.gangs.roster import Gang, Roster
from kohort.simulator.scheduling.gangs.units import find_policy
from kohort.simulator.scheduling.ledger import Ledger


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


NODES_MAX = 100


@dataclass(frozen=True, slots=True)
class Preemption:
    """A node, and the pods to evict from it."""

    node: str
    victims: tuple[Demand, ...]

    @property
    def cost(self) -> tuple[int, int, int, str]:
        """The sort key by which the cheapest preemption is chosen."""
        priorities = [victim.priority for victim in self.victims]
        return max(priorities), sum(priorities), len(priorities), self.node


def find_preemption(
    pod: Demand, ledger: Ledger, roster: Roster, closed: int = 0
) -> Preemption | None:
    """The cheapest preemption that makes room for a pod, if there is one."""
    if not pod.may_preempt or ledger.lowest_priority >= pod.priority:
        return None
    index = ledger.index
    suited = pod.shape.rule.allowed(index) & ~pod.shape.refresh(index)
    suited &= find_constraints(pod, ledger).allowed & ~ledger.port_conflicts(pod) & ~closed
    names = sorted(index.name(slot) for slot in bits_of(suited))
    found = (_find_victims(pod, name, ledger, roster) for name in names[:NODES_MAX])
    ways = [
        Preemption(name, victims) for name, victims in zip(names, found, strict=False) if victims
    ]
    return min(ways, key=lambda way: way.cost, default=None)


def is_clearing(pod: Demand, node: str, ledger: Ledger) -> bool:
    """Whether pods of lower priority are terminating on a node."""
    return any(p.is_leaving and p.priority < pod.priority for p in ledger.pods_on(node))


def _find_victims(pod: Demand, node: str, ledger: Ledger, roster: Roster) -> tuple[Demand, ...]:
    lower = [p for p in ledger.pods_on(node) if p.priority < pod.priority and not p.is_leaving]
    bundles = bundle_pods(lower, pod.priority, roster)
    free = dict(ledger.index.free[ledger.index.slots[node]])
    for bundle in bundles:
        _give(free, _sum_request(bundle, node), 1)
    if not _fits(free, pod.shape.request):
        return ()
    _give(free, pod.shape.request, -1)
    victims: dict[str, Demand] = {}
    for bundle in sorted(bundles, key=lambda bundle: bundle.order):
        request = _sum_request(bundle, node)
        if not victims.keys() & {p.uid for p in bundle.pods} and _fits(free, request):
            _give(free, request, -1)
        else:
            victims.update((p.uid, p) for p in (*bundle.pods, *bundle.along))
    return tuple(victims.values())


def _sum_request(bundle: Bundle, node: str) -> Amounts:
    """The requests of a bundle's pods on one node."""
    total: Amounts = {}
    for pod in bundle.pods:
        if pod.node == node:
            _give(total, pod.shape.request, 1)
    return total


def _fits(free: Amounts, request: Amounts) -> bool:
    return all(free.get(name, 0) >= amount for name, amount in request.items())


def _give(free: Amounts, request: Amounts, sign: int) -> None:
    for name, amount in request.items():
        free[name] = free.get(name, 0) + sign * amount


def preempt(pod: Demand, way: Preemption, view: View, moment: Moment) -> list[ComponentAction]:
    """The actions that evict the victims, with events."""
    actions: list[ComponentAction] = []
    why = f"{pod.profile}: preempting to accommodate a higher priority pod"
    for victim in way.victims:
        entry = view.find(POD, victim.namespace, victim.name)
        if entry is None or entry.uid != victim.uid:
            continue
        status: Object = entry.decode().get("status") or {}
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": moment.stamp,
            "reason": "PreemptionByScheduler",
            "message": why,
        }
        kept = [c for c in status.get("conditions") or () if c["type"] != "DisruptionTarget"]
        patch = {"status": {"conditions": [*kept, condition]}}
        message = f"Preempted by pod {pod.uid} on node {way.node}"
        actions += [
            MergeRequest(POD, victim.namespace, victim.name, patch, "status", victim.uid),
            DeleteRequest(POD, victim.namespace, victim.name, victim.uid),
            EventRequest(victim.about(), "Normal", "Preempted", message),
        ]
    return actions
