"""
The pods of a ModelServing: which to delete, to create, and to update with new counts.

One plan creates a limited number of pods; the next creates more.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.drift.pods import describe_edited
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.gang_actions import GangActions
from kohort.apis.modelserving.instance_places import find_revision, find_role, list_new_places
from kohort.apis.modelserving.objects.instances import InstancePlace, PodPlace
from kohort.apis.modelserving.objects.pods import PodMaker, find_stale_metadata
from kohort.apis.modelserving.plugins.chain import PluginFailure, build_chain
from kohort.apis.modelserving.plugins.known import load_registry
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.put_back import put_places_back
from kohort.apis.modelserving.read import Memory
from kohort.apis.modelserving.ready_actions import ReadyActions
from kohort.apis.modelserving.revision import StoredTemplate
from kohort.apis.modelserving.spec import at_revision
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.model.observed import Group, Instance, Member
from kohort.model.plans import Plan, Step
from kohort.model.units import Line, Phase

MAKE_MAX = 1_000


@dataclass(slots=True)
class PodActions:
    """The pods of one workload in one plan."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    gangs: GangActions
    _held: dict[str, ServingPod] = field(init=False)
    _edited: tuple[ServingPod, ...] = field(init=False)  # by other clients
    _names: set[str] = field(init=False)  # of all pods in the snapshot
    _makers: dict[str, PodMaker] = field(default_factory=dict)  # by revision
    _left: int = MAKE_MAX

    def __post_init__(self) -> None:
        self._held = {pod.metadata.name: pod for pod in self.reading.memory.pods}
        self._edited = tuple(pod for pod in self.reading.memory.pods if pod.edits)
        self._names = {pod.metadata.name for pod in self.snapshot.all(POD)}

    def delete(self) -> Iterator[Action]:
        """Delete the pods of retired groups and instances, and ended pods that are recreated."""
        groups = {group.ordinal: group for group in self.reading.observed.groups}
        edits = describe_edited(groups.values(), self._edited)
        for retired in self.plan.step.retire:
            why = f"group {retired.ordinal}: {retired.why}"
            undoes = edits.get(retired.ordinal, "")
            yield from self._delete_all(groups[retired.ordinal].members, why, undoes)
        for line, step in self.plan.steps.items():
            if line.group in groups and (step.retire or step.renew):
                yield from self._delete_instances(line, step, groups[line.group])

    def _delete_instances(self, line: Line, step: Step, group: Group) -> Iterator[Action]:
        instances = _instances_of(group, line.role)
        edits = describe_edited(instances.values(), self._edited)
        for retired in step.retire:
            place = f"instance {line.role}-{retired.ordinal} of group {line.group}"
            why, undoes = f"{place}: {retired.why}", edits.get(retired.ordinal, "")
            yield from self._delete_all(instances[retired.ordinal].members, why, undoes)
        for _, name in step.renew:
            yield self._delete(self._held[name], f"pod {name} has ended")

    def _delete_all(self, members: Iterable[Member], why: str, undoes: str) -> Iterator[Action]:
        for member in members:
            pod = self._held[member.name]
            if not pod.metadata.is_leaving:
                yield self._delete(pod, f"{pod.metadata.name}: {why}", undoes)
                # The first delete reports the edit for all pods.
                undoes = ""

    def _delete(self, pod: ServingPod, why: str, undoes: str = "") -> Delete:
        metadata = pod.metadata
        name, uid = metadata.name, metadata.uid
        return Delete(POD, metadata.namespace, name, uid, why=why, undoes=undoes)

    def make(self) -> Iterator[Action]:
        """Create missing instances, and workers of entries that exist."""
        for place, revision in list_new_places(self.reading.memory.context, self.plan):
            if self.gangs.is_ready(place.group):
                yield from self._make_whole(place, revision)
        retired = {r.ordinal for r in self.plan.step.retire} | self.plan.step.backing_off
        for group in self.reading.observed.groups:
            if group.is_settled or group.ordinal in retired or group.phase is Phase.LEAVING:
                continue
            if self.gangs.is_ready(group.ordinal):
                yield from self._complete(group)

    def _complete(self, group: Group) -> Iterator[Action]:
        context = self.reading.memory.context
        for held in group.roles:
            step = self.plan.steps.get(Line(group.ordinal, held.role))
            if step is None:
                continue
            for make in step.make:
                role = find_role(context, make.revision, held.role)
                if role is not None:
                    place = InstancePlace(group.ordinal, role, make.ordinal)
                    yield from self._make_whole(place, make.revision)
            gone = {retired.ordinal for retired in step.retire}
            for instance in held.instances:
                is_staying = instance.ordinal in step.may_complete and instance.ordinal not in gone
                if is_staying and instance.ordinal not in step.backing_off:
                    yield from self._fill(group, held.role, instance)

    def _fill(self, group: Group, name: str, instance: Instance) -> Iterator[Action]:
        """Create the members that an instance lacks, from the instance's own revision."""
        context = self.reading.memory.context
        revision = find_revision(context, instance, name)
        role = find_role(context, revision, name)
        if role is None:
            return
        entry = next((m for m in instance.members if m.index == 0), None)
        place = InstancePlace(group.ordinal, role, instance.ordinal)
        if entry is None:
            yield from self._make(place, 0, revision)
            return
        if entry.phase is Phase.LEAVING:
            return
        for index in range(1, role.size):
            yield from self._make(place, index, revision, entry.uid)

    def _make_whole(self, place: InstancePlace, revision: str) -> Iterator[Action]:
        """Create the entry of an instance; its workers follow with the uid of the new pod."""
        for entry in self._make(place, 0, revision):
            workers = tuple(
                worker
                for index in range(1, place.role.size)
                for worker in self._make(place, index, revision)
            )
            yield replace(entry, then=partial(_note_entry, workers))

    def _make(
        self, place: InstancePlace, index: int, revision: str, entry_uid: str = ""
    ) -> Iterator[Create]:
        name = place.pod_name(self.snapshot.root, index)
        # A name in use belongs to a terminating pod, or to another owner.
        if name in self._names or self._left <= 0:
            return
        self._left -= 1
        made = self._find_maker(revision).make(place, index)
        if isinstance(made, PluginFailure):
            raise InvalidWorkload("PluginFailed", str(made))
        made = _with_entry(made, entry_uid) if entry_uid else made
        why = f"pod {name} does not exist"
        yield Create(POD, namespace_of(self.snapshot.root), made, why)

    def _find_maker(self, revision: str) -> PodMaker:
        if revision not in self._makers:
            self._makers[revision] = self._make_maker(revision)
        return self._makers[revision]

    def _make_maker(self, revision: str) -> PodMaker:
        context, memory = self.reading.memory.context, self.reading.memory
        stored = next((t for t in memory.templates if t.revision == revision), None)
        is_old = stored is not None and not context.target.has_revision(revision)
        serving: Object = self.snapshot.root
        hashes = dict(context.target.role_hashes)
        key = context.target.revision
        if is_old and stored is not None:
            serving, key = at_revision(serving, stored.roles), revision
            hashes = self._hashes_of(stored)
        chain = build_chain(context.spec.plugins, load_registry())
        return PodMaker(serving, key, hashes, chain, self.gangs.joining)

    def _hashes_of(self, stored: StoredTemplate) -> dict[str, str]:
        """The role hashes for pods of an old revision: as its pods have them, or as stored."""
        found = {role: hashes[0] for role, hashes in stored.role_hashes.items() if hashes}
        for pod in self.reading.memory.pods:
            marks = pod.metadata.labels
            if marks.get(labels.REVISION) == stored.revision:
                found[marks.get(labels.ROLE, "")] = marks.get(labels.ROLE_TEMPLATE_HASH, "")
        return found

    def refresh(self) -> Iterator[Action]:
        """Update labels and annotations of running pods, such as counts; no pod restarts."""
        serving, context = self.snapshot.root, self.reading.memory.context
        roles = {role.name: role for role in context.spec.roles}
        yield from put_places_back(self.snapshot, self.reading.memory.pods, roles)
        if not self.snapshot.settings.patches_pods:
            return
        wanted = str(context.spec.replicas)
        for pod in self.reading.memory.pods:
            metadata, place = pod.metadata, pod.place
            is_fresh = metadata.annotations.get(labels.REPLICAS) == wanted
            is_fresh = is_fresh and labels.GROUP_INDEX in metadata.labels
            if is_fresh or place is None or metadata.is_leaving or self._is_going(place):
                continue
            role = find_role(context, metadata.labels.get(labels.REVISION, ""), place.role)
            if role is None:
                continue
            body = _as_object(pod)
            where = InstancePlace(place.group, role, place.instance)
            patch = find_stale_metadata(serving, where, place.index, body)
            if patch is not None:
                address = Address(POD, metadata.namespace, metadata.name)
                patch["metadata"]["uid"] = metadata.uid
                yield Patch(address, patch, why=f"pod {metadata.name} says old counts")

    def _is_going(self, place: PodPlace) -> bool:
        """Whether the plan deletes the group or the instance of a pod, now or soon."""
        line = self.plan.steps.get(Line(place.group, place.role))
        steps = ((self.plan.step, place.group), (line, place.instance))
        return any(
            ordinal in step.surplus or any(ordinal == gone.ordinal for gone in step.retire)
            for step, ordinal in steps
            if step is not None
        )

    def list_ready_patches(self) -> Iterator[Action]:
        """Patch pods that have become ready, as plugins demand."""
        context = self.reading.memory.context
        chain = build_chain(context.spec.plugins, load_registry())
        if chain.hears_ready:
            found = ReadyActions(self.snapshot, self.reading, chain, self._find_maker)
            yield from found.list_patches()


def _instances_of(group: Group, role: str) -> dict[int, Instance]:
    found = next((held for held in group.roles if held.role == role), None)
    return {i.ordinal: i for i in found.instances} if found else {}


def _as_object(pod: ServingPod) -> Object:
    metadata = pod.metadata
    return {
        "metadata": {
            "name": metadata.name,
            "labels": metadata.labels,
            "annotations": metadata.annotations,
        }
    }


def _note_entry(workers: Iterable[Create], entry: Object) -> Iterator[Action]:
    """The creates of the workers of an entry that was stored just now."""
    for worker in workers:
        yield replace(worker, obj=_with_entry(worker.obj, uid_of(entry)))


def _with_entry(worker: Object, uid: str) -> Object:
    metadata = worker["metadata"]
    notes = {**(metadata.get("annotations") or {}), labels.ENTRY_UID: uid}
    return {**worker, "metadata": {**metadata, "annotations": notes}}
