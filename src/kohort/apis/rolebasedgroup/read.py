"""
From a RoleBasedGroup and its children to the model.

For the model, the group is one unit that always exists and never rolls; its roles are lines. All
state stands in child objects: RoleInstanceSets hold the spec of roles, ControllerRevisions the
templates of instances, RoleInstances the revision of each.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.carriers.delegated import read_tally
from kohort.apis.group_cache import GroupCache
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.group_facts import find_facts
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.instance_views import InstanceView, make_view
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.role_facts import DelegatedRole, GroupFacts, RoleFacts
from kohort.apis.rolebasedgroup.roles import RoleSpec
from kohort.apis.rolebasedgroup.set_actions import has_template
from kohort.apis.strategy_choice import choose_strategy
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, is_leaving, labels_of, name_of, namespace_of, uid_of
from kohort.model.observed import (
    Group,
    Observed,
    Progress,
    RoleInstances,
    Tally,
    join_phases,
)
from kohort.model.policies import (
    Backoff,
    RecoveryPolicy,
    RolloutPolicy,
    Trigger,
    Victims,
)
from kohort.model.reasons import PROFILE, Blocker
from kohort.model.units import Level, Reach
from kohort.model.workload import Part, Role, Workload

_ALONE = RecoveryPolicy(level=Level.MEMBER)
_ROLES_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Memory:
    """Details of this API that the planner does not see and rendering needs."""

    facts: GroupFacts
    instances: dict[str, dict[int, RoleInstanceFacts]]  # by role and ordinal
    pods: dict[str, dict[str, RolePod]]  # by uid of their instance, and name
    views: dict[str, dict[int, InstanceView]]  # by role and ordinal


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot of a group as the model's workload and observed state."""
    facts = find_facts(snapshot)
    instances = {name: own_instances(snapshot, role) for name, role in facts.roles.items()}
    return read_facts(snapshot, facts, instances)


def read_facts(
    snapshot: Snapshot, facts: GroupFacts, instances: dict[str, dict[int, RoleInstanceFacts]]
) -> Reading[Memory]:
    """The model's workload and observed state, from the facts of a group and its instances."""
    problem = next(iter(facts.spec.all_problems), None)
    if problem is not None:
        raise InvalidWorkload(problem.reason, problem.message)
    pods = _sort_pods(snapshot)
    delegates = _own_delegates(snapshot, facts)
    read_one = _RoleReader(snapshot.group_cache, pods)
    numbers = {name: number for number, name in enumerate(facts.roles)}
    held = {n: read_one(role, numbers[n], instances[n]) for n, role in facts.roles.items()}
    read_one.forget_others()
    held |= {n: _read_delegate(role, delegates.get(n)) for n, role in facts.delegated.items()}
    roles = tuple(held[role.name] for role in facts.spec.roles if role.name in held)
    group = _join(snapshot, facts, roles)
    views = (view for own in read_one.views.values() for view in own.values())
    if any(view.is_misplaced or view.is_closed for view in views):
        group = replace(group, is_settled=False)
    observed = Observed((group,), _find_progress(facts), exist=1)
    workload = _read_workload(snapshot, facts, delegates)
    return Reading(workload, observed, Memory(facts, instances, pods, read_one.views))


def _sort_pods(snapshot: Snapshot) -> dict[str, dict[str, RolePod]]:
    found: dict[str, dict[str, RolePod]] = defaultdict(dict)
    for pod in snapshot.all(POD):
        found[pod.metadata.controller][pod.metadata.name] = pod
    return found


def own_instances(snapshot: Snapshot, role: RoleFacts) -> dict[int, RoleInstanceFacts]:
    """The instances that the set of a role controls, by ordinal."""
    found = {}
    for instance in snapshot.all(labels.INSTANCE) if role.set_uid else ():
        ordinal = role.find_ordinal(instance.metadata.name)
        if instance.metadata.controller == role.set_uid and ordinal is not None:
            found[ordinal] = instance
    return dict(sorted(found.items()))


@dataclass(slots=True)
class _RoleReader:
    """Reads instances of which a fact has changed, and takes the others from the cache."""

    cache: GroupCache[InstanceView]
    pods: dict[str, dict[str, RolePod]]  # by uid of their instance
    views: dict[str, dict[int, InstanceView]] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)

    def __call__(
        self, role: RoleFacts, number: int, instances: dict[int, RoleInstanceFacts]
    ) -> RoleInstances:
        views = {o: self._read(role, number, o, i) for o, i in instances.items()}
        self.views[role.spec.name] = views
        return RoleInstances(
            role=role.spec.name,
            wanted=role.spec.replicas,
            revision=role.target,
            instances=tuple(view.instance for view in views.values()),
            base=role.base,
            failures=role.failures,
            partition=role.spec.rollout.partition,
            grown=role.grown,
            are_alike=role.spec.is_stateless,
            taken=_find_taken(role, self.pods) if role.spec.is_stateless else frozenset(),
        )

    def _read(
        self, role: RoleFacts, number: int, ordinal: int, instance: RoleInstanceFacts
    ) -> InstanceView:
        pods = self.pods.get(instance.metadata.uid, {})
        # Roles of a group are few: ordinals of one never reach into those of the next.
        place = ordinal * _ROLES_MAX + number
        self._seen.add(place)
        facts = (role, instance, *pods.values())
        return self.cache.read(place, facts, lambda: make_view(role, ordinal, instance, pods))

    def forget_others(self) -> None:
        """Drop instances that exist no more."""
        self.cache.keep(self._seen)


def _find_taken(role: RoleFacts, pods: dict[str, dict[str, RolePod]]) -> frozenset[int]:
    """The ordinals whose names pods of former instances still bear, or the user wants no more."""
    owners = (o for own in pods.values() for pod in own.values() for o in pod.owners)
    found = (role.find_ordinal(name) for name in {*owners, *role.spec.unwanted})
    return frozenset(ordinal for ordinal in found if ordinal is not None)


def _own_delegates(snapshot: Snapshot, facts: GroupFacts) -> dict[str, Object]:
    """The group's existing Deployments, StatefulSets and LeaderWorkerSets, by role."""
    uid, found = uid_of(snapshot.root), {}
    for name, role in facts.delegated.items():
        assert role.spec.workload is not None
        for held in snapshot.all(role.spec.workload):
            is_ours = held.metadata.controller == uid and not held.metadata.is_leaving
            if is_ours and held.metadata.name == role.objects.workload_name:
                found[name] = held.decode()
    return found


def _read_delegate(role: DelegatedRole, found: Object | None) -> RoleInstances:
    """A role by its workload's status; with another template, it counts no updated units."""
    spec = role.spec
    tally = read_tally(found) if found else Tally(0, 0, 0, 0, 0)
    if found and not has_template(role, found):
        tally = replace(tally, updated=0, updated_ready=0, is_told=False)
    return RoleInstances(
        role=spec.name,
        wanted=spec.replicas,
        revision=role.hash,
        tally=tally,
        partition=spec.rollout.partition,
        grown=tally.wanted if found else None,
    )


def _join(snapshot: Snapshot, facts: GroupFacts, roles: tuple[RoleInstances, ...]) -> Group:
    """The model's one group, from its roles."""
    instances = [instance for role in roles for instance in role.instances]
    members = tuple(member for instance in instances for member in instance.members)
    return Group(
        ordinal=0,
        revision=_find_revision(facts, roles),
        phase=join_phases(roles),
        incarnation=uid_of(snapshot.root),
        size=sum(role.spec.replicas * role.spec.size for role in facts.roles.values()),
        members=members,
        roles=roles,
        is_settled=all(role.is_settled and _has_places(role) for role in roles)
        and all(instance.wakes_at is None for instance in instances),
    )


def _has_places(role: RoleInstances) -> bool:
    """Whether ordinals have no gap: a gap means that a surge instance stands in for another."""
    return role.are_alike or all(
        instance.ordinal == place for place, instance in enumerate(role.instances)
    )


def _find_revision(facts: GroupFacts, roles: tuple[RoleInstances, ...]) -> str:
    """
    The hash of the current roles if all instances have them, else of the newest stored revision.

    Where the user has just asked for other roles, that newest one counts only if its rollout was
    over: users may change a group twice before its first instance follows.
    """
    are_new = all(i.revision == role.revision for role in roles for i in role.instances)
    if are_new and all(role.is_updated for role in roles if role.tally is not None):
        return facts.hash
    if not facts.stored or (facts.current is None and not _have_former(facts, roles)):
        return ""
    return facts.stored[-1].hash


def _have_former(facts: GroupFacts, roles: tuple[RoleInstances, ...]) -> bool:
    """Whether all instances that a partition does not keep old have the newest stored roles."""
    return all(
        instance.revision == facts.former_targets.get(role.role, instance.revision)
        for role in roles
        for instance in role.list_unprotected(role.partition)
    )


def _find_progress(facts: GroupFacts) -> Progress | None:
    if not facts.stored:
        return None
    target = facts.hash if facts.current else facts.stored[-1].hash
    return Progress(0, 1, 1, target)


def _read_workload(snapshot: Snapshot, facts: GroupFacts, delegates: dict[str, Object]) -> Workload:
    group, strategy = snapshot.root, choose_strategy(snapshot, labels.STRATEGY)
    return Workload(
        namespace=namespace_of(group),
        name=name_of(group),
        uid=uid_of(group),
        generation=group["metadata"].get("generation", 0),
        groups=1,
        roles=tuple(_ask_roles(facts, delegates, strategy)),
        revision=facts.hash,
        rollout=RolloutPolicy(wanted=1, strategy=strategy),
        recovery=_ALONE,
        is_leaving=is_leaving(group),
        reach=Reach.ANY,
        rules=facts.rules,
        has_rollout=False,
        is_one_group=True,
    )


def _ask_roles(facts: GroupFacts, delegates: dict[str, Object], strategy: str) -> Iterator[Role]:
    for spec in facts.spec.roles:
        if spec.name in facts.roles:
            yield _ask_role(facts.roles[spec.name], strategy)
        elif spec.name in facts.delegated:
            policy = RolloutPolicy(
                wanted=spec.replicas,
                partition=spec.rollout.partition,
                max_unavailable=spec.rollout.max_unavailable,
                level=Level.INSTANCE,
                is_paused=spec.rollout.is_paused,
            )
            yield Role(
                instances=spec.replicas,
                size=spec.size,
                name=spec.name,
                revision=facts.delegated[spec.name].hash,
                rollout=policy,
                recovery=_ALONE,
                after=spec.dependencies,
                reach=Reach.COUNT,
                obstacle=_find_obstacle(facts.delegated[spec.name], delegates.get(spec.name)),
            )


def _find_obstacle(role: DelegatedRole, found: Object | None) -> Blocker | None:
    """What a workload lacks that has to be made or changed; an unchanged one keeps what it has."""
    is_same = labels_of(found or {}).get(labels.role_revision(role.spec.name)) == role.hash
    return Blocker(PROFILE, role.lacks) if role.lacks and not is_same else None


def _ask_role(facts: RoleFacts, strategy: str) -> Role:
    spec, rollout = facts.spec, facts.spec.rollout
    parts = tuple(Part(c.name, c.size, c.start_after) for c in spec.components)
    return Role(
        instances=spec.replicas,
        size=spec.size,
        name=spec.name,
        revision=facts.target,
        rollout=RolloutPolicy(
            wanted=spec.replicas,
            partition=rollout.partition,
            max_unavailable=rollout.max_unavailable,
            max_surge=rollout.max_surge,
            strategy=strategy,
            min_ready_seconds=spec.min_ready_seconds,
            level=Level.INSTANCE,
            is_paused=rollout.is_paused,
            growth_max=spec.growth_max,
        ),
        recovery=_recovery_of(spec),
        after=spec.dependencies,
        victims=Victims.ALIKE if spec.is_stateless else Victims.BEYOND,
        amendment=rollout.amendment,
        is_ordered=spec.is_ordered and not spec.is_stateless,
        parts=parts if any(part.after for part in parts) else (),
        obstacle=Blocker(PROFILE, facts.lacks) if facts.lacks else None,
    )


def _recovery_of(spec: RoleSpec) -> RecoveryPolicy:
    """How a role recovers; without a restart policy each ended pod is recreated alone."""
    restart = spec.restart
    if not restart.recreates_instance:
        return _ALONE
    backoff = Backoff(restart.base_seconds, restart.max_seconds, restart.reset_seconds)
    return RecoveryPolicy(Trigger.AFTER_READY, Level.INSTANCE, backoff=backoff, spares_deleted=True)
