"""
From pods to groups, roles and instances of a ModelServing, as the model has them.

There is no object for a group or an instance: the names of pods tell them. An instance lives as
long as its entry; a worker stores the uid of the entry that it was made for, and a worker of an
earlier entry must go. A worker without that uid is another controller's, and counts as current.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kohort.apis.carriers.members import Reader, read_member, read_moment
from kohort.apis.drift.pods import disown, has_foreign_image
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.adoption import PodMark, TargetRevision, read_mark
from kohort.apis.modelserving.objects.instances import find_place
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.spec import RECOVER_NONE, ROLE_ROLLING, RoleSpec, ServingSpec
from kohort.model.observed import Failure, Group, Instance, Member, RoleInstances
from kohort.model.units import Line, Phase

_READER = Reader(
    group_of=lambda metadata: None,
    index_of=lambda metadata: None,
    revision_of=lambda metadata: metadata.labels.get(labels.REVISION, ""),
    size_of=lambda metadata: 1,
)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The facts that all groups are read with; the same value as long as none of them changes."""

    name: str
    spec: ServingSpec
    target: TargetRevision
    templates: Mapping[str, tuple[RoleSpec, ...]]  # roles, by stored revision
    base: str  # the revision that protected units are made from; empty: unknown
    failures: Mapping[Line, tuple[Failure, ...]] = field(default_factory=dict)
    forged: frozenset[str] = frozenset()  # stored revisions that hold another template
    kept: Mapping[str, str] = field(default_factory=dict)  # by role, as noted: see kept_revisions

    @property
    def rolls_by_role(self) -> bool:
        """Whether each role rolls by itself, within its groups."""
        return self.spec.rollout == ROLE_ROLLING

    def find_base(self, role: str) -> str:
        """The revision of new instances below the partition of a role; empty: the target."""
        noted, target = self.kept.get(role, ""), self.target
        key = noted if noted in self.templates or target.has_revision(noted) else self.base
        is_target = target.has_revision(key) or key in target.same_roles.get(role, ())
        is_known = any(each.name == role for each in self.templates.get(key, ()))
        return key if self.rolls_by_role and is_known and not is_target else ""


Lost = Mapping[str, tuple[str, ...]]  # members gone, by incarnation


def read_group(
    context: Context, ordinal: int, pods: Iterable[ServingPod], lost: Lost, is_protected: bool
) -> Group:
    """Read one group from its pods."""
    by_role: dict[str, dict[int, list[ServingPod]]] = {}
    held = tuple(pods)
    for pod in held:
        assert pod.place is not None
        by_role.setdefault(pod.place.role, {}).setdefault(pod.place.instance, []).append(pod)
    revision = _find_revision(context, by_role)
    asked = {role.name: role for role in _find_roles(context, revision, held, is_protected)}
    found = tuple(
        _read_role(
            context, revision, Line(ordinal, name), asked.get(name), by_role.get(name, {}), lost
        )
        for name in dict.fromkeys((*asked, *by_role))
    )
    if context.rolls_by_role:
        return _join(ordinal, _judge_roles(context, found, revision), found)
    group = _judge_edits(_join(ordinal, revision, found), held, context.target.revision)
    is_stripped = any(not pod.metadata.labels.get(labels.REVISION) for pod in held)
    return replace(group, is_edited=True) if is_stripped else group


def make_roles(context: Context, revision: str) -> tuple[RoleInstances, ...]:
    """
    The roles of a new group at a revision: an old one only where a partition keeps the group.

    The operator cannot tell a group that was added from one that lost its last pod. In a rollout by
    role, the partitions of its roles therefore hold in both.
    """
    return tuple(
        RoleInstances(
            role.name,
            role.replicas,
            _find_target(context, revision, role.name),
            base=context.find_base(role.name),
        )
        for role in _find_roles(context, revision, (), is_protected=True)
    )


def _find_target(context: Context, revision: str, role: str) -> str:
    """The revision that instances of a role should reach, in a group of this revision."""
    return context.target.role_hashes.get(role, "") if context.rolls_by_role else revision


def list_edited(groups: Iterable[Group]) -> Iterator[Instance]:
    """The groups, or instances of roles that roll by themselves, that another client edited."""
    for group in groups:
        if group.is_edited:
            yield group
        for role in group.roles:
            yield from (instance for instance in role.instances if instance.is_edited)


U = TypeVar("U", bound=Instance)


def _judge_edits(unit: U, pods: Iterable[ServingPod], target: str) -> U:
    """The unit; if another client edited one of its pods, marked and without its revision."""
    edited = [pod for pod in pods if pod.edits and not pod.metadata.is_leaving]
    if unit.revision == target and any(has_foreign_image(pod) for pod in edited):
        return disown(unit)
    is_relabelled = not unit.revision or bool(edited)
    return replace(unit, is_edited=True) if unit.revision != target and is_relabelled else unit


def _find_revision(context: Context, by_role: dict[str, dict[int, list[ServingPod]]]) -> str:
    """
    The revision of a group: the target if all its pods have it, else an old one.

    An edited label tells no stored revision. The other pods tell it then; without any, a group
    whose roles are not the target's was made from the revision that protected groups have.
    """
    marks = [
        read_mark(pod.metadata.labels)
        for instances in by_role.values()
        for pods in instances.values()
        for pod in pods
    ]
    old = {mark.revision for mark in marks if not context.target.has_revision(mark.revision)}
    if old and not context.rolls_by_role and _were_rolled(context, marks):
        return context.target.revision
    known = old & context.templates.keys()
    if old and not known and context.base and any(not context.target.has_role(m) for m in marks):
        return context.base
    return min(known or old, default=context.target.revision)


def _were_rolled(context: Context, marks: Collection[PodMark]) -> bool:
    """
    Whether a rollout by role has brought a group up to date before the user changed the strategy.

    It replaces the instances of changed roles alone: the pods of others keep the name of an older
    revision, and the hash of a role that is the same. So no pod needs to go.
    """
    target = context.target
    return any(target.has_revision(mark.revision) for mark in marks) and all(
        target.has_revision(mark.revision) or (mark.role_hash and target.has_role(mark))
        for mark in marks
    )


def _find_roles(
    context: Context, revision: str, pods: Iterable[ServingPod], is_protected: bool
) -> tuple[RoleSpec, ...]:
    """
    The roles that a group should have.

    An old group keeps the roles of its revision until it is replaced, and follows the
    current counts unless a partition protects it.
    """
    now = context.spec.roles
    then = context.templates.get(revision) or _find_made_from(context, pods)
    # By the target's roles, a group whose labels were edited would seem incomplete.
    then = then or context.templates.get(context.base)
    if context.rolls_by_role or then is None or context.target.has_revision(revision):
        return now
    if is_protected:
        return then
    counts = {role.name: role.replicas for role in now}
    return tuple(replace(role, replicas=counts.get(role.name, role.replicas)) for role in then)


def _read_role(
    context: Context,
    revision: str,
    line: Line,
    asked: RoleSpec | None,
    pods: dict[int, list[ServingPod]],
    lost: Lost,
) -> RoleInstances:
    instances = tuple(
        _read_instance(context, revision, ordinal, found, _find_size(context, asked, found), lost)
        for ordinal, found in sorted(pods.items())
    )
    return RoleInstances(
        role=line.role,
        wanted=asked.replicas if asked else 0,
        revision=_find_target(context, revision, line.role),
        instances=instances,
        lost=_find_lost_entries(context, line, pods, lost),
        base=context.find_base(line.role),
        failures=context.failures.get(line, ()),
    )


def _find_size(context: Context, asked: RoleSpec | None, pods: list[ServingPod]) -> int | None:
    """
    The pods that a complete instance has; None: unknown.

    An instance that still waits in a rollout by role is complete at the size it was made with:
    otherwise a role with a new number of workers would be deleted at once as incomplete.
    """
    if asked is None or not context.rolls_by_role:
        return asked.size if asked else None
    made_from = _find_made_from(context, pods)
    if made_from is None and not all(
        context.target.has_role(read_mark(pod.metadata.labels)) for pod in pods
    ):
        made_from = context.templates.get(context.find_base(asked.name))
    made_from = made_from or ()
    return next((role.size for role in made_from if role.name == asked.name), asked.size)


def _find_made_from(context: Context, pods: Iterable[ServingPod]) -> tuple[RoleSpec, ...] | None:
    """The roles of the revision that pods were made from, if one of their labels tells it."""
    told = (pod.metadata.labels.get(labels.REVISION, "") for pod in pods)
    return next((context.templates[key] for key in told if key in context.templates), None)


def _read_instance(
    context: Context,
    revision: str,
    ordinal: int,
    pods: list[ServingPod],
    size: int | None,
    lost: Lost,
) -> Instance:
    pods = sorted(pods, key=lambda pod: pod.place.index if pod.place else 0)
    entry = next((p for p in pods if p.place and p.place.index == 0), None)
    size = max(p.place.index for p in pods if p.place) + 1 if size is None else size
    within = [p for p in pods if p.place and p.place.index < size]
    members = tuple(_read_member(context, pod, entry) for pod in within)
    first = entry or within[0] if within else pods[0]
    if context.rolls_by_role:
        revision = _find_role_revision(context, pods)
    made = Instance(
        ordinal=ordinal,
        revision=revision,
        phase=_phase_of(size, members, pods),
        incarnation=first.metadata.uid,
        size=size,
        members=members,
        is_whole=True,
        lost=_find_lost(context, entry, within, lost),
        unfit=tuple(m.name for m in members if not m.is_current and m.phase is not Phase.LEAVING),
        made_at=read_moment(first.metadata.creation_timestamp),
        cost=sum(pod.cost for pod in pods),
    )
    if not context.rolls_by_role or first.place is None:
        return made
    return _judge_edits(made, pods, context.target.role_hashes.get(first.place.role, ""))


def _find_role_revision(context: Context, pods: list[ServingPod]) -> str:
    """The hash of the role that an instance was made from; the target's if all pods match."""
    for pod in pods:
        mark = read_mark(pod.metadata.labels)
        if not context.target.has_role(mark):
            return mark.role_hash or mark.revision
    assert pods[0].place is not None
    return context.target.role_hashes[pods[0].place.role]


def _read_member(context: Context, pod: ServingPod, entry: ServingPod | None) -> Member:
    assert pod.place is not None
    noted = pod.metadata.annotations.get(labels.ENTRY_UID)
    is_alone = context.spec.recovery == RECOVER_NONE
    is_current = is_alone or entry is None or noted in (None, entry.metadata.uid)
    member = read_member(_READER, pod.place.index, pod, is_current)
    # No other controller replaces a pod that has ended. Without recovery, a failed pod stays for
    # the user to inspect; one that succeeded is recreated, since a server should not end.
    has_ended = pod.status.phase == "Succeeded" if is_alone else pod.has_ended
    return replace(member, has_ended=True) if has_ended else member


def _find_lost(
    context: Context,
    entry: ServingPod | None,
    pods: list[ServingPod],
    lost: Lost,
) -> tuple[str, ...]:
    if entry is not None:
        gone = lost.get(entry.metadata.uid, ())
        # What other instances of the group have lost may be noted at this pod.
        return tuple(name for name in gone if names.is_worker_of(entry.metadata.name, name))
    place = pods[0].place if pods else None
    if place is None:
        return ()
    # Workers are created after their entry, so a missing entry has been deleted.
    return (names.entry_name(context.name, place.group, place.role, place.instance),)


def _find_lost_entries(
    context: Context, line: Line, pods: Mapping[int, list[ServingPod]], lost: Lost
) -> tuple[str, ...]:
    """The entries that a role has lost with all that their instances had."""
    places = [(name, find_place(context.name, name)) for gone in lost.values() for name in gone]
    return tuple(
        name
        for name, place in places
        if place is not None
        and (place.group, place.role, place.index) == (line.group, line.role, 0)
        and place.instance not in pods
    )


def _phase_of(size: int, members: tuple[Member, ...], pods: list[ServingPod]) -> Phase:
    if all(pod.metadata.is_leaving for pod in pods):
        return Phase.LEAVING
    ready = {m.index for m in members if m.is_current and m.phase is Phase.READY}
    if len(ready) == size:
        return Phase.READY
    if any(member.phase is Phase.BROKEN for member in members):
        return Phase.BROKEN
    return Phase.STARTING


def _judge_roles(context: Context, roles: tuple[RoleInstances, ...], revision: str) -> str:
    """The revision of a group in a rollout by role: the target when no instance is old."""
    for role in roles:
        if any(instance.revision != role.revision for instance in role.instances):
            return revision if not context.target.has_revision(revision) else ""
    return context.target.revision


def _join(ordinal: int, revision: str, roles: tuple[RoleInstances, ...]) -> Group:
    """The group that consists of these roles."""
    instances = [instance for role in roles for instance in role.instances]
    members = tuple(member for instance in instances for member in instance.members)
    oldest = min(instances, key=lambda instance: (instance.made_at, instance.incarnation))
    phase = _find_phase(roles, instances)
    return Group(
        ordinal=ordinal,
        revision=revision,
        phase=phase,
        incarnation=oldest.incarnation,
        size=sum(role.wanted * max((i.size for i in role.instances), default=1) for role in roles),
        members=members,
        is_whole=True,
        lost=(
            *(name for instance in instances for name in instance.lost),
            *(name for role in roles for name in role.lost),
        ),
        unfit=tuple(name for instance in instances for name in instance.unfit),
        made_at=oldest.made_at,
        cost=sum(instance.cost for instance in instances),
        roles=roles,
        is_settled=all(role.is_settled for role in roles),
        serves_partly=phase in (Phase.STARTING, Phase.BROKEN) and all(map(_serves_partly, roles)),
    )


def _find_phase(roles: tuple[RoleInstances, ...], instances: list[Instance]) -> Phase:
    if all(instance.phase is Phase.LEAVING for instance in instances):
        return Phase.LEAVING
    if all(_serves(role) for role in roles):
        return Phase.READY
    if any(instance.phase is Phase.BROKEN for instance in instances):
        return Phase.BROKEN
    return Phase.STARTING


def _serves_partly(role: RoleInstances) -> bool:
    return not role.wanted or any(i.phase is Phase.READY for i in role.instances)


def _serves(role: RoleInstances) -> bool:
    """Whether as many instances as wanted are ready; more may still be terminating."""
    return sum(instance.phase is Phase.READY for instance in role.instances) >= role.wanted
