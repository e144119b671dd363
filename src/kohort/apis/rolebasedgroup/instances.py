"""
From RoleInstances and pods to instances of the model.

A pod belongs to the RoleInstance that controls it, by uid: a pod of an earlier instance with the
same name does not count. The spec of the instance says which pods it should have. A pod is up to
date if its label has the hash of its instance's revision. Pods that upstream made carry the hash of
a revision that only the status of their instance names; that counts until the instance changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kohort.apis.carriers.members import Reader, read_cost, read_member, read_moment
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.in_place import find_grace_end
from kohort.apis.rolebasedgroup.instance_facts import PodName, RoleInstanceFacts
from kohort.apis.rolebasedgroup.lifecycle import LifecycleView
from kohort.apis.rolebasedgroup.pod_facts import RolePod, count_restarts
from kohort.apis.rolebasedgroup.put_back import find_foreign_images, has_lost_hash
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.model.observed import Instance, Member
from kohort.model.units import Phase

_READER = Reader(
    group_of=lambda metadata: None,
    index_of=lambda metadata: None,
    revision_of=lambda metadata: metadata.labels.get(labels.REVISION, ""),
    size_of=lambda metadata: 1,
)
IGNORED = "Ignore"


def is_current(role: RoleFacts, instance: RoleInstanceFacts, pod: RolePod) -> bool:
    """Whether a pod has the hash of its instance's revision and runs the images of its spec."""
    if find_foreign_images(instance, pod):
        return False
    held = pod.metadata.labels.get(labels.REVISION, "")
    if held == names.short_revision(revision_of(instance)):
        return True
    return has_foreign_hash(instance, pod) or has_lost_hash(role, instance, pod)


def has_foreign_hash(instance: RoleInstanceFacts, pod: RolePod) -> bool:
    """Whether a pod has upstream's hash, of a revision that only its instance's status names."""
    held, status = pod.metadata.labels.get(labels.REVISION, ""), instance.status
    if not held or held == names.short_revision(revision_of(instance)):
        return False
    is_seen = status.observed_generation == instance.metadata.generation
    return is_seen and held == names.short_revision(status.update_revision)


def revision_of(instance: RoleInstanceFacts) -> str:
    """The name of the revision that an instance was made from."""
    return instance.metadata.labels.get(labels.REVISION, "")


def read_instance(
    context: RoleFacts, ordinal: int, instance: RoleInstanceFacts, pods: Mapping[str, RolePod]
) -> Instance:
    """One instance, from its object and the pods that it controls."""
    places = instance.places
    found = tuple((p, pods[p.name]) for p in places if p.name in pods)
    members = tuple(_read_member(context, instance, place, pod) for place, pod in found)
    first = found[0][1].metadata if found else instance.metadata
    revision = context.find_revision(revision_of(instance))
    is_unwanted = _is_unwanted(context, ordinal, instance)
    lifecycle = LifecycleView(context.spec.lifecycle, instance.metadata)
    may_amend = revision != context.target and context.may_amend(revision)
    return Instance(
        ordinal=ordinal,
        revision=revision,
        phase=_phase_of(instance, len(places), members),
        incarnation=first.uid,
        size=len(places),
        members=members,
        made_at=read_moment(first.creation_timestamp),
        amended_at=max((read_moment(p.note.started) for _, p in found if p.note), default=0.0),
        cost=read_cost(instance.metadata.annotations.get(labels.DELETION_COST, "")),
        may_amend=may_amend and not is_unwanted,
        has_served=_has_served(instance),
        wakes_at=_find_wake(context, pods.values()),
        is_unwanted=is_unwanted,
        delete_hold=lifecycle.delete_hold,
        update_hold=lifecycle.update_hold,
        is_preparing=lifecycle.is_preparing,
    )


def _is_unwanted(context: RoleFacts, ordinal: int, instance: RoleInstanceFacts) -> bool:
    """Whether the user wants another instance in its place, where instances are stateless."""
    if not context.spec.is_stateless:
        return False
    is_foreign = ordinal >= names.ID_COUNT  # it has the name of a stateful instance
    is_marked = labels.INSTANCE_DELETE in instance.metadata.labels
    return is_foreign or is_marked or instance.metadata.name in context.spec.unwanted


def _read_member(
    role: RoleFacts, instance: RoleInstanceFacts, place: PodName, pod: RolePod
) -> Member:
    member = read_member(_READER, place.position, pod, True)
    is_old = not is_current(role, instance, pod)
    if member.is_pending and pod.ready_condition is None:
        # The kubelet writes that condition: a pod without a node is unready since it was made.
        member = replace(member, unready_since=read_moment(pod.metadata.creation_timestamp) or None)
    if count_restarts(pod) == 0 and not pod.has_ended:
        # A container that an in-place update restarted has not crashed.
        member = replace(member, has_restarted=False, crash=None, was_ready=False)
    if is_old and member.phase is Phase.READY:
        member = replace(member, phase=Phase.STARTING, ready_since=None)
    return replace(
        member,
        has_ended=pod.has_ended,
        part=place.component,
        is_spared=pod.metadata.annotations.get(labels.RESTART_TRIGGER) == IGNORED,
    )


def _phase_of(instance: RoleInstanceFacts, size: int, members: tuple[Member, ...]) -> Phase:
    if instance.metadata.is_leaving:
        return Phase.LEAVING
    if sum(member.phase is Phase.READY for member in members) == size:
        return Phase.READY
    if any(member.phase is Phase.BROKEN for member in members):
        return Phase.BROKEN
    return Phase.STARTING


def _has_served(instance: RoleInstanceFacts) -> bool:
    """
    Whether an instance was ready once: the operator writes its first status when all pods are.

    Gates of pods would say so too early, since the kubelet follows them later: a pod that crashed
    during startup and is not ready again yet would count as failed. An instance with restarts
    counts as served until it has run long enough for the operator to forget its restarts.
    """
    return instance.status.has_ready or instance.status.restart_count > 0


def _find_wake(context: RoleFacts, pods: Iterable[RolePod]) -> float | None:
    seconds = float(context.spec.rollout.grace_seconds or 0)
    ends = [find_grace_end(pod, seconds) for pod in pods]
    return min((end for end in ends if end is not None), default=None)
