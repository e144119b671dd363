"""
The gangs of a ModelServing: one for each group, if its scheduler has gangs and they are served.

The operator creates a gang before the pods of its group, updates it while the group lives, and
deletes it when the group has no pods and none is planned. Counts follow the roles. So do topology
and queue, even of a gang that is placed: upstream does the same (kthena#1087), and as no edit of
them makes a group anew, they would reach a running group at no other time. P5 is not promised here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kohort.apis.api import Reading, Snapshot
from kohort.apis.facts import Whole
from kohort.apis.gangs.changes import find_pruned_fields, is_changed, with_endings
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.modelserving import names
from kohort.apis.modelserving.instance_places import find_role, roles_at
from kohort.apis.modelserving.objects.gangs import choose_dialect, count_minimum, make_intent
from kohort.apis.modelserving.objects.pods import Joining
from kohort.apis.modelserving.read import Memory
from kohort.apis.modelserving.spec import at_revision, read_spec, roles_of
from kohort.apis.topology import read_pack
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.model.observed import RoleInstances
from kohort.model.placement import Gang
from kohort.model.plans import Plan
from kohort.model.units import Line, Phase

# Nothing in a ModelServing says it, as upstream has it: it stays what others have set.
_OF_OTHERS = "priorityClassName"


@dataclass(slots=True)
class GangActions:
    """The gangs of one workload in one plan."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    _dialect: Dialect | None = field(init=False)
    _held: dict[Kind, dict[str, Whole]] = field(default_factory=dict)
    _named: dict[int, set[str]] = field(default_factory=dict)  # gangs that pods name, by group

    def __post_init__(self) -> None:
        known = self.snapshot.settings.gangs or (VOLCANO,)
        found = choose_dialect(self.snapshot.root, known)
        is_served = found is not None and not any(
            kind in self.snapshot.absent or kind in self.snapshot.unserved for kind in found.kinds
        )
        self._dialect = found if is_served else None
        for pod in self.reading.memory.pods if is_served else ():
            assert found is not None and pod.place is not None
            name = found.find_gang(pod.metadata.labels, pod.metadata.annotations)
            if name:
                self._named.setdefault(pod.place.group, set()).add(name)

    @property
    def joining(self) -> Joining | None:
        """What pods need to join their gangs; None if there are no gangs."""
        if self._dialect is None:
            return None
        return Joining(self._dialect, self.snapshot.tiers_of(self._dialect))

    def is_ready(self, group: int) -> bool:
        """Whether pods of a group may be created: its gang exists."""
        if self._dialect is None or not self._dialect.kinds or self._is_elsewhere(group):
            return True
        name = names.group_name(name_of(self.snapshot.root), group)
        return all(name in self._all(kind) for kind in self._dialect.kinds)

    def ensure(self) -> Iterator[Action]:
        """Create missing gangs of all groups, and patch those that differ."""
        if self._dialect is None:
            return
        groups = self.reading.observed.groups
        for group in groups:
            if group.phase is not Phase.LEAVING and not self._is_elsewhere(group.ordinal):
                serving = self._object_at(group.ordinal, group.revision, group.roles)
                yield from self._ensure(group.ordinal, group.revision, serving, group.roles)
        for make in self.plan.step.make:
            new = self.reading.observed.new_roles.get(make.revision, ())
            serving = self._object_at(make.ordinal, make.revision, new)
            yield from self._ensure(make.ordinal, make.revision, serving, ())

    def _is_elsewhere(self, group: int) -> bool:
        """Whether another controller has put the pods of a group into a gang of another name."""
        own = names.group_name(name_of(self.snapshot.root), group)
        return any(name != own for name in self._named.get(group, ()))

    def _ensure(
        self, group: int, revision: str, serving: Object, held: tuple[RoleInstances, ...]
    ) -> Iterator[Action]:
        assert self._dialect is not None
        spec = read_spec(serving)
        size = sum(role.replicas * role.size for role in spec.roles)
        pack = read_pack(spec.group_topology)
        gang = Gang(group, "", revision, size, count_minimum(spec), pack=pack)
        instances = {role.name: self._find_ordinals(group, role.name, held) for role in spec.roles}
        intent = make_intent(serving, group, gang, self._dialect, instances)
        for wanted in self._dialect.render(intent, self.snapshot.tiers_of(self._dialect)):
            kind = next(k for k in self._dialect.kinds if k.name == wanted["kind"])
            yield from self._bring(kind, wanted)

    def _find_ordinals(self, group: int, role: str, held: tuple[RoleInstances, ...]) -> set[int]:
        """The instances of a role that live or are planned."""
        own = next((each.instances for each in held if each.role == role), ())
        step = self.plan.steps.get(Line(group, role))
        made = {make.ordinal for make in step.make} if step else set()
        return made | {i.ordinal for i in own if i.phase is not Phase.LEAVING}

    def _object_at(self, group: int, revision: str, held: tuple[RoleInstances, ...]) -> Object:
        """The workload with the roles that a group of this revision has."""
        context = self.reading.memory.context
        if context.rolls_by_role:
            return self._object_of(group, held)
        roles = roles_at(context, revision)
        if roles is context.spec.roles:
            return self.snapshot.root
        stored = next(t for t in self.reading.memory.templates if t.revision == revision)
        counts = {role.role: role.wanted for role in held}
        then = [{**role, "replicas": counts.get(role["name"], 1)} for role in stored.roles]
        return at_revision(self.snapshot.root, then)

    def _object_of(self, group: int, held: tuple[RoleInstances, ...]) -> Object:
        """
        The workload with instances as small as the smallest of each role, planned ones included.

        In a rollout by role some instances are not yet of the template's size, or stay so behind a
        partition: a gang that counts pods which never come would never be placed again.
        """
        context = self.reading.memory.context
        asked = context.spec.roles
        sizes = {
            r.role: [i.size for i in r.instances if i.phase is not Phase.LEAVING] for r in held
        }
        for role in asked:
            step = self.plan.steps.get(Line(group, role.name))
            for make in step.make if step else ():
                own = find_role(context, make.revision, role.name) or role
                sizes.setdefault(role.name, []).append(own.size)
        workers = {name: min(own) - 1 for name, own in sizes.items() if own}
        if all(workers.get(role.name, role.workers) == role.workers for role in asked):
            return self.snapshot.root
        roles = [
            {**role, "workerReplicas": workers.get(role["name"], role.get("workerReplicas") or 0)}
            for role in roles_of(self.snapshot.root)
        ]
        return at_revision(self.snapshot.root, roles)

    def _bring(self, kind: Kind, wanted: Object) -> Iterator[Action]:
        name, namespace = name_of(wanted), namespace_of(self.snapshot.root)
        held = self._all(kind).get(name)
        if held is None:
            yield Create(kind, namespace, wanted, f"group {name} has no {kind.name}")
            return
        assert self._dialect is not None
        is_ours = held.metadata.controller == uid_of(self.snapshot.root)
        if not is_ours or held.metadata.is_leaving or not self._dialect.is_mutable:
            return
        found: Object = held.decode().get("spec") or {}
        asked: Object = wanted.get("spec") or {}
        change = {
            key: with_endings(asked.get(key), found.get(key))
            for key in dict.fromkeys((*self._dialect.counts, *self._dialect.clauses, *asked))
            if self._may_patch(kind, key, asked) and is_changed(asked.get(key), found.get(key))
        }
        if change:
            body = {"metadata": {"uid": held.metadata.uid}, "spec": change}
            why = f"{kind.name} {name}: {', '.join(change)} differ"
            yield Patch(Address(kind, namespace, name), body, why=why)

    def _may_patch(self, kind: Kind, key: str, asked: Object) -> bool:
        """Whether we may patch a field: the API server neither drops it nor fills it in."""
        assert self._dialect is not None
        is_filled = asked.get(key) is None and key in (*self._dialect.filled, _OF_OTHERS)
        pruned = find_pruned_fields(self.snapshot.pruned.get(kind, frozenset()))
        return key not in pruned and not is_filled

    def collect(self) -> Iterator[Action]:
        """Delete the gangs of groups that are gone and are not planned."""
        kept = {group.ordinal for group in self.reading.observed.groups}
        kept |= {make.ordinal for make in self.plan.step.make}
        serving = name_of(self.snapshot.root)
        wanted = {names.group_name(serving, ordinal) for ordinal in kept}
        wanted |= {name for found in self._named.values() for name in found}
        kinds = self._dialect.kinds if self._dialect is not None else VOLCANO.kinds
        for kind in kinds:
            for name, held in self._all(kind).items():
                metadata = held.metadata
                is_ours = metadata.controller == uid_of(self.snapshot.root)
                is_wanted = self._dialect is not None and name in wanted
                if is_ours and not metadata.is_leaving and not is_wanted:
                    why = f"no pod is in {kind.name} {name} any more"
                    yield Delete(kind, metadata.namespace, name, metadata.uid, why=why)

    def _all(self, kind: Kind) -> dict[str, Whole]:
        if kind not in self._held:
            self._held[kind] = {found.metadata.name: found for found in self.snapshot.all(kind)}
        return self._held[kind]
