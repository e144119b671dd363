"""
The objects of a group besides instances and pods: revisions, the ConfigMap, and for each role its
RoleInstanceSet (here: set), the set's revision, its Service and its adapter. A role whose workload
type is StatefulSet, Deployment or LeaderWorkerSet has one of these instead of a set.

Server-side apply writes a set whole under upstream's field manager, so that the API server removes
fields that neither of us sets any more. The operator writes only objects that differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from kohort.apis.api import Snapshot
from kohort.apis.carriers.desired import apply_made, find_changes, list_owners
from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.coordination import make_policy
from kohort.apis.rolebasedgroup.group_facts import is_frozen, read_adapter
from kohort.apis.rolebasedgroup.lost_revisions import list_bearers
from kohort.apis.rolebasedgroup.objects.adapters import make_adapter
from kohort.apis.rolebasedgroup.objects.config import make_config_map, write_listed
from kohort.apis.rolebasedgroup.objects.services import make_service
from kohort.apis.rolebasedgroup.objects.templates import CONFIG_FILE, RoleContext
from kohort.apis.rolebasedgroup.objects.workloads import (
    TEMPLATE_PATHS,
    keep_fixed,
    keep_injected,
    keep_template,
    make_workload,
    pause,
)
from kohort.apis.rolebasedgroup.revision import (
    GROUP_HISTORY,
    StoredRevision,
    list_outdated,
    make_group_revision,
    make_set_revision,
    next_number,
)
from kohort.apis.rolebasedgroup.role_facts import DelegatedRole, GroupFacts, RoleFacts
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.cluster.actions import Action, Create, Delete, FollowUps, Patch
from kohort.cluster.kinds import CONFIG_MAP, CONTROLLER_REVISION, DEPLOYMENT, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, labels_of, name_of, namespace_of, uid_of
from kohort.cluster.port import Address, PatchType
from kohort.model.plans import Plan, Step
from kohort.model.reasons import ORDER, ROLE, SKEW, VERSIONS
from kohort.model.units import Line

MANAGER = "rbg"
CARRIERS = (labels.INSTANCE_SET, STATEFUL_SET, DEPLOYMENT, labels.LEADER_WORKER_SET)
_MADE_ONCE = ("spec.replicas",)  # of adapters: an autoscaler owns it after the create


@dataclass(frozen=True, slots=True)
class SetActions:
    """The writes of one plan to all objects of a group but instances and pods."""

    snapshot: Snapshot
    facts: GroupFacts
    plan: Plan

    def mark_served(self) -> Iterator[Action]:
        """Mark the revision that all roles served, which only its own instances can prove."""
        for stored in self.list_own_revisions():
            marks = stored.metadata.labels
            revision = marks.get(labels.GROUP_REVISION) or marks.get(labels.HASH)
            is_marked = labels.SERVED in stored.metadata.annotations
            if self.plan.served and revision == self.plan.served and not is_marked:
                yield self.annotate(stored, {labels.SERVED: "true"}, "it has served")

    def store_group(self) -> Iterator[Action]:
        """Store a revision of the current roles."""
        facts, group = self.facts, self.facts.group
        if facts.current is None:
            body = make_group_revision(group, next_number(facts.stored))
            yield self._create(CONTROLLER_REVISION, body, "the roles are not stored")

    def forget(self) -> Iterator[Action]:
        """
        Delete revisions beyond the history limits of the group and of its sets.

        A partition or a pause may last for good, so it is not only done at the end of a rollout.
        What instances and pods have stays, and so does the revision that roles can go back to.
        """
        facts = self.facts
        served = max((s for s in facts.stored if s.has_served), key=_number_of, default=None)
        live = [each.name for each in (facts.current, facts.fallback, served) if each]
        outdated = set(list_outdated(facts.stored, live, GROUP_HISTORY))
        for role in facts.roles.values():
            limit = role.instance_set["spec"]["revisionHistoryLimit"]
            live = [role.target, role.base]
            if list_outdated(role.stored, live, limit):
                live += self._list_used(role)
                outdated |= set(list_outdated(role.stored, live, limit))
        for stored in self.snapshot.all(CONTROLLER_REVISION):
            if stored.metadata.name in outdated:
                yield _delete(CONTROLLER_REVISION, stored, "beyond the history")

    def _list_used(self, role: RoleFacts) -> Iterator[str]:
        """The revisions of a role's set that an instance or a pod has."""
        for bearer in list_bearers(self.snapshot):
            if bearer.labels.get(labels.ROLE_NAME) == role.spec.name:
                yield role.find_revision(bearer.labels[labels.REVISION])

    def list_own_revisions(self) -> list[Whole]:
        """The stored revisions that belong to the root object itself."""
        uid = uid_of(self.snapshot.root)
        held = self.snapshot.all(CONTROLLER_REVISION)
        return [stored for stored in held if stored.metadata.controller == uid]

    def find_in_force(self) -> Whole | None:
        """The stored revision with the current roles."""
        name = self.facts.current.name if self.facts.current else ""
        return next((s for s in self.list_own_revisions() if s.metadata.name == name), None)

    def annotate(self, stored: Whole, notes: dict[str, str | None], why: str) -> Patch:
        """Write annotations on a stored revision."""
        name = stored.metadata.name
        address = Address(CONTROLLER_REVISION, stored.metadata.namespace, name)
        body = {"metadata": {"uid": stored.metadata.uid, "annotations": notes}}
        return Patch(address, body, why=f"{name}: {why}")

    def write_config(self) -> Iterator[Action]:
        """Create or patch the ConfigMap in which pods find each other's addresses."""
        wanted = _write_config(self.facts)
        if wanted is None:
            return
        name = names.config_name(name_of(self.facts.group))
        held = self.snapshot.all(CONFIG_MAP)
        found = next((c for c in held if c.metadata.name == name), None)
        if found is None:
            yield self._create(CONFIG_MAP, wanted, "pods read addresses from it")
        elif found.metadata.controller == uid_of(self.snapshot.root) and not self._is_told(
            found.text, wanted
        ):
            address = Address(CONFIG_MAP, found.metadata.namespace, name)
            body = {"metadata": {"uid": found.metadata.uid}, "data": wanted["data"]}
            yield Patch(address, body, why=f"ConfigMap {name} says other addresses")

    def _is_told(self, text: str | None, wanted: Object) -> bool:
        """Whether a text lists the addresses of the group's pods, in our format or upstream's."""
        # Nearly all texts are ours, so upstream's is written only where one is not.
        return text == wanted["data"][CONFIG_FILE] or text == _write_upstream(self.facts)

    def write_policy(self) -> Iterator[Action]:
        """Write the policy for a v1alpha1 group's coordination field, or delete a former one."""
        wanted, name = make_policy(self.facts.group), names.config_name(name_of(self.facts.group))
        held: tuple[Whole, ...] = self.snapshot.references.get(labels.POLICY, ())
        found = next((each for each in held if each.metadata.name == name), None)
        if wanted is None:
            if found is not None and self._is_of_coordination(found):
                yield _delete(labels.POLICY, found, "the group has no coordination any more")
        elif found is None:
            yield self._make(labels.POLICY, wanted, "the group has coordination of v1alpha1")
        elif not found.metadata.is_leaving:
            yield from self._apply(labels.POLICY, wanted, found)

    def _is_of_coordination(self, found: Whole) -> bool:
        """Whether the policy was made for coordination of v1alpha1, and not by a user."""
        owners = {owner.uid for owner in found.metadata.owner_references}
        if uid_of(self.snapshot.root) not in owners or found.metadata.is_leaving:
            return False
        return MANAGER in list_owners(found.decode(), "spec", "policies")

    def scale_group(self) -> Iterator[Action]:
        """Write the replicas of adapters, and of roles in a ratio with them, into the group."""
        before = self.snapshot.root["spec"]["roles"]
        patch: list[Object] = []
        for index, (own, wanted) in enumerate(
            zip(before, self.facts.group["spec"]["roles"], strict=True)
        ):
            if own.get("replicas", 1) != wanted.get("replicas", 1) and self._may_scale(wanted):
                path = f"/spec/roles/{index}"
                patch += [
                    {"op": "test", "path": f"{path}/name", "value": own.get("name")},
                    {"op": "add", "path": f"{path}/replicas", "value": wanted["replicas"]},
                ]
        if patch:
            group = self.snapshot.root
            address = Address(labels.KIND, namespace_of(group), name_of(group))
            why = f"adapters of {name_of(group)} ask for other replicas"
            same = {"op": "test", "path": "/metadata/uid", "value": uid_of(group)}
            yield Patch(address, [same, *patch], PatchType.JSON, why=why)

    def _may_scale(self, role: Object) -> bool:
        """Whether to write a role's replicas: with an adapter, only the number that it holds."""
        if as_map(role.get("scalingAdapter")).get("enable") is not True:
            return True
        name = names.adapter_name(name_of(self.facts.group), str(role.get("name")))
        found = self._find(labels.ADAPTER, name)
        held = read_adapter(found.decode())[0] if found else None
        return held in (None, role["replicas"])

    def ensure_role(self, role: RoleFacts, then: FollowUps = None) -> Iterator[Action]:
        """Create or update a role's set, the set's revision, its Service and its adapter."""
        wanted = self._count_set(role)
        found = self._find(labels.INSTANCE_SET, role.set_name)
        if found is None and role.lacks:
            return
        if found is None:
            why = f"role {role.spec.name} has no set"
            yield self._make(labels.INSTANCE_SET, wanted, why, then)
        elif role.set_uid and not found.metadata.is_leaving:
            yield from self._apply(labels.INSTANCE_SET, wanted, found)
            yield from self.store_role(role)
            yield from self._ensure_service(role.objects, found.decode())
        if role.spec.adapter.is_enabled:
            yield from self._ensure(labels.ADAPTER, make_adapter(role.objects), _MADE_ONCE)

    def ensure_delegate(self, role: DelegatedRole) -> Iterator[Action]:
        """Create or update a role's StatefulSet (or its like), its Service and its adapter."""
        kind, name = role.spec.workload, role.objects.workload_name
        assert kind is not None
        step = self.plan.steps.get(Line(0, role.spec.name))
        count = step.rollout.count if step else role.spec.replicas
        partition = step.rollout.boundary if step else role.spec.rollout.partition
        wanted = make_workload(role.objects, role.hash, count, partition)
        found = self._find(kind, name)
        if found is None and role.lacks:
            return
        if found is None and (count or role.spec.replicas == 0):
            yield self._make(kind, wanted, f"role {role.spec.name} has no {kind.name}")
        elif found is not None and self._is_ours(found):
            held = found.decode()
            if is_frozen(role.objects, role.hash, held):
                objects = keep_injected(role.objects, held)
                wanted = make_workload(objects, role.hash, count, partition)
            wanted = keep_fixed(wanted, held)
            waits = _waits_for_role(step) or _waits_whole(role, step)
            # A version of the role that leaves its template as it is has nothing to wait for.
            is_kept = bool(role.lacks) or (waits and not has_template(role, held))
            wanted = keep_template(wanted, held, role.spec.name) if is_kept else wanted
            if kind == DEPLOYMENT and role.spec.rollout.is_paused:
                is_new = not is_kept and not _has_hash(role, held)
                wanted = pause(wanted, held, is_new)
            yield from self._apply(kind, wanted, found)
            if role.spec.has_service:
                yield from self._ensure_service(role.objects, held)
        if role.spec.adapter.is_enabled:
            yield from self._ensure(labels.ADAPTER, make_adapter(role.objects), _MADE_ONCE)

    def _count_set(self, role: RoleFacts) -> Object:
        """The set with as many replicas as the plan allows now."""
        step = self.plan.steps.get(Line(0, role.spec.name))
        count = role.spec.replicas if step is None else step.wanted
        return {**role.instance_set, "spec": {**role.instance_set["spec"], "replicas": count}}

    def make_service(self, role: RoleFacts, stored: Object) -> Iterator[Action]:
        """Create the Service of a role whose set was stored just now."""
        actions = self._ensure_service(role.objects, stored)
        yield from (action for action in actions if isinstance(action, Create))

    def store_role(self, role: RoleFacts) -> Iterator[Create]:
        """Store the revision of a role's instance template, if it is new."""
        if role.is_stored:
            return
        metadata = {**role.instance_set["metadata"], "uid": role.set_uid}
        body = make_set_revision(
            {**role.instance_set, "metadata": metadata}, next_number(role.stored)
        )
        why = f"the template of role {role.spec.name} is not stored"
        yield self._create(CONTROLLER_REVISION, body, why)

    def _ensure_service(self, context: RoleContext, owner: Object) -> Iterator[Action]:
        wanted = make_service(context, owner)
        actions = tuple(self._ensure(SERVICE, wanted))
        # An apply of our keys replaces the whole selector, so only what is left then is removed.
        yield from actions or self._widen(wanted)

    def _widen(self, wanted: Object) -> Iterator[Action]:
        """Remove extra keys from a selector whose other keys are right, which no apply changes."""
        found = self._find(SERVICE, name_of(wanted))
        if found is None or found.metadata.is_leaving:
            return
        held = as_map(as_map(found.decode().get("spec")).get("selector"))
        extra = {key: None for key in held if key not in wanted["spec"]["selector"]}
        if extra:
            address = Address(SERVICE, found.metadata.namespace, found.metadata.name)
            body = {"metadata": {"uid": found.metadata.uid}, "spec": {"selector": extra}}
            why = f"Service {name_of(wanted)} selects too few pods: {', '.join(extra)}"
            yield Patch(address, body, why=why)

    def _ensure(
        self, kind: Kind, wanted: Object, ignored: tuple[str, ...] = ()
    ) -> Iterator[Action]:
        found = self._find(kind, name_of(wanted))
        if found is None:
            yield self._create(kind, wanted, f"{kind.name} {name_of(wanted)} is missing")
        elif not found.metadata.is_leaving:
            yield from self._apply(kind, wanted, found, ignored)

    def _apply(
        self, kind: Kind, wanted: Object, found: Whole, ignored: tuple[str, ...] = ()
    ) -> Iterator[Action]:
        held = found.decode()
        changes = find_changes(wanted, held, MANAGER, ignored)
        if not changes:
            return
        body = {**wanted, "metadata": {**wanted["metadata"], "uid": found.metadata.uid}}
        if ignored:
            spec = {k: v for k, v in wanted["spec"].items() if f"spec.{k}" not in ignored}
            body = {**body, "spec": spec}
        address = Address(kind, found.metadata.namespace, found.metadata.name)
        why = f"{kind.name} {name_of(wanted)}: {', '.join(changes[:3])} differ"
        yield Patch(address, body, PatchType.APPLY, MANAGER, force=True, why=why)

    def clean(self) -> Iterator[Action]:
        """Delete workloads and adapters of roles that the user removed from the spec."""
        uid = uid_of(self.snapshot.root)
        wanted = {(c.role.workload, c.workload_name) for c in self.facts.contexts}
        for kind in CARRIERS:
            for found in self.snapshot.all(kind):
                is_ours = found.metadata.controller == uid and not found.metadata.is_leaving
                if is_ours and (kind, found.metadata.name) not in wanted:
                    yield _delete(kind, found, "its role is wanted no more")
        scaled = {
            names.adapter_name(name_of(self.facts.group), role.name)
            for role in self.facts.spec.roles
            if role.adapter.is_enabled
        }
        for found in self.snapshot.all(labels.ADAPTER):
            owners = {owner.uid for owner in found.metadata.owner_references}
            is_ours = uid in owners and not found.metadata.is_leaving
            if is_ours and found.metadata.name not in scaled:
                yield _delete(labels.ADAPTER, found, "its role has no adapter")

    def _is_ours(self, found: Whole) -> bool:
        """Whether the group controls an object, and it stays."""
        metadata = found.metadata
        return metadata.controller == uid_of(self.snapshot.root) and not metadata.is_leaving

    def _find(self, kind: Kind, name: str) -> Whole | None:
        held: tuple[Whole, ...] = self.snapshot.all(kind)
        return next((found for found in held if found.metadata.name == name), None)

    def _make(self, kind: Kind, body: Object, why: str, then: FollowUps = None) -> Action:
        """Create an object by an apply: a later apply removes only what one has written."""
        return apply_made(replace(self._create(kind, body, why), then=then), MANAGER)

    def _create(self, kind: Kind, body: Object, why: str) -> Create:
        return Create(kind, namespace_of(self.snapshot.root), body, why)


def _waits_for_role(step: Step | None) -> bool:
    """Whether a role is not to be updated before another one that it depends on."""
    return step is not None and any(blocker.reason == ROLE for blocker in step.blockers)


def has_template(role: DelegatedRole, held: Object) -> bool:
    """Whether an existing workload has the template of its role, whatever else has changed."""
    if _has_hash(role, held):
        return True
    if role.lacks:
        return False  # the template cannot be made yet
    changed = find_changes(make_workload(role.objects, role.hash, 0, 0), held, MANAGER)
    return not any(path.startswith(TEMPLATE_PATHS) for path in changed)


def _has_hash(role: DelegatedRole, held: Object) -> bool:
    """Whether an existing workload bears the hash of its role."""
    return labels_of(held).get(labels.role_revision(role.spec.name)) == role.hash


def _waits_whole(role: DelegatedRole, step: Step | None) -> bool:
    """Whether a Deployment, which has no partition, must not be told of the role's new template."""
    if role.spec.workload != DEPLOYMENT:
        return False
    if role.spec.rollout.is_paused:
        return True
    if step is None or not step.rollout.boundary >= step.rollout.count > 0:
        return False
    return any(b.reason in (ORDER, SKEW, VERSIONS) for b in step.blockers)


@lru_cache(maxsize=1_024)
def _write_config(facts: GroupFacts) -> Object | None:
    """A group's ConfigMap, written once for facts."""
    return make_config_map(facts.group, facts.contexts)


@lru_cache(maxsize=1_024)
def _write_upstream(facts: GroupFacts) -> str:
    """The text of a group's ConfigMap in upstream's format, written once for facts."""
    return write_listed(facts.group, facts.contexts, as_upstream=True)


def _number_of(revision: StoredRevision) -> int:
    return revision.number


def _delete(kind: Kind, found: Whole, why: str) -> Delete:
    metadata = found.metadata
    text = f"{kind.name} {metadata.name}: {why}"
    return Delete(kind, metadata.namespace, metadata.name, metadata.uid, "Background", why=text)
