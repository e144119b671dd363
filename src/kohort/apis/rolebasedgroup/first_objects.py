"""
The first objects of a role: what follows from its new RoleInstanceSet, in the same execution.

The order is that in which later plans would write them: the revision of the template is stored
before any instance is made from it. So a crash after any of these writes leaves a role that the
next plan goes on with. The next plan also makes the rest where an object of a former set still has
one of the names, where the caches lack the policy that bounds the roles, and where the names of
instances come from the set's uid.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.instance_actions import InstanceActions
from kohort.apis.rolebasedgroup.pod_actions import PodActions
from kohort.apis.rolebasedgroup.pod_extras import PodExtras
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.apis.rolebasedgroup.set_actions import SetActions
from kohort.cluster.actions import Action
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Kind, Object, name_of, uid_of
from kohort.cluster.timestamps import write_moment
from kohort.model.plans import Plan
from kohort.model.units import Line


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
