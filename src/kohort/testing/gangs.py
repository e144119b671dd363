"""
The rules that every gang dialect must keep, as a check for authors of dialects.

    from kohort.testing import check_gang

    def test_my_dialect():
        assert check_gang(DIALECT) == []

A dialect is asked about a range of gangs: with and without topology, subgroups, queues and long
names. It must render the same each time, change nothing that it is given, and drop no clause of
a gang silently: what its scheduler cannot express, ``find_losses`` must say in a sentence.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Intent, Membership, SubgroupKind, Tier, Tiers
from kohort.apis.gangs.known import DIALECTS, read_variants
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, namespace_of
from kohort.model.placement import Gang, Pack, Strength
from kohort.testing.samples import describe_error, is_json, list_faults

_OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "x-0", "uid": "u-1", "controller": True}
_TIERS = (
    Tier(0, "host", "kubernetes.io/hostname", "net"),
    Tier(1, "rack", "topology.kubernetes.io/rack", "net"),
    Tier(2, "spine", "topology.kubernetes.io/spine", "net"),
)
TIERS = Tiers(_TIERS, are_known=True)
_PACKS = (None, Pack(Strength.HARD, tier=1), Pack(Strength.SOFT, tier=2))
_LONG = "n" * 70
_WORDS_MIN = 6  # a loss is a sentence: what is lost, for whom, and what to do
_Said = tuple[tuple[Object, ...], list[Object], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Question:
    """One gang to render in a dialect, and the tiers of the cluster."""

    intent: Intent
    tiers: Tiers

    def __str__(self) -> str:
        gang = self.intent.gang
        parts = [f"a gang of {gang.size}"]
        if gang.minimum < gang.size:
            parts.append(f"a minimum of {gang.minimum}")
        if gang.pack:
            tier = gang.pack.tier_name if gang.pack.tier is None else gang.pack.tier
            parts.append(f"{gang.pack.strength.value} topology up to tier {tier}")
        parts += [f"{part.count} subgroups of {part.size}" for part in self.intent.parts]
        if self.intent.queue:
            parts.append(f"queue {self.intent.queue}")
        if len(self.intent.name) > len("x-0-abc"):
            parts.append(f"a name of {len(self.intent.name)} characters")
        return ", ".join(parts)


def check_gang(found: Dialect | tuple[Dialect, ...], *, name: str = "") -> list[str]:
    """The rules that a dialect breaks, each with the gang for which it does; empty: none."""
    try:
        variants = read_variants(name or _name_of(found), found)
    except ValueError as error:
        return [str(error)]
    faults: list[tuple[str, object]] = []
    for dialect in variants:
        faults += [(fault, "") for fault in _check_value(dialect)]
        for question in list_questions():
            try:
                faults += [(fault, question) for fault in find_faults(dialect, question)]
            except Exception as error:
                faults.append((f"{dialect.name} raised {describe_error(error)}", question))
    return list_faults(faults)


def _name_of(found: object) -> str:
    first = found[0] if isinstance(found, tuple | list) and found else found
    return getattr(first, "name", "")


def _check_value(dialect: Dialect) -> Iterator[str]:
    if dialect.name in DIALECTS and dialect not in DIALECTS[dialect.name]:
        yield f"Kohort has a dialect called {dialect.name}: choose another name"
    if not dialect.membership:
        yield "membership names no label or annotation of pods, so a pod's gang cannot be found"
    if not dialect.remedy:
        yield "remedy is empty: say what users do where the cluster does not serve its kinds"
    if not dialect.kinds and not dialect.needs:
        yield "kinds and needs are empty, so nothing shows whether its scheduler is installed"


def list_questions() -> Iterator[Question]:
    """Sample gangs with different requirements."""
    for pack, has_parts, queue in product(_PACKS, (False, True), ("q", "")):
        yield Question(_intend(pack, has_parts, queue), TIERS)
    yield Question(_intend(None, False, "q", minimum=1), TIERS)
    yield Question(_intend(_PACKS[1], False, "q"), Tiers())
    yield Question(replace(_intend(None, False, "q"), name=_LONG), TIERS)


def _intend(pack: Pack | None, has_parts: bool, queue: str, minimum: int = 4) -> Intent:
    parts = (SubgroupKind("part", "kohort.test/part", 2, 2, {"kohort.test/name": "x"}),)
    return Intent(
        "ns",
        "x-0-abc",
        Gang(0, "u-1", "r1", 4, minimum, pack=pack),
        _OWNER,
        labels={"kohort.test/name": "x"},
        requests={"cpu": "4"},
        queue=queue,
        priorities=("",),
        schedulers=("",),
        parts=parts if has_parts else (),
    )


def find_faults(dialect: Dialect, question: Question) -> Iterator[str]:
    """The rules that a dialect breaks for one gang."""
    checks: tuple[Callable[[Dialect, Question], Iterator[str]], ...] = (
        find_impurity,
        find_foreign_objects,
        find_unmarked,
        find_dropped_clauses,
        find_poor_losses,
    )
    for check in checks:
        yield from check(dialect, question)


def find_impurity(dialect: Dialect, question: Question) -> Iterator[str]:
    """Whether a second call gives another result, or a call changes its input."""
    told, before = question.intent, copy.deepcopy(question.intent)
    first = say(dialect, told, question.tiers)
    if first != say(dialect, told, question.tiers):
        yield f"{dialect.name} renders one gang in two ways"
    if told != before:
        yield f"{dialect.name} changed the intent that it was given"
    if not is_json(first[0]) or not is_json(first[1]):
        yield f"{dialect.name} renders what is no JSON"


def find_foreign_objects(dialect: Dialect, question: Question) -> Iterator[str]:
    """Objects of kinds that are not declared, or with another name, namespace or owner."""
    told = question.intent
    declared = {(kind.api_version, kind.name) for kind in dialect.kinds}
    for obj in dialect.render(told, question.tiers):
        kind = obj.get("apiVersion"), obj.get("kind")
        if kind not in declared:
            yield f"{dialect.name} renders {kind[1]} ({kind[0]}), which its kinds do not name"
        if (namespace_of(obj), name_of(obj)) != (told.namespace, told.name):
            yield f"{dialect.name} renders {kind[1]} under another name than the gang's"
        if (obj.get("metadata") or {}).get("ownerReferences") != [told.owner]:
            yield f"{dialect.name} renders {kind[1]} without the gang's owner, so it would stay"


def find_unmarked(dialect: Dialect, question: Question) -> Iterator[str]:
    """Pods that do not name their gang although no loss says so, and pods that are spoilt."""
    told, tiers = question.intent, question.tiers
    losses = dialect.find_losses(told, tiers)
    for member in list_members(told):
        pod = make_pod()
        marked = dialect.mark(pod, member, tiers)
        if pod != make_pod():
            yield f"{dialect.name} changed the pod that it was given; return a copy"
        if dialect.mark(marked, member, tiers) != marked:
            yield f"{dialect.name} marks a marked pod once more"
        if not labels_of(marked).items() >= labels_of(pod).items():
            yield f"{dialect.name} took labels of the pod away"
        found = dialect.find_gang(labels_of(marked), annotations_of(marked))
        if found != told.name and not (marked == pod and losses):
            yield f"a pod does not name its gang in {dialect.membership}, and no loss says why"


def find_dropped_clauses(dialect: Dialect, question: Question) -> Iterator[str]:
    """Clauses whose absence would change neither objects nor pods nor losses."""
    told, tiers = question.intent, question.tiers
    if all(dialect.mark(make_pod(), each, tiers) == make_pod() for each in list_members(told)):
        return  # A loss has reported that its pods join no gang at all.
    said = say(dialect, told, tiers)
    for clause, less in _weaken(told):
        if say(dialect, less, tiers) == said:
            yield f"{dialect.name} drops {clause} silently: render it, or name it in find_losses"


def _weaken(told: Intent) -> Iterator[tuple[str, Intent]]:
    """The same gang with one clause less, or with another in its place."""
    pack = told.gang.pack
    if pack is not None:
        yield "the topology", replace(told, gang=replace(told.gang, pack=None))
        flipped = Strength.SOFT if pack.strength is Strength.HARD else Strength.HARD
        other = replace(pack, strength=flipped)
        yield "whether a topology is hard", replace(told, gang=replace(told.gang, pack=other))
    if told.parts:
        yield "subgroups", replace(told, parts=())
    if told.queue:
        yield "the queue", replace(told, queue="")
    if told.gang.minimum < told.gang.size:
        whole = replace(told.gang, minimum=told.gang.size)
        yield "the minimum", replace(told, gang=whole)


def find_poor_losses(dialect: Dialect, question: Question) -> Iterator[str]:
    """Losses that are no sentences, or are repeated."""
    losses = dialect.find_losses(question.intent, question.tiers)
    if len(set(losses)) < len(losses):
        yield f"{dialect.name} names one loss twice"
    for loss in losses:
        if len(loss.split()) < _WORDS_MIN or loss.endswith("."):
            yield f"loss {loss!r} is no sentence: say what is lost, and what users can do"


def say(dialect: Dialect, told: Intent, tiers: Tiers) -> _Said:
    """All output of a dialect for a gang: objects, pods and losses."""
    pods = [dialect.mark(make_pod(), member, tiers) for member in list_members(told)]
    return dialect.render(told, tiers), pods, dialect.find_losses(told, tiers)


def list_members(told: Intent) -> list[Membership]:
    """The memberships of a gang's pods: those of subgroups first, then the others."""
    parts = [
        name
        for part in told.parts
        for place, name in enumerate(part.names)
        for _ in range(part.size + (part.extra if place == 0 else 0))
    ]
    size, pack = told.gang.size, told.gang.pack
    return [
        Membership(told.name, size, index, told.queue, part, pack)
        for index, part in enumerate([*parts, *[""] * (size - len(parts))])
    ]


def make_pod() -> Object:
    """A pod before it is marked."""
    return {"metadata": {"name": "x", "labels": {"app": "x"}}, "spec": {"containers": []}}
