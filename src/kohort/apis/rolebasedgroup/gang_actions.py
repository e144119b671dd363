"""
The gang of a group (PodGroup or its like), if the user turns gangs on and the cluster serves them.

The operator creates the gang before any of its pods. Its counts follow the roles while the group
lives: pods that may not start yet, that wait after a failure or that start one by one do not count,
so that the scheduler never waits for a missing pod. The operator patches queue, priority and
timeout while no pod has a node, and deletes the gang when the user turns gangs off.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from kohort.apis.api import Reading, Snapshot
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Membership
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.gang_writer import GangWriter, delete_gang, is_owned_by
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.instance_gangs import InstanceGangs
from kohort.apis.rolebasedgroup.objects.gangs import (
    TEMPLATE_MARKS,
    UPSTREAM,
    RoleMembers,
    find_dialect,
    make_gang,
    render_gang,
)
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.roles import RoleSpec
from kohort.cluster.actions import Action
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, annotations_of, name_of, uid_of
from kohort.model.plans import Plan, Step
from kohort.model.units import Line, Phase

_KINDS = tuple(dict.fromkeys(kind for dialect in UPSTREAM for kind in dialect.kinds))


@dataclass(slots=True)
class GangActions:
    """The writes of one plan to the gang of a group."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    _dialect: Dialect | None = field(init=False)
    _is_placed: bool = field(init=False)
    _has_strangers: bool = field(init=False)  # pods outside the gang, which it would wait for
    _writer: GangWriter = field(init=False)
    _instances: InstanceGangs = field(init=False)

    def __post_init__(self) -> None:
        self._dialect = find_dialect(self.snapshot)
        pods: tuple[RolePod, ...] = self.snapshot.all(POD)
        self._is_placed = any(pod.spec.node_name for pod in pods)
        self._has_strangers = _has_strangers(self._dialect, pods)
        self._writer = GangWriter(self.snapshot, self._dialect)
        self._instances = InstanceGangs(self.snapshot, self.reading, self.plan)

    def is_ready(self, role: RoleSpec, instance: RoleInstanceFacts) -> bool:
        """Whether pods may be created: all objects of their gang exist, or they need none."""
        if self._dialect is None:
            return self._instances.is_ready(role, instance)
        return all(self._writer.find(kind, self._name) for kind in self._dialect.kinds)

    @property
    def _name(self) -> str:
        return names.config_name(name_of(self.snapshot.root))

    def mark(
        self, pod: Object, role: RoleSpec, instance: RoleInstanceFacts, place: tuple[int, int]
    ) -> Object:
        """The pod with the marks of a gang member; ``place``: its instance's ordinal, its own."""
        (ordinal, index), dialect = place, self._dialect
        if dialect is None:
            return self._instances.mark(pod, role, instance, index)
        if dialect.name in TEMPLATE_MARKS or self._has_strangers:
            return pod
        spec = self.reading.memory.facts.spec
        membership = Membership(
            gang=self._name,
            size=sum(each.replicas * each.size for each in spec.roles),
            index=index,
            queue=spec.gang.queue,
            part=f"{role.name}-{ordinal}",
        )
        marked = dialect.mark(pod, membership, self.snapshot.tiers_of(dialect))
        told = {**annotations_of(marked), labels.GANG_DIALECT: dialect.name}
        return {**marked, "metadata": {**marked["metadata"], "annotations": told}}

    def ensure(self) -> Iterator[Action]:
        """Create the objects of the gang that are missing, and patch those that differ."""
        yield from self._instances.ensure()
        if self._dialect is None:
            return
        spec = self.reading.memory.facts.spec
        members = {role.name: self._count(role) for role in spec.roles}
        intent = make_gang(self.snapshot.root, spec, self._dialect, members)
        tiers = self.snapshot.tiers_of(self._dialect)
        for wanted in render_gang(intent, spec, self._dialect, tiers):
            kind = next(k for k in self._dialect.kinds if k.name == wanted["kind"])
            yield from self._writer.bring(kind, wanted, is_placed=self._is_placed)

    def _count(self, role: RoleSpec) -> RoleMembers:
        """How many instances of a role start now, and how many of their pods start later."""
        step = self.plan.steps.get(Line(0, role.name))
        known = self._find_live(role) | {make.ordinal for make in (step.make if step else ())}
        count = role.replicas if step is None else step.wanted
        if step is not None and role.is_ordered:
            count = min(count, len(known))
        ordinals = _list_ordinals(known, count)
        # What waits is counted by rank, as ordinals may have gaps.
        waiting = {o: _find_waiting(role, step, o) for o in ordinals[:count]}
        held = Counter(name for own in waiting.values() for name in own)
        needs = {
            ordinal: sum(c.size for c in role.components if c.name not in waiting[ordinal])
            if ordinal in waiting
            else 0
            for ordinal in ordinals
        }
        return RoleMembers(
            instances=count,
            size=role.size,
            held=sum(each.size * held[each.name] for each in role.components),
            needs=needs,
            waiting=held,
        )

    def _find_live(self, role: RoleSpec) -> set[int]:
        """The ordinals of a role's instances that stay."""
        held = (r for g in self.reading.observed.groups for r in g.roles if r.role == role.name)
        return {i.ordinal for own in held for i in own.instances if i.phase is not Phase.LEAVING}

    def collect(self) -> Iterator[Action]:
        """Delete the gang objects of kinds that the group does not need any more."""
        yield from self._instances.collect()
        wanted = self._dialect.kinds if self._dialect is not None else ()
        settings = self.snapshot.settings.gangs
        known = dict.fromkeys((*_KINDS, *(kind for d in settings for kind in d.kinds)))
        for kind in known:
            held = self._writer.find(kind, self._name) if kind not in wanted else None
            if held is not None and is_owned_by(held, uid_of(self.snapshot.root)):
                yield delete_gang(kind, held, f"the group asks for no {kind.name} any more")


def _list_ordinals(known: set[int], count: int) -> list[int]:
    """The ordinals of instances, at least ``count``: one yet to come has the lowest free one."""
    free = (ordinal for ordinal in range(count + len(known)) if ordinal not in known)
    return [*sorted(known), *islice(free, max(0, count - len(known)))]


def _find_waiting(role: RoleSpec, step: Step | None, ordinal: int) -> frozenset[str]:
    """The components of an instance whose pods may not start yet: all of one that backs off."""
    if step is None:
        return frozenset()
    if ordinal in step.backing_off:
        return frozenset(each.name for each in role.components)
    return step.waiting_parts.get(ordinal, frozenset())


def _has_strangers(dialect: Dialect | None, pods: tuple[RolePod, ...]) -> bool:
    """Whether pods outside the gang exist: the scheduler ignores them, so no pod joins now."""
    live = [pod.metadata for pod in pods if not pod.metadata.is_leaving]
    name = dialect.name if dialect else ""
    return any(meta.annotations.get(labels.GANG_DIALECT, "") != name for meta in live)
