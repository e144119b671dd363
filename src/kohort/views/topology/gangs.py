"""
Why a gang waits: its object, its queue, and the domain that comes nearest to holding it.

Room is counted with the arithmetic of the embedded cluster's scheduler, on the raw objects of any
cluster: for that scheduler the answer is exact, for another one it is a good guess. The
message of the scheduler in use stands beside it. How many members are placed together is what the
gang's object says; where there is none, it is the whole group.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.objects import find_minimum, find_objections
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Kind, Object, annotations_of, labels_of
from kohort.model.observed import Group
from kohort.placement.fits import Wish, explain
from kohort.placement.raw_objects import find_node
from kohort.placement.sentences import describe
from kohort.views.picture import Picture

GROUPS_MAX = 2
_LEVELS = (SPINE, RACK)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What has to be known of a cluster to say why a gang waits."""

    nodes: Sequence[Object] = ()
    pods: Sequence[Object] = ()
    hypernodes: Sequence[Object] = ()
    # Objects of gangs and their queues, by kind and name; a kind that is not served is not in
    # it, and one that the user may not list has None.
    objects: Mapping[Kind, Mapping[str, Object] | None] = field(default_factory=dict)
    dialects: Sequence[Dialect] = ()
    are_nodes_seen: bool = True  # false: the user may not list nodes, so room is not counted


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A gang of which members have no node."""

    group: Group
    members: tuple[Object, ...]  # all that exist
    dialect: Dialect
    name: str


def find_dialects(picture: Picture, known: Sequence[Dialect]) -> tuple[Dialect, ...]:
    """The dialects in which a waiting pod says that it is in a gang."""
    return tuple(dict.fromkeys(w.dialect for w in _find_waiting(picture, known)))


def explain_gangs(picture: Picture, evidence: Evidence) -> tuple[str, ...]:
    """Why gangs of a workload wait, in sentences; nothing if none does."""
    waiting = list(_find_waiting(picture, evidence.dialects))
    lines = [line for found in waiting[:GROUPS_MAX] for line in _explain(picture, evidence, found)]
    more = len(waiting) - GROUPS_MAX
    if more > 0:
        lines.append(f"and {more} more {'group waits' if more == 1 else 'groups wait'}")
    return tuple(lines)


def _find_waiting(picture: Picture, known: Sequence[Dialect]) -> Iterator[_Waiting]:
    for group in picture.reading.observed.groups if picture.reading else ():
        current = [m.name for m in group.members if m.is_current]
        pods = [pod for name in current if (pod := picture.sample.find_member(name))]
        named = [_find_gang(pod, known) for pod in pods if not find_node(pod)]
        found = next((pair for pair in named if pair is not None), None)
        if found is not None:
            yield _Waiting(group, tuple(pods), *found)


def _find_gang(pod: Object, known: Sequence[Dialect]) -> tuple[Dialect, str] | None:
    """The gang that labels or annotations of a pod name; its scheduler's dialect comes first."""
    scheduler = (pod.get("spec") or {}).get("schedulerName", "")
    for dialect in sorted(known, key=lambda d: d.scheduler != scheduler):
        name = dialect.find_gang(labels_of(pod), annotations_of(pod))
        if name:
            return dialect, name
    return None


def _explain(picture: Picture, evidence: Evidence, found: _Waiting) -> Iterator[str]:
    told = {trouble.message for trouble in picture.troubles}
    words = _describe_object(evidence, found, told)
    hurdles = tuple(_find_hurdles(evidence, found))
    ordinal = picture.tell_group(found.group.ordinal)
    place = "" if ordinal is None else f"group {ordinal}: "
    yield f"{place}{'; '.join((*words, *hurdles))}"
    if hurdles:
        # Room is looked for only when these are out of the way.
        return
    missing = found.group.size - len(found.members)
    needed = _find_minimum(evidence, found)
    if missing > 0 and len(found.members) < needed:
        enough = "all" if needed >= found.group.size else str(needed)
        yield (
            f"{missing} of {found.group.size} members do not exist yet, and the gang is placed "
            f"only when {enough} do"
        )
    if not evidence.are_nodes_seen:
        yield "nodes may not be read, so room was not counted"
        return
    pack = picture.reading.workload.placement.pack if picture.reading else None
    fits = explain(
        evidence.nodes,
        evidence.pods,
        evidence.hypernodes,
        found.members,
        Wish(pack, needed, _find_levels(evidence)),
    )
    yield from describe(fits)


def _find_levels(evidence: Evidence) -> tuple[str, ...]:
    """Labels that stand for domains where none are declared: those of simulated nodes."""
    if evidence.hypernodes:
        return ()
    found = [k for k in _LEVELS if any(k in labels_of(node) for node in evidence.nodes)]
    # A node is tier 0 wherever there are wider domains, as it is where they are declared.
    return (*found, HOST) if found else ()


def _describe_object(evidence: Evidence, found: _Waiting, told: Collection[str]) -> Iterator[str]:
    if not found.dialect.kinds:
        yield f"gang {found.name} of {found.dialect.name}, which keeps no object for it"
        return
    yield f"{found.dialect.kinds[0].name} {found.name}"
    usual = found.dialect.scheduler
    named = {(pod.get("spec") or {}).get("schedulerName", "") for pod in found.members}
    if usual and named - {usual}:
        others = ", ".join(sorted(named - {usual}))
        yield f"members name scheduler {others} and not {usual}: does it know such gangs?"
    if evidence.objects.get(found.dialect.kinds[0], {}) is None:
        yield "which may not be read"
    obj = _find_object(evidence, found)
    if obj is not None:
        phase = (obj.get("status") or {}).get("phase")
        yield from [f"phase {phase}"] if phase else []
        # What its members say already is not said twice.
        for text in find_objections(obj):
            yield from [] if text in told else [f"its scheduler says: {text}"]


def _find_object(evidence: Evidence, found: _Waiting) -> Object | None:
    objects = evidence.objects.get(found.dialect.kinds[0])
    return None if objects is None else objects.get(found.name)


def _find_minimum(evidence: Evidence, found: _Waiting) -> int:
    """As many members as its object asks for; the whole group if nothing says it."""
    obj = _find_object(evidence, found) if found.dialect.kinds else None
    stored = find_minimum(obj) if obj is not None else None
    return found.group.size if stored is None else stored


def _find_hurdles(evidence: Evidence, found: _Waiting) -> Iterator[str]:
    """What keeps a scheduler from looking for room at all."""
    dialect = found.dialect
    kind = dialect.kinds[0] if dialect.kinds else None
    if kind is None:
        return
    if kind not in evidence.objects:
        remedy = dialect.remedy or f"install {dialect.name}"
        yield f"it cannot exist, since {kind.group_resource} is not served: {remedy}"
        return
    if evidence.objects[kind] is None:
        return
    obj = _find_object(evidence, found)
    if obj is None:
        yield (
            "it does not exist, and no member is placed without it: the operator makes it again, "
            f"if it runs with --gang {dialect.name}"
        )
        return
    queues = evidence.objects.get(dialect.queues) if dialect.queues is not None else None
    if queues is not None:
        yield from dialect.judge_queue(obj, queues, evidence.nodes)
