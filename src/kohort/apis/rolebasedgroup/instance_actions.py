"""
RoleInstances: which the operator creates, updates to another revision, and deletes.

The operator creates an instance from the stored template of its revision. To update one, it writes
the object as if it created it now, ordinals included; the pods follow. When it deletes one, the
garbage collector deletes the pods. Pods of a new instance are created as soon as it is stored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.instances import has_foreign_hash, revision_of
from kohort.apis.rolebasedgroup.lifecycle import UPDATING, LifecycleView
from kohort.apis.rolebasedgroup.objects.instances import make_instance, make_stateless_instance
from kohort.apis.rolebasedgroup.pod_actions import PodActions
from kohort.apis.rolebasedgroup.pod_extras import PodExtras
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, annotations_of, labels_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Cause, Step
from kohort.model.units import Phase


@dataclass(frozen=True, slots=True)
class InstanceActions:
    """The writes of one plan to the RoleInstances of one role."""

    snapshot: Snapshot
    reading: Reading[Memory]
    role: RoleFacts
    step: Step
    extras: PodExtras
    pods: PodActions
    now: str = ""  # a timestamp

    @property
    def leaving(self) -> frozenset[int]:
        """The ordinals of instances that this plan deletes."""
        return frozenset(r.ordinal for r in self.step.retire if r.cause is not Cause.FAILED)

    def list_actions(self) -> Iterator[Action]:
        """Create, update and delete instances of the role, as the plan says."""
        held = self.reading.memory.instances[self.role.spec.name]
        for retired in self.step.retire:
            if retired.cause is not Cause.FAILED:
                yield _delete(held[retired.ordinal], retired.why)
        yield from self.list_creates()
        for ordinal in self.step.amend:
            yield from self._amend(held[ordinal], ordinal)
        if self.role.spec.lifecycle:
            yield from self._list_states(held)

    def list_creates(self) -> Iterator[Create]:
        """Create the missing instances of the role, and the pods of each."""
        for make in self.step.make:
            made = self._make(make.ordinal, make.revision)
            if made is not None:
                why = f"instance {made['metadata']['name']} does not exist"
                is_held = make.ordinal in self.step.backing_off
                then = None if is_held else partial(self.pods.make_first, self.role, make.ordinal)
                yield Create(labels.INSTANCE, namespace_of(self.snapshot.root), made, why, then)

    def _list_states(self, held: Mapping[int, RoleInstanceFacts]) -> Iterator[Action]:
        """Write the lifecycle states by which clients with hooks know what comes next."""
        (group,) = self.reading.observed.groups
        own = next(each for each in group.roles if each.role == self.role.spec.name)
        phases = {instance.ordinal: instance.phase for instance in own.instances}
        going = {*self.leaving, *self.step.amend}
        for ordinal, instance in held.items():
            if ordinal in going or instance.metadata.is_leaving:
                continue
            view = LifecycleView(self.role.spec.lifecycle, instance.metadata)
            is_ready = phases[ordinal] is Phase.READY
            state = view.find_next(self.step.held.get(ordinal), is_ready=is_ready)
            if state != view.state:
                yield self._write_state(instance, state)

    def _write_state(self, instance: RoleInstanceFacts, state: str) -> Patch:
        metadata = instance.metadata
        body = {
            "metadata": {
                "uid": metadata.uid,
                "labels": {labels.LIFECYCLE_STATE: state},
                "annotations": {labels.LIFECYCLE_TIMESTAMP: self.now},
            }
        }
        address = Address(labels.INSTANCE, metadata.namespace, metadata.name)
        return Patch(address, body, why=f"instance {metadata.name} is {state} for its hooks")

    def _make(
        self, ordinal: int, revision: str, held: Mapping[str, str] | None = None
    ) -> Object | None:
        template = self.role.find_template(revision)
        if template is None:
            return None
        owner = self.role.instance_set
        metadata = {**owner["metadata"], "uid": self.role.set_uid}
        spec = {**owner["spec"], "roleInstanceTemplate": template}
        whole = {**owner, "metadata": metadata, "spec": spec}
        if self.role.spec.is_stateless:
            identity = names.instance_id(self.role.set_uid, ordinal)
            made = make_stateless_instance(whole, identity, revision)
        else:
            made = make_instance(whole, ordinal, revision)
        noted = {**(held or {}), **annotations_of(made)}
        ports = self.extras.allot({**made, "metadata": {**made["metadata"], "annotations": noted}})
        if ports:
            made["metadata"]["annotations"] = {**annotations_of(made), **ports}
        return made

    def _amend(self, instance: RoleInstanceFacts, ordinal: int) -> Iterator[Action]:
        pods = self.reading.memory.pods.get(instance.metadata.uid, {})
        foreign = [pod for pod in pods.values() if has_foreign_hash(instance, pod)]
        if foreign:
            # Label pods with our hash first: the status, which maps upstream's hash, will change.
            for pod in foreign:
                yield _relabel(instance, pod)
            return
        made = self._make(ordinal, self.role.target, instance.metadata.annotations)
        if made is None:
            return
        marks, notes = labels_of(made), annotations_of(made)
        lifecycle = self.role.spec.lifecycle
        if lifecycle.in_place_update:
            # The client that let the instance go puts the labels of its hook back by itself.
            hooks = lifecycle.pre_delete.labels.keys() | lifecycle.in_place_update.labels.keys()
            marks = {key: value for key, value in marks.items() if key not in hooks}
            marks = {**marks, labels.LIFECYCLE_STATE: UPDATING}
            notes = {**notes, labels.LIFECYCLE_TIMESTAMP: self.now}
        body = {
            "metadata": {"uid": instance.metadata.uid, "labels": marks, "annotations": notes},
            "spec": made["spec"],
        }
        address = Address(labels.INSTANCE, instance.metadata.namespace, instance.metadata.name)
        name, revision = instance.metadata.name, names.short_revision(self.role.target)
        yield Patch(address, body, why=f"instance {name} changes to revision {revision}")


def _relabel(instance: RoleInstanceFacts, pod: RolePod) -> Patch:
    metadata = pod.metadata
    marks = {labels.REVISION: names.short_revision(revision_of(instance))}
    address = Address(POD, metadata.namespace, metadata.name)
    body = {"metadata": {"uid": metadata.uid, "labels": marks}}
    return Patch(address, body, why=f"pod {metadata.name} carries the hash of its instance alone")


def _delete(instance: RoleInstanceFacts, why: str) -> Delete:
    metadata = instance.metadata
    text = f"instance {metadata.name}: {why}"
    return Delete(
        labels.INSTANCE, metadata.namespace, metadata.name, metadata.uid, "Background", why=text
    )
