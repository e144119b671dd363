"""
Clauses of a LeaderWorkerSet's placement that reach no scheduler, each in a sentence.

They are found on a prototype of its gang, so that users see them before any group exists.
Commands that only read have no flags: they take what the operator wrote in the condition.

The answer to a write tells which fields the API server dropped. Until this process has
written something, the former condition still holds.
"""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.facts import PodFacts
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Intent
from kohort.apis.leaderworkerset import labels, names, spec
from kohort.apis.leaderworkerset.objects.differences import list_stale_fields
from kohort.apis.leaderworkerset.objects.gangs import (
    choose_dialect,
    find_dialect,
    make_intent,
)
from kohort.apis.leaderworkerset.objects.placement import place_templates
from kohort.apis.leaderworkerset.topology import (
    FIELD,
    describe_faults,
    find_topology,
)
from kohort.apis.topology import read_pack
from kohort.cluster.kinds import POD
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    find_condition,
    name_of,
    namespace_of,
)
from kohort.model.observed import Group
from kohort.model.placement import Gang, Pack, PlacementPolicy, Strength

DEGRADED = "TopologyDegraded"
SEPARATOR = "; "
_NOT_KEPT = " does not keep spec."


def read_placement(snapshot: Snapshot, key: str, groups: tuple[Group, ...]) -> PlacementPolicy:
    """The placement of groups, clauses that reach no scheduler, and those that one ignored."""
    lws = snapshot.root
    topology = find_topology(lws)
    pack = read_pack(topology)
    told = _find_said(lws)
    ignored: tuple[str, ...] = ()
    if snapshot.settings.are_given:
        told = (*describe_faults(lws), *dict.fromkeys(_find_losses(snapshot, key, pack)))
        ignored = tuple(_find_ignored(snapshot, key, pack, groups))
    return PlacementPolicy(pack, spec.find_exclusive_topology(lws) or "", told, ignored)


def _find_said(lws: Object) -> tuple[str, ...]:
    """The losses in the condition that the operator last wrote."""
    found = find_condition(lws, DEGRADED)
    if found is None or found.get("status") != "True":
        return ()
    return tuple(str(found.get("message", "")).split(SEPARATOR))


def _find_losses(snapshot: Snapshot, key: str, pack: Pack | None) -> Iterator[str]:
    lws = snapshot.root
    dialect = choose_dialect(lws, snapshot.settings)
    if dialect is None:
        if pack is not None:
            yield _lose_without_gangs(lws)
        return
    intent = _make_prototype(place_templates(lws, snapshot.settings), key, pack, dialect)
    yield from dialect.find_losses(intent, snapshot.tiers_of(dialect))
    if pack is not None:
        yield from _lose_scheduler(intent, dialect)
    yield from _lose_pruned(snapshot, intent, dialect)


def _lose_without_gangs(lws: Object) -> str:
    chosen = annotations_of(lws).get(labels.GANG)
    why = f"annotation {labels.GANG} is {chosen}" if chosen else "the operator has no --gang"
    return f"{FIELD} has no effect, since no gangs are made: {why}"


def _make_prototype(lws: Object, key: str, pack: Pack | None, dialect: Dialect) -> Intent:
    size = spec.size_of(lws)
    waits = spec.startup_policy_of(lws) == spec.LEADER_READY
    gang = Gang(0, "", key, size, minimum=1 if waits else size, pack=pack)
    metadata = {
        "name": names.leader_name(name_of(lws), 0),
        "namespace": namespace_of(lws),
        "uid": "",
        "labels": {labels.REVISION: key},
    }
    return make_intent(lws, {"metadata": metadata}, gang, dialect)


def _lose_scheduler(intent: Intent, dialect: Dialect) -> Iterator[str]:
    for named in intent.schedulers if dialect.scheduler else ():
        if named != dialect.scheduler:
            what = f"scheduler {named} of a template" if named else "the default scheduler"
            yield f"{FIELD} is not told to {what}: say schedulerName {dialect.scheduler} in both"


def _lose_pruned(snapshot: Snapshot, intent: Intent, dialect: Dialect) -> Iterator[str]:
    if any(kind not in snapshot.pruned for kind in dialect.kinds):
        yield from (said for said in _find_said(snapshot.root) if _NOT_KEPT in said)
        return
    for wanted in dialect.render(intent, snapshot.tiers_of(dialect)):
        for kind in dialect.kinds:
            if kind.name == wanted["kind"]:
                yield from _name_pruned(kind, wanted, snapshot.pruned[kind], dialect)


def _name_pruned(
    kind: Kind, wanted: Object, pruned: frozenset[str], dialect: Dialect
) -> Iterator[str]:
    dropped = {path.removeprefix("spec.").partition(".")[0].partition("[")[0] for path in pruned}
    for name in dialect.clauses:
        if name in wanted["spec"] and name in dropped:
            yield (
                f"{kind.name} of {kind.group}/{kind.version} on this cluster{_NOT_KEPT}{name}: "
                "a newer version of its scheduler is needed"
            )


def _find_ignored(
    snapshot: Snapshot, key: str, pack: Pack | None, groups: tuple[Group, ...]
) -> Iterator[str]:
    """Groups that span a wider domain than their gang allows."""
    dialect = choose_dialect(snapshot.root, snapshot.settings)
    if pack is None or pack.strength is not Strength.HARD or dialect is None:
        return
    tier = snapshot.tiers_of(dialect).find(pack)
    if tier is None or dialect.survey is None:
        return
    pods: dict[str, PodFacts] = {pod.metadata.name: pod for pod in snapshot.all(POD)}
    for group in groups:
        members = [pods[m.name] for m in group.members if m.is_current and m.name in pods]
        nodes = {pod.spec.node_name for pod in members} - {""}
        if len(members) < group.size or not all(pod.spec.node_name for pod in members):
            continue
        span = snapshot.measure(dialect, tuple(sorted(nodes)))
        if (
            span is not None
            and span > tier.number
            and _is_requested(snapshot, key, pack, members[0])
        ):
            yield (
                f"group {group.ordinal} stands in a domain of tier {span}, wider than tier "
                f"{tier.number}: {dialect.name} does not enforce hard topology"
            )


def _is_requested(snapshot: Snapshot, key: str, pack: Pack, leader: PodFacts) -> bool:
    """Whether the gang of this leader has the current limit; an older gang keeps its own."""
    metadata = leader.metadata
    dialect = find_dialect(snapshot.settings, metadata.labels, metadata.annotations)
    if dialect is None:
        return False
    name = dialect.find_gang(metadata.labels, metadata.annotations)
    held = {found.metadata.name: found for kind in dialect.kinds for found in snapshot.all(kind)}
    if name not in held:
        return False
    tiers = snapshot.tiers_of(dialect)
    intents = (_make_prototype(snapshot.root, key, wish, dialect) for wish in (pack, None))
    asked, free = (dialect.render(intent, tiers)[0]["spec"] for intent in intents)
    clause = {field: value for field, value in asked.items() if free.get(field) != value}
    return not list_stale_fields({"spec": clause}, held[name].decode())
