"""
From a ModelServing and its children to the model, and to the revision in force.

Names and labels of pods tell all about groups, roles and instances. The context that groups are
read with is the same value as long as nothing of it changes, so a group whose pods did not
change comes from the cache.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

import orjson

from kohort.apis.amounts import allow_progress
from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.carriers.failures import read_failures
from kohort.apis.drift.pods import describe_pods
from kohort.apis.drift.reports import list_recent
from kohort.apis.facts import Whole
from kohort.apis.min_ready import read_min_ready
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.adopted_objects import is_own, is_own_pod
from kohort.apis.modelserving.adoption import PodMark, find_target, read_mark
from kohort.apis.modelserving.groups import (
    Context,
    list_edited,
    make_roles,
    read_group,
)
from kohort.apis.modelserving.kept_revisions import read_kept
from kohort.apis.modelserving.lost_revisions import find_lost
from kohort.apis.modelserving.plugins.chain import PluginFailure
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.podless_groups import list_podless
from kohort.apis.modelserving.revision import (
    StoredTemplate,
    find_template,
    hash_roles,
    is_forged,
)
from kohort.apis.modelserving.spec import (
    GROUP_RECREATE,
    RECOVER_NONE,
    ROLE_ROLLING,
    RoleSpec,
    ServingSpec,
    find_excess,
    read_roles,
    read_spec,
    roles_of,
)
from kohort.apis.strategy_choice import choose_strategy
from kohort.apis.topology import read_pack
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import (
    Object,
    annotations_of,
    is_leaving,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.model.observed import Failure, Observed, Progress, RoleInstances
from kohort.model.placement import PlacementPolicy
from kohort.model.policies import (
    RecoveryPolicy,
    RolloutPolicy,
    Trigger,
    Victims,
)
from kohort.model.units import Level, Line, Reach
from kohort.model.workload import Role, Workload


@dataclass(frozen=True, slots=True)
class Memory:
    """What rendering needs beyond the model: the context, stored revisions and pods."""

    context: Context
    stored: tuple[tuple[StoredTemplate, Whole], ...]  # ours, lowest number first
    pods: tuple[ServingPod, ...]  # ours, with a valid place
    lost: tuple[tuple[StoredTemplate, Whole], ...] = ()  # deleted, and pods were made from them
    # Plugins that failed during rendering: status and events report them.
    failures: list[PluginFailure] = field(default_factory=list, compare=False)

    @property
    def templates(self) -> tuple[StoredTemplate, ...]:
        """The templates that pods can be made from, lowest number first."""
        known = (template for template, _ in (*self.stored, *self.lost))
        return tuple(sorted(known, key=lambda template: template.number))


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot translated into the model."""
    serving = snapshot.root
    if excess := find_excess(read_spec(serving)):
        raise InvalidWorkload("Invalid", f"spec.replicas: {excess}")
    held: tuple[ServingPod, ...] = snapshot.all(POD)
    pods = tuple(pod for pod in held if is_own_pod(serving, pod))
    stored = _own_revisions(snapshot)
    context = _find_context(serving, stored, pods)
    deleted = _read_templates(
        find_lost(snapshot, pods, context.target, by_role=context.rolls_by_role)
    )
    if deleted:
        context = _find_context(serving, (*stored, *deleted), pods)
    by_group: dict[int, list[ServingPod]] = defaultdict(list)
    for pod in pods:
        assert pod.place is not None
        by_group[pod.place.group].append(pod)
    snapshot.group_cache.keep(by_group)
    kept = _find_kept(context.spec, by_group)
    groups = []
    for ordinal, own in sorted(by_group.items()):
        is_protected = ordinal in kept
        lost = {
            u: names for u, names in snapshot.lost.items() if u in {p.metadata.uid for p in own}
        }
        facts = (context, is_protected, *own, *lost.values())
        load = partial(read_group, context, ordinal, own, lost, is_protected)
        groups.append(snapshot.group_cache.read(ordinal, facts, load))
    new_roles = _list_new_roles(context)
    groups += list_podless(context, new_roles, by_group)
    groups.sort(key=lambda group: group.ordinal)
    observed = Observed(
        groups=tuple(groups),
        progress=_find_progress(serving, context, len(groups)),
        exist=len(groups),
        failures=context.failures.get(Line(), ()),
        role_failures={line: own for line, own in context.failures.items() if line.role},
        drift=tuple((*describe_pods(list_edited(groups), pods), *list_recent(snapshot))),
        new_roles=new_roles,
    )
    return Reading(
        _read_workload(snapshot, context), observed, Memory(context, stored, pods, deleted)
    )


def _find_kept(spec: ServingSpec, ordinals: Collection[int]) -> set[int]:
    """
    The groups that the partition keeps: those in the first places.

    A missing group has its place, too: it gets the lowest free ordinal.
    """
    missing = max(0, spec.replicas - len(ordinals))
    return {
        ordinal
        for place, ordinal in enumerate(sorted(ordinals))
        if place + min(missing, ordinal - place) < (spec.partition or 0)
    }


def _list_new_roles(context: Context) -> Mapping[str, tuple[RoleInstances, ...]]:
    """The roles of new groups: at the target, and at the revision that a partition protects."""
    revisions = dict.fromkeys((context.target.revision, context.base))
    return {revision: make_roles(context, revision) for revision in revisions if revision}


def _own_revisions(snapshot: Snapshot) -> tuple[tuple[StoredTemplate, Whole], ...]:
    serving = snapshot.root
    held: tuple[Whole, ...] = snapshot.all(CONTROLLER_REVISION)
    return _read_templates(r for r in held if is_own(serving, r.metadata))


def _read_templates(revisions: Iterable[Whole]) -> tuple[tuple[StoredTemplate, Whole], ...]:
    found = [(_read_template(r.raw), r) for r in revisions]
    return tuple(sorted(((t, r) for t, r in found if t), key=lambda pair: pair[0].number))


@lru_cache(maxsize=4096)
def _read_template(raw: bytes) -> StoredTemplate | None:
    return find_template(orjson.loads(raw))


def _find_context(
    serving: Object,
    stored: tuple[tuple[StoredTemplate, Whole], ...],
    pods: tuple[ServingPod, ...],
) -> Context:
    status = serving.get("status") or {}
    told = {key: status.get(key) for key in _TOLD}
    body = {
        "metadata": {
            "name": name_of(serving),
            "namespace": namespace_of(serving),
            "uid": uid_of(serving),
            "generation": serving["metadata"].get("generation"),
            "annotations": annotations_of(serving),
        },
        "spec": serving["spec"],
        "status": told,
    }
    raws = tuple(whole.raw for _, whole in stored)
    return _make_context(
        orjson.dumps(body), raws, frozenset(read_mark(p.metadata.labels) for p in pods)
    )


_TOLD = ("updateRevision", "currentRevision", "observedGeneration", "updatedReplicas", "replicas")


@lru_cache(maxsize=1024)
def _make_context(body: bytes, revisions: tuple[bytes, ...], marks: frozenset[PodMark]) -> Context:
    serving: Object = orjson.loads(body)
    found = [(template, raw) for raw in revisions if (template := _read_template(raw))]
    own = hash_roles(roles_of(serving))
    forged = frozenset(t.revision for t, _ in found if is_forged(t, own))
    found = [(template, raw) for template, raw in found if template.revision not in forged]
    stored = [template for template, _ in found]
    target = find_target(serving, stored, sorted(marks, key=_order))
    templates = {t.revision: read_roles(t.roles) for t in stored}
    current = (serving.get("status") or {}).get("currentRevision") or ""
    base = current if current in templates and not target.has_revision(current) else ""
    notes = {t.revision: _note_of(raw) for t, raw in found}
    failures = read_failures(notes.values(), in_force=notes.get(target.revision, ""))
    by_line: dict[Line, list[Failure]] = defaultdict(list)
    for failure in failures:
        by_line[failure.line].append(failure)
    return Context(
        name=name_of(serving),
        spec=read_spec(serving),
        target=target,
        templates=templates,
        base=base,
        failures={line: tuple(known) for line, known in by_line.items()},
        forged=forged,
        kept=read_kept(serving, stored, target),
    )


def _order(mark: PodMark) -> tuple[str, ...]:
    return mark.group, mark.role, mark.revision, mark.role_hash


def _note_of(raw: bytes) -> str:
    return annotations_of(orjson.loads(raw)).get(labels.RESTARTS, "")


def _find_progress(serving: Object, context: Context, count: int) -> Progress | None:
    status = serving.get("status") or {}
    target = status.get("updateRevision")
    if not target:
        return None
    known = context.target.revision if context.target.has_revision(target) else target
    partition = context.spec.partition or 0
    return Progress(partition, count, count, known, base=context.base)


def _read_workload(snapshot: Snapshot, context: Context) -> Workload:
    serving, spec = snapshot.root, context.spec
    by_role, seconds = spec.rollout == ROLE_ROLLING, read_min_ready(serving)
    return Workload(
        namespace=namespace_of(serving),
        name=name_of(serving),
        uid=uid_of(serving),
        generation=serving["metadata"].get("generation", 0),
        groups=spec.replicas,
        roles=tuple(
            _read_role(role, spec, choose_strategy(snapshot, labels.STRATEGY), seconds)
            for role in spec.roles
        ),
        revision=context.target.revision,
        rollout=RolloutPolicy(
            wanted=spec.replicas,
            partition=spec.partition or 0,
            max_unavailable=allow_progress(spec.max_unavailable, spec.max_surge),
            max_surge=0 if by_role else spec.max_surge,
            strategy=choose_strategy(snapshot, labels.STRATEGY),
            min_ready_seconds=seconds,
        ),
        recovery=_recovery_of(spec, Level.GROUP),
        placement=PlacementPolicy(read_pack(spec.group_topology)),
        is_leaving=is_leaving(serving),
        victims=Victims.CHEAPEST,
        reach=Reach.ANY,
        has_rollout=not by_role,
    )


def _read_role(role: RoleSpec, spec: ServingSpec, strategy: str, seconds: int) -> Role:
    rollout = None
    if spec.rollout == ROLE_ROLLING:
        unavailable = role.replicas if role.max_unavailable is None else role.max_unavailable
        rollout = RolloutPolicy(
            wanted=role.replicas,
            partition=role.partition or 0,
            max_unavailable=allow_progress(unavailable, 0),
            strategy=strategy,
            level=Level.INSTANCE,
            min_ready_seconds=seconds,
        )
    return Role(
        instances=role.replicas,
        size=role.size,
        name=role.name,
        rollout=rollout,
        recovery=_recovery_of(spec, Level.INSTANCE),
        victims=Victims.CHEAPEST,
    )


def _recovery_of(spec: ServingSpec, level: Level) -> RecoveryPolicy:
    """The recovery policy for one level; a level that the spec does not name recovers nothing."""
    if spec.recovery == RECOVER_NONE:
        return RecoveryPolicy(level=Level.MEMBER)
    named = Level.GROUP if spec.recovery == GROUP_RECREATE else Level.INSTANCE
    if named is not level:
        return RecoveryPolicy(level=Level.MEMBER)
    grace = float(spec.grace_seconds)
    return RecoveryPolicy(Trigger.ALWAYS, level, grace_seconds=grace, is_forgiving=True)
