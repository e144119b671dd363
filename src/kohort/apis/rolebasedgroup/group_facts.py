"""
A RoleBasedGroup's spec and its stored revisions, parsed once and cached until an input changes.

An autoscaler writes the replicas of a role into its adapter. The operator acts on that number as
soon as it sees it, whatever the group says, and writes it into the group with the same plan.
"""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.carriers.failures import read_failures
from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.coordination import (
    PolicyRule,
    couple_replicas,
    make_rules,
    narrow_rollout,
    read_policy,
)
from kohort.apis.rolebasedgroup.former_services import has_former, list_former
from kohort.apis.rolebasedgroup.lost_revisions import find_lost
from kohort.apis.rolebasedgroup.objects.adapters import BOUND
from kohort.apis.rolebasedgroup.objects.gangs import TEMPLATE_MARKS, find_dialect
from kohort.apis.rolebasedgroup.objects.ports import ROLE_SCOPED, is_port
from kohort.apis.rolebasedgroup.objects.runtimes import describe_missing, rolls_with_profile
from kohort.apis.rolebasedgroup.objects.sets import make_instance_set
from kohort.apis.rolebasedgroup.objects.templates import (
    RoleContext,
    find_gang_mark,
    is_made_by_us,
)
from kohort.apis.rolebasedgroup.port_claims import list_claims, list_holders
from kohort.apis.rolebasedgroup.revision import (
    StoredRevision,
    at_revision,
    find_current,
    find_newest,
    hash_group,
    hash_roles,
    hash_set,
    read_revision,
    write_group_data,
    write_set_data,
)
from kohort.apis.rolebasedgroup.role_facts import DelegatedRole, GroupFacts, RoleFacts
from kohort.apis.rolebasedgroup.role_ports import NO_PORTS, PortView, give_ports
from kohort.apis.rolebasedgroup.roles import RoleSpec, as_int, as_map, as_objects
from kohort.apis.rolebasedgroup.rollback import find_fallback
from kohort.apis.rolebasedgroup.spec import GroupSpec, read_spec
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, namespace_of, uid_of
from kohort.model.observed import Failure
from kohort.model.policies import Rule
from kohort.model.units import Line


class _Inputs(NamedTuple):
    """The cache key: every object that the facts of a group are made from."""

    body: bytes  # the group
    sets: tuple[bytes, ...]
    revisions: tuple[bytes, ...]
    references: tuple[bytes, ...]  # policies and profiles
    gang_scheduler: str
    ports: PortView = NO_PORTS  # empty unless a role asks for a role-wide port
    former_services: tuple[str, ...] = ()  # of the workloads of these names


def find_facts(snapshot: Snapshot) -> GroupFacts:
    """The facts of a group, from the cache if no input has changed."""
    dialect = find_dialect(snapshot)
    gang_scheduler = TEMPLATE_MARKS.get(dialect.name, "") if dialect else ""
    group = heed_adapters(snapshot.root, snapshot.all(labels.ADAPTER))
    metadata = group["metadata"]
    body = {
        "apiVersion": labels.KIND.api_version,
        "kind": labels.KIND.name,
        "metadata": {
            "name": name_of(group),
            "namespace": namespace_of(group),
            "uid": uid_of(group),
            "generation": metadata.get("generation"),
            "labels": labels_of(group),
            "annotations": annotations_of(group),
        },
        "spec": group["spec"],
    }
    sets = sorted(_strip_set(found) for found in snapshot.all(labels.INSTANCE_SET))
    stored = (*snapshot.all(CONTROLLER_REVISION), *find_lost(snapshot))
    revisions = sorted(found.raw for found in stored)
    named = [f.raw for kind in (labels.POLICY, labels.PROFILE) for f in _referred(snapshot, kind)]
    raw = orjson.dumps(body)
    ports = _view_ports(snapshot) if ROLE_SCOPED.encode() in raw else NO_PORTS
    return _make_facts(
        _Inputs(
            raw,
            tuple(sets),
            tuple(revisions),
            tuple(named),
            gang_scheduler,
            ports,
            list_former(snapshot),
        )
    )


def _view_ports(snapshot: Snapshot) -> PortView:
    marks = [pod.metadata.labels for pod in snapshot.all(POD)]
    told = {(held.get(labels.ROLE_NAME, ""), held.get(labels.REVISION, "")) for held in marks}
    return PortView(list_holders(list_claims(snapshot)), tuple(sorted(told)))


def _referred(snapshot: Snapshot, kind: object) -> tuple[Whole, ...]:
    return snapshot.references.get(kind, ())  # type: ignore[call-overload, no-any-return]


def _strip_set(found: Whole) -> bytes:
    """A RoleInstanceSet without counts in its status, which would invalidate the cached facts."""
    held = found.decode()
    status = as_map(held.get("status"))
    kept = {key: status.get(key) for key in ("currentRevision", "updateRevision")}
    metadata = {key: held["metadata"].get(key) for key in ("name", "uid", "ownerReferences")}
    prefix = labels.role_revision("")
    marks = {key: value for key, value in labels_of(held).items() if key.startswith(prefix)}
    metadata["labels"] = marks
    notes = annotations_of(held)
    metadata["annotations"] = {key: value for key, value in notes.items() if is_port(key, value)}
    return orjson.dumps({"metadata": metadata, "spec": held.get("spec"), "status": kept})


def heed_adapters(group: Object, adapters: tuple[Whole, ...]) -> Object:
    """
    The group with the replicas that autoscalers wrote into its scaling adapters.

    An adapter that a deleted group of this name left behind counts even before the group adopts
    it: otherwise instances would be deleted and made again.
    """
    asked = {}
    for adapter in adapters:
        found = adapter.decode()
        wanted, target = read_adapter(found)
        owners = {owner.uid for owner in adapter.metadata.owner_references}
        is_left = not owners and adapter.metadata.name == names.adapter_name(*target)
        is_own = is_left or uid_of(group) in owners
        if wanted is not None and target[0] == name_of(group) and is_own:
            asked[target[1]] = wanted
    roles = as_objects(as_map(group.get("spec")).get("roles"))
    counts = [_find_count(role, asked) for role in roles]
    if all(role.get("replicas", 1) == count for role, count in zip(roles, counts, strict=True)):
        return group
    changed = [{**r, "replicas": count} for r, count in zip(roles, counts, strict=True)]
    return {**group, "spec": {**group["spec"], "roles": changed}}


def read_adapter(adapter: Object) -> tuple[int | None, tuple[str, str]]:
    """The replicas in a bound adapter's spec (else None), and its target: group and role."""
    spec, status = as_map(adapter.get("spec")), as_map(adapter.get("status"))
    target = as_map(spec.get("scaleTargetRef"))
    replicas = spec.get("replicas") if status.get("phase") == BOUND else None
    wanted = as_int(replicas, -1)
    return wanted if wanted >= 0 else None, (str(target.get("name")), str(target.get("role")))


def _find_count(role: Object, asked: dict[str, int]) -> int:
    own = as_int(role.get("replicas"), 1)
    is_scaled = as_map(role.get("scalingAdapter")).get("enable") is True
    return asked.get(str(role.get("name")), own) if is_scaled else own


@lru_cache(maxsize=1024)
def _make_facts(inputs: _Inputs) -> GroupFacts:
    written: Object = orjson.loads(inputs.body)
    references = [orjson.loads(raw) for raw in inputs.references]
    policies = [r for r in references if r["kind"] == labels.POLICY.name]
    rules = tuple(rule for policy in policies for rule in read_policy(policy))
    group = _couple(written, rules)
    spec = _narrow(read_spec(group), rules)
    sets = {name_of(found): found for found in map(orjson.loads, inputs.sets)}
    owned = sort_revisions(inputs.revisions)
    own = tuple(revision for revision, _ in owned[uid_of(group)])
    current = find_newest(own, write_group_data(group))
    failures = read_failures_of(owned[uid_of(group)], current)
    profiles = {name_of(r): r for r in references if r["kind"] == labels.PROFILE.name}
    hashes = hash_roles(group)
    known = _Known(sets, owned, profiles, inputs.gang_scheduler, inputs.former_services)
    roles, delegated = {}, {}
    for role in spec.roles:
        if role.workload is None or role.problems:
            continue
        context = known.make_context(group, spec, role)
        if role.workload != labels.INSTANCE_SET:
            lacks = describe_missing(role, profiles)
            delegated[role.name] = DelegatedRole(context, hashes[role.name], lacks=lacks)
            continue
        found = sets.get(context.workload_name)
        roles[role.name] = _read_role(
            context,
            hashes[role.name],
            found,
            owned,
            failures.get(Line(0, role.name), ()),
        )
    fallback = find_fallback(own, current)
    former = own[-1] if own and current is None else None
    return GroupFacts(
        group=group,
        spec=spec,
        roles=give_ports(roles, sets, inputs.ports),
        delegated=delegated,
        hash=current.hash if current else hash_group(group),
        stored=own,
        current=current,
        rules=tuple(_limit(r, fallback) for policy in policies for r in make_rules(policy)),
        former_targets=_find_targets(at_revision(group, former.data), known) if former else {},
        fallback=fallback,
    )


class _Known(NamedTuple):
    """What the target of a role depends on besides its spec."""

    sets: dict[str, Object]
    owned: dict[str, list[tuple[StoredRevision, str]]]
    profiles: dict[str, Object]
    gang_scheduler: str
    former_services: tuple[str, ...]

    def make_context(self, group: Object, spec: GroupSpec, role: RoleSpec) -> RoleContext:
        """The inputs for the objects of a role, before its existing set is known."""
        context = RoleContext(group, spec, role, self.profiles, self.gang_scheduler)
        is_former = context.workload_name in self.former_services
        return replace(context, has_former_service=is_former)


def _find_targets(group: Object, known: _Known) -> dict[str, str]:
    """The revision of instances that each role of a group asks for."""
    spec, hashes, found = read_spec(group), hash_roles(group), {}
    for role in spec.roles:
        if role.workload == labels.INSTANCE_SET and not role.problems:
            context = known.make_context(group, spec, role)
            held = known.sets.get(context.workload_name)
            facts = _read_role(context, hashes[role.name], held, known.owned, ())
            found[role.name] = facts.target
    return found


def _limit(rule: Rule, fallback: StoredRevision | None) -> Rule:
    """The rule without its rollback while there is no revision to go back to."""
    return rule if fallback else replace(rule, rollback_seconds=None)


def _couple(group: Object, rules: tuple[PolicyRule, ...]) -> Object:
    """The group with new replicas for roles that a policy's ratio ties to an autoscaled role."""
    if not any(rule.ratio for rule in rules):
        return group
    roles = as_objects(as_map(group.get("spec")).get("roles"))
    counts = {str(role.get("name")): as_int(role.get("replicas"), 1) for role in roles}
    scaled = (r for r in roles if as_map(r.get("scalingAdapter")).get("enable") is True)
    found = couple_replicas(rules, counts, frozenset(str(role.get("name")) for role in scaled))
    changed = [{**role, "replicas": found[str(role.get("name"))]} for role in roles]
    return {**group, "spec": {**group["spec"], "roles": changed}}


def _narrow(spec: GroupSpec, rules: tuple[PolicyRule, ...]) -> GroupSpec:
    """The spec with the rollout of each role limited by the group's policies."""
    if not rules:
        return spec
    return replace(spec, roles=tuple(_narrow_role(role, rules) for role in spec.roles))


def _narrow_role(role: RoleSpec, rules: tuple[PolicyRule, ...]) -> RoleSpec:
    rollout = narrow_rollout(rules, role.name, role.replicas, role.rollout)
    is_lower = rollout.max_unavailable < role.rollout.max_unavailable
    if is_lower and role.workload != labels.INSTANCE_SET:
        # The other controller that rolls this role reads the amount from its own workload.
        written = {**rollout.written, "maxUnavailable": rollout.max_unavailable}
        rollout = replace(rollout, written=written)
    return replace(role, rollout=rollout)


def _read_role(
    context: RoleContext,
    role_hash: str,
    found: Object | None,
    owned: dict[str, list[tuple[StoredRevision, str]]],
    failures: tuple[Failure, ...],
) -> RoleFacts:
    uid = uid_of(found) if found and _is_owned(found, context.group) else ""
    held = found if uid else None
    if held is not None:
        context = replace(context, has_former_service=has_former(context, held))
    # A RoleInstanceSet that upstream made keeps upstream's template style while it lives.
    if held is not None and not is_made_by_us(held):
        mark = find_gang_mark(held) if context.spec.gang.is_enabled else ""
        context = replace(context, is_ours=False, gang_scheduler=mark)
    wanted = make_instance_set(context, role_hash)
    is_kept = is_frozen(context, role_hash, held)
    lacks = "" if is_kept else describe_missing(context.role, context.profiles)
    asked = names.revision_name(context.workload_name, hash_set(wanted))
    if held is not None and (is_kept or lacks):
        wanted = _keep_template(wanted, held, context.role.name)
    stored = tuple(revision for revision, _ in owned[uid]) if uid else ()
    current = find_current(stored, write_set_data(wanted))
    target = (
        current.name if current else names.revision_name(context.workload_name, hash_set(wanted))
    )
    if lacks and held is not None:
        # Its instances are old, though the revision that they wait for cannot be made yet.
        target = asked
    known = as_map((held or {}).get("status")).get("currentRevision") or ""
    base = known if known != target and any(r.name == known for r in stored) else ""
    return RoleFacts(
        objects=context,
        instance_set=wanted,
        set_uid=uid,
        target=target,
        is_stored=current is not None,
        stored=stored,
        base=base,
        grown=as_int(as_map((held or {}).get("spec")).get("replicas"), 0) if held else None,
        failures=failures,
        lacks=lacks,
    )


def _keep_template(wanted: Object, held: Object, role: str) -> Object:
    """The set with the template that it has, and with the role's hash that belongs to it."""
    template = as_map(held.get("spec")).get("roleInstanceTemplate")
    key = labels.role_revision(role)
    marks = {**labels_of(wanted), key: labels_of(held).get(key, "")}
    metadata = {**wanted["metadata"], "labels": marks}
    return {
        **wanted,
        "metadata": metadata,
        "spec": {**wanted["spec"], "roleInstanceTemplate": template},
    }


def is_frozen(context: RoleContext, role_hash: str, held: Object | None) -> bool:
    """Whether an unchanged role keeps its template, as a profile is gone or does not roll pods."""
    named = [context.profiles.get(runtime.profile) for runtime in context.role.runtimes]
    is_same = labels_of(held or {}).get(labels.role_revision(context.role.name)) == role_hash
    return is_same and any(found is None or not rolls_with_profile(found) for found in named)


def _is_owned(found: Object, group: Object) -> bool:
    owners = found["metadata"].get("ownerReferences") or ()
    return any(o.get("controller") and o.get("uid") == uid_of(group) for o in owners)


def sort_revisions(raws: tuple[bytes, ...]) -> dict[str, list[tuple[StoredRevision, str]]]:
    """Stored revisions and their records of failures, by the owner's uid, lowest number first."""
    found: dict[str, list[tuple[StoredRevision, str]]] = defaultdict(list)
    for raw in raws:
        obj: Object = orjson.loads(raw)
        revision = read_revision(obj)
        owners = obj["metadata"].get("ownerReferences") or ()
        owner = next((o["uid"] for o in owners if o.get("controller")), "")
        if revision is not None and owner:
            found[owner].append((revision, annotations_of(obj).get(labels.RESTARTS, "")))
    for own in found.values():
        own.sort(key=lambda pair: pair[0].number)
    return found


def read_failures_of(
    stored: list[tuple[StoredRevision, str]], current: StoredRevision | None
) -> dict[Line, tuple[Failure, ...]]:
    """The failures that stored revisions record, by line; those of the current one count first."""
    notes = {revision.name: text for revision, text in stored}
    in_force = notes.get(current.name, "") if current else ""
    by_line: dict[Line, list[Failure]] = defaultdict(list)
    for failure in read_failures(notes.values(), in_force=in_force):
        by_line[failure.line].append(failure)
    return {line: tuple(found) for line, found in by_line.items()}
