"""
From a plan to the objects of a RoleBasedGroup.

A new set is followed by its revision and its Service, the revision by instances, and an instance by
its pods, each when the API server has stored the one before. Where something is already there, or
the caches have yet to show a thing that counts, later plans write the rest.

What follows from a new set is written in the order in which later plans would write it: the
revision of the template is stored before any instance is made from it. So a crash after any of
these writes leaves a role that the next plan goes on with. The next plan also makes the rest where
an object of a former set still has one of the names, where the caches lack the policy that bounds
the roles, and where the names of instances come from the set's uid.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from kohort.apis.api import Reading, Snapshot
from kohort.apis.carriers.failures import find_replaced, plan_record
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.adopted_objects import adopt_objects, adopt_pods
from kohort.apis.rolebasedgroup.gang_actions import GangActions
from kohort.apis.rolebasedgroup.instance_actions import InstanceActions
from kohort.apis.rolebasedgroup.lost_revisions import make_again
from kohort.apis.rolebasedgroup.pod_actions import PodActions
from kohort.apis.rolebasedgroup.pod_extras import PodExtras
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.apis.rolebasedgroup.rollback import roll_back
from kohort.apis.rolebasedgroup.set_actions import SetActions
from kohort.cluster.actions import Action
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Kind, Object, name_of, uid_of
from kohort.cluster.timestamps import write_moment
from kohort.model.plans import Plan
from kohort.model.units import Line


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes to the objects of a group that carry out a plan."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_actions(snapshot, reading, plan))


def _actions(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> Iterator[Action]:
    facts = reading.memory.facts
    adopted = (*adopt_objects(snapshot, facts), *list_taken_back(reading))
    if adopted:
        yield from adopted
        return
    sets = SetActions(snapshot, facts, plan)
    marks = tuple(sets.mark_served())
    if marks:
        # A later plan changes the roles: if it did so and this write failed, the proof were gone.
        yield from marks
        return
    gangs = GangActions(snapshot, reading, plan)
    extras = PodExtras(snapshot, reading)
    pods = PodActions(snapshot, reading, plan, gangs, extras)
    yield from roll_back(snapshot.root, facts.fallback, plan)
    yield from sets.scale_group()
    yield from sets.store_group()
    yield from make_again(snapshot)
    yield from sets.write_config()
    yield from sets.write_policy()
    yield from gangs.ensure()
    yield from note_failures(reading, plan, sets)
    first = FirstObjects(snapshot, reading, plan, sets, extras, pods)
    for name, role in facts.roles.items():
        yield from sets.ensure_role(role, partial(first.follow_set, role))
        step = plan.steps.get(Line(0, name))
        yield from extras.remember(role, step)
        if step is None or not role.set_uid or not role.is_stored:
            continue
        now = write_moment(plan.now)
        instances = InstanceActions(snapshot, reading, role, step, extras, pods, now)
        yield from instances.list_actions()
        yield from pods.list_actions(role, step, instances.leaving)
    for delegated in facts.delegated.values():
        yield from sets.ensure_delegate(delegated)
    yield from sets.clean()
    yield from gangs.collect()
    yield from sets.forget()


def list_taken_back(reading: Reading[Memory]) -> Iterator[Action]:
    """Adopt pods that earlier instances of the same names left behind."""
    if orphans := reading.memory.pods.get("", {}):
        held = [i for own in reading.memory.instances.values() for i in own.values()]
        yield from adopt_pods([i for i in held if not i.metadata.is_leaving], orphans)


def note_failures(reading: Reading[Memory], plan: Plan, sets: SetActions) -> Iterator[Action]:
    """Record new failures on the current revision; a later plan acts on the record."""
    roles = reading.memory.facts.roles
    record = plan_record({Line(0, name): role.failures for name, role in roles.items()}, plan)
    stored = sets.find_in_force()
    if record is not None and stored is not None:
        yield sets.annotate(stored, {labels.RESTARTS: record.text}, record.why)
    if stored is not None:
        yield from _forget_failures(sets, stored.metadata.name)


def _forget_failures(sets: SetActions, in_force: str) -> Iterator[Action]:
    """Remove records of failures that those on the current revision have replaced."""
    own = {stored.metadata.name: stored for stored in sets.list_own_revisions()}
    notes = {name: s.metadata.annotations.get(labels.RESTARTS, "") for name, s in own.items()}
    for name in find_replaced(notes, in_force):
        yield sets.annotate(
            own[name], {labels.RESTARTS: None}, f"{in_force} has the newer failures"
        )


@dataclass(frozen=True, slots=True)
class FirstObjects:
    """The writes that follow from the new sets of one plan."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    sets: SetActions
    extras: PodExtras
    pods: PodActions

    def follow_set(self, role: RoleFacts, stored: Object) -> Iterator[Action]:
        """The Service and the revision of a set that was stored just now."""
        new = replace(role, set_uid=uid_of(stored))
        yield from self.sets.make_service(new, stored)
        for revision in self.sets.store_role(new):
            if name_of(revision.obj) not in self._list_names(CONTROLLER_REVISION):
                yield replace(revision, then=partial(self._follow_revision, new))

    def _follow_revision(self, role: RoleFacts, stored: Object) -> Iterator[Action]:
        """The instances of a role whose first revision was stored just now."""
        step = self.plan.steps.get(Line(0, role.spec.name))
        is_bound = any(True for _ in self.sets.write_policy())  # by a policy not yet in the cache
        if step is None or role.spec.is_stateless or is_bound:
            return
        now, taken = write_moment(self.plan.now), self._list_names(labels.INSTANCE)
        instances = InstanceActions(
            self.snapshot, self.reading, role, step, self.extras, self.pods, now
        )
        for made in instances.list_creates():
            if name_of(made.obj) not in taken:
                yield made

    def _list_names(self, kind: Kind) -> set[str]:
        return {found.metadata.name for found in self.snapshot.all(kind)}
