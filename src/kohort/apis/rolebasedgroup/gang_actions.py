"""
The gang of a group (PodGroup or its like), if the user turns gangs on and the cluster serves them.

The operator creates the gang before any of its pods. Its counts follow the roles while the group
lives: pods that may not start yet, that wait after a failure or that start one by one do not count,
so that the scheduler never waits for a missing pod. The operator patches queue, priority and
timeout while no pod has a node, and deletes the gang when the user turns gangs off.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kohort.apis.api import Reading, Snapshot
from kohort.apis.carriers.desired import find_changes
from kohort.apis.facts import Whole
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Membership
from kohort.apis.rolebasedgroup import labels, names
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
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import Kind, Object, annotations_of, name_of, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.model.plans import Plan
from kohort.model.units import Line, Phase

# Counts of members, which follow the roles. All other fields stay once a pod has a node.
_COUNTS = ("minMember", "minResources", "subGroupPolicy", "subGroups")
_KINDS = tuple(dict.fromkeys(kind for dialect in UPSTREAM for kind in dialect.kinds))


@dataclass(slots=True)
class GangActions:
    """The writes of one plan to the gang of a group."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    _dialect: Dialect | None = field(init=False)
    _is_placed: bool = field(init=False)

    def __post_init__(self) -> None:
        self._dialect = find_dialect(self.snapshot)
        pods: tuple[RolePod, ...] = self.snapshot.all(labels.POD)
        self._is_placed = any(pod.spec.node_name for pod in pods)

    @property
    def is_ready(self) -> bool:
        """Whether pods may be created: all objects of their gang exist, or they need none."""
        return self._dialect is None or all(
            self._find(kind, self._name) is not None for kind in self._dialect.kinds
        )

    @property
    def _name(self) -> str:
        return names.config_name(name_of(self.snapshot.root))

    def mark(self, pod: Object, role: RoleSpec, ordinal: int, index: int) -> Object:
        """The pod with the marks of a gang member, unless its template has them already."""
        dialect = self._dialect
        if dialect is None or dialect.name in TEMPLATE_MARKS or self._has_strangers(dialect):
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

    def _has_strangers(self, dialect: Dialect) -> bool:
        """Whether pods outside the gang exist: the scheduler ignores them, so no pod joins now."""
        pods: tuple[RolePod, ...] = self.snapshot.all(labels.POD)
        live = [pod.metadata for pod in pods if not pod.metadata.is_leaving]
        return any(meta.annotations.get(labels.GANG_DIALECT) != dialect.name for meta in live)

    def ensure(self) -> Iterator[Action]:
        """Create the objects of the gang that are missing, and patch those that differ."""
        if self._dialect is None:
            return
        spec = self.reading.memory.facts.spec
        members = {role.name: self._count(role) for role in spec.roles}
        intent = make_gang(self.snapshot.root, spec, self._dialect, members)
        tiers = self.snapshot.tiers_of(self._dialect)
        for wanted in render_gang(intent, spec, self._dialect, tiers):
            kind = next(k for k in self._dialect.kinds if k.name == wanted["kind"])
            yield from self._bring(kind, wanted)

    def _count(self, role: RoleSpec) -> RoleMembers:
        """How many instances of a role start now, and how many of their pods start later."""
        step = self.plan.steps.get(Line(0, role.name))
        if step is None:
            return RoleMembers(role.replicas, role.size)
        (group,) = self.reading.observed.groups
        held = next((each for each in group.roles if each.role == role.name), None)
        live = (
            {i.ordinal for i in held.instances if i.phase is not Phase.LEAVING} if held else set()
        )
        count = step.wanted
        if role.is_ordered:
            count = min(count, len(live | {make.ordinal for make in step.make}))
        backing = [ordinal for ordinal in step.backing_off if ordinal < count]
        waiting = sum(
            component.size
            for ordinal, parts in step.waiting_parts.items()
            for component in role.components
            if component.name in parts and ordinal < count and ordinal not in backing
        )
        return RoleMembers(count, role.size, waiting + len(backing) * role.size)

    def _bring(self, kind: Kind, wanted: Object) -> Iterator[Action]:
        name, namespace = name_of(wanted), namespace_of(self.snapshot.root)
        held = self._find(kind, name)
        if held is None:
            yield Create(kind, namespace, wanted, f"group {name} has no {kind.name}")
            return
        if not self._is_own(held) or self._dialect is None or not self._dialect.is_mutable:
            return
        found: Object = held.decode().get("spec") or {}
        change = {
            key: wanted["spec"].get(key)
            for key in dict.fromkeys((*_COUNTS, *wanted["spec"]))
            if self._may_patch(kind, key, found) and _differs(wanted["spec"].get(key), found, key)
        }
        if change:
            body = {"metadata": {"uid": held.metadata.uid}, "spec": change}
            why = f"{kind.name} {name}: {', '.join(change)} differ"
            yield Patch(Address(kind, namespace, name), body, why=why)

    def _may_patch(self, kind: Kind, key: str, found: Object) -> bool:
        """Whether to patch a field: the API server keeps it, and no scheduled pod depends on it.

        A gang that another controller made may lack fields; once a pod has a node we add none.
        """
        dropped = self.snapshot.pruned.get(kind, frozenset())
        pruned = {path.removeprefix("spec.").split(".")[0].split("[")[0] for path in dropped}
        if key in pruned:
            return False
        return not self._is_placed or (key in _COUNTS and key in found)

    def collect(self) -> Iterator[Action]:
        """Delete the gang objects of kinds that the group does not need any more."""
        wanted = self._dialect.kinds if self._dialect is not None else ()
        settings = self.snapshot.settings.gangs
        known = dict.fromkeys((*_KINDS, *(kind for d in settings for kind in d.kinds)))
        for kind in known:
            held = self._find(kind, self._name) if kind not in wanted else None
            if held is not None and self._is_own(held):
                metadata = held.metadata
                why = f"the group asks for no {kind.name} any more"
                yield Delete(kind, metadata.namespace, metadata.name, metadata.uid, why=why)

    def _is_own(self, held: Whole) -> bool:
        is_ours = held.metadata.controller == uid_of(self.snapshot.root)
        return is_ours and not held.metadata.is_leaving

    def _find(self, kind: Kind, name: str) -> Whole | None:
        held: tuple[Whole, ...] = self.snapshot.all(kind)
        return next((found for found in held if found.metadata.name == name), None)


def _differs(wanted: object, found: Object, key: str) -> bool:
    if wanted is None:
        return found.get(key) not in (None, "", [], {})
    return bool(find_changes({"metadata": {}, key: wanted}, {"metadata": {}, **found}, ""))
