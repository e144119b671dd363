"""
A gang for each instance of a role, where the user asks for that and not for one of the group.

Pods of an instance are scheduled all or none, whatever other instances do. The gang has the name
of its RoleInstance and is deleted with it. Pods that may not start yet do not count. An instance
whose pods were made without a gang, by upstream's controller or before the user asked, gets one
when it is made anew.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kohort.apis.api import Reading, Snapshot
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Membership
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.gang_writer import GangWriter, delete_gang, is_owned_by
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.gangs import (
    UPSTREAM,
    find_instance_dialect,
    make_instance_gang,
    render_gang,
)
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.roles import RoleSpec
from kohort.cluster.actions import Action
from kohort.cluster.objects import Object, annotations_of
from kohort.model.plans import Plan
from kohort.model.units import Line


@dataclass(slots=True)
class InstanceGangs:
    """The writes of one plan to the gangs of instances."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    _dialect: Dialect | None = field(init=False)
    _writer: GangWriter = field(init=False)

    def __post_init__(self) -> None:
        spec = self.reading.memory.facts.spec
        is_asked = any(_is_gang(role) for role in spec.roles) and not spec.gang.is_enabled
        self._dialect = find_instance_dialect(self.snapshot) if is_asked else None
        self._writer = GangWriter(self.snapshot, self._dialect)

    def is_ready(self, role: RoleSpec, instance: RoleInstanceFacts) -> bool:
        """Whether pods of an instance may be created: their gang exists, or they need none."""
        if self._dialect is None or not _is_gang(role) or self._has_strangers(instance):
            return True
        found = (self._writer.find(k, instance.metadata.name) for k in self._dialect.kinds)
        return all(held and is_owned_by(held, instance.metadata.uid) for held in found)

    def mark(self, pod: Object, role: RoleSpec, instance: RoleInstanceFacts, index: int) -> Object:
        """The pod with the marks of a member of its instance's gang."""
        dialect = self._dialect
        if dialect is None or not _is_gang(role) or self._has_strangers(instance):
            return pod
        queue = self.reading.memory.facts.spec.gang.queue
        membership = Membership(instance.metadata.name, len(instance.places), index, queue)
        marked = dialect.mark(pod, membership, self.snapshot.tiers_of(dialect))
        told = {**annotations_of(marked), labels.GANG_DIALECT: dialect.name}
        return {**marked, "metadata": {**marked["metadata"], "annotations": told}}

    def ensure(self) -> Iterator[Action]:
        """Create the gangs of instances that are missing, and patch counts that differ."""
        for role, ordinal, instance in self._list_instances():
            if self._has_strangers(instance):
                continue
            assert self._dialect is not None
            step = self.plan.steps.get(Line(0, role.name))
            waiting = step.waiting_parts.get(ordinal, frozenset()) if step else frozenset()
            pods = self._pods_of(instance)
            intent = make_instance_gang(
                self.reading.memory.facts.group, instance.decode(), waiting, self._dialect
            )
            spec, tiers = self.reading.memory.facts.spec, self.snapshot.tiers_of(self._dialect)
            is_placed = any(pod.spec.node_name for pod in pods.values())
            for wanted in render_gang(intent, spec, self._dialect, tiers):
                kind = next(k for k in self._dialect.kinds if k.name == wanted["kind"])
                yield from self._writer.bring(kind, wanted, is_placed=is_placed)

    def collect(self) -> Iterator[Action]:
        """Delete the gangs of instances whose role asks for none any more."""
        held = self.reading.memory.instances
        uids = {i.metadata.uid for own in held.values() for i in own.values()}
        wanted = {instance.metadata.uid for _, _, instance in self._list_instances()}
        known = (*UPSTREAM, *self.snapshot.settings.gangs)
        for kind in dict.fromkeys(kind for dialect in known for kind in dialect.kinds):
            is_kept = self._dialect is not None and kind in self._dialect.kinds
            for found in self.snapshot.all(kind):
                owner, is_leaving = found.metadata.controller, found.metadata.is_leaving
                is_wanted = is_kept and owner in wanted
                if owner in uids and not is_wanted and not is_leaving:
                    yield delete_gang(kind, found, "its instance is no gang any more")

    def _list_instances(self) -> Iterator[tuple[RoleSpec, int, RoleInstanceFacts]]:
        facts = self.reading.memory.facts
        for name, role in facts.roles.items() if self._dialect else ():
            for ordinal, instance in self.reading.memory.instances[name].items():
                if _is_gang(role.spec) and not instance.metadata.is_leaving:
                    yield role.spec, ordinal, instance

    def _has_strangers(self, instance: RoleInstanceFacts) -> bool:
        """Whether pods outside the gang exist: the scheduler would wait for them for ever."""
        assert self._dialect is not None
        live = [pod.metadata for pod in self._pods_of(instance).values()]
        name = self._dialect.name
        return any(
            meta.annotations.get(labels.GANG_DIALECT) != name
            for meta in live
            if not meta.is_leaving
        )

    def _pods_of(self, instance: RoleInstanceFacts) -> Mapping[str, RolePod]:
        return self.reading.memory.pods.get(instance.metadata.uid, {})


def _is_gang(role: RoleSpec) -> bool:
    """Whether instances of a role are gangs: a single pod needs none."""
    return role.is_instance_gang and role.size > 1
