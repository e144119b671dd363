"""Intents for tests: one by hand, any by hypothesis, and what a dialect makes of them."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Intent, SubgroupKind, Tiers
from kohort.model.placement import Gang, Pack, Strength
from kohort.testing import gangs as checks
from kohort.testing.gangs import TIERS, list_members, make_pod

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "x-0", "uid": "u-1", "controller": True}
RACK, SPINE = "topology.kubernetes.io/rack", "topology.kubernetes.io/spine"
HARD, SOFT = Strength.HARD, Strength.SOFT
a_pod, members = make_pod, list_members


def gang(size: int = 4, minimum: int | None = None, pack: Pack | None = None) -> Gang:
    return Gang(0, "u-1", "r1", size, size if minimum is None else minimum, pack=pack)


def intent(group: Gang | None = None, /, **given: Any) -> Intent:
    """A gang of four in queue ``q``; ``pack`` and ``size`` are those of the gang."""
    shape = {name: given.pop(name) for name in ("size", "minimum", "pack") if name in given}
    told: dict[str, Any] = {"queue": "q", "priorities": ("",), "schedulers": ("",), **given}
    name = told.pop("name", "x-0-abc")
    return Intent("ns", name, group or gang(**shape), OWNER, **told)


def say(dialect: Dialect, told: Intent, tiers: Tiers = TIERS) -> tuple[Any, Any, Any]:
    """All that is said of a gang: objects, pods and losses."""
    return checks.say(dialect, told, tiers)


LETTERS = st.text("abcdefghij", min_size=1, max_size=5)
PACKS = st.builds(
    lambda strength, tier: Pack(strength, **tier),
    st.sampled_from(Strength),
    st.one_of(
        st.just({}),
        st.builds(lambda n: {"tier": n}, st.integers(0, 4)),
        st.builds(lambda n: {"tier_name": n}, st.sampled_from(["host", "rack", "row"])),
    ),
)
KNOWN_TIERS = st.just(TIERS) | st.builds(
    lambda count, labelled, known, sources: Tiers(
        tuple(
            replace(t, label=t.label if labelled else "", source=source)
            for source in sources
            for t in TIERS.all[:count]
        ),
        are_known=known,
    ),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from([("net",), ("net", "other"), ("",)]),
)


@st.composite
def intents(draw: st.DrawFn) -> Intent:
    """Any gang that an API may ask for."""
    part_size, count = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    alone, extra = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    size = part_size * count + alone + extra if count else draw(st.integers(1, 5))
    minimum = size if count else draw(st.sampled_from([1, size]))
    part = SubgroupKind(
        "subgroup",
        "lab/subgroup",
        part_size,
        count,
        {"lab/name": "x"},
        draw(st.none() | PACKS),
        draw(st.integers(0, 1)),
        extra,
    )
    return intent(
        gang(size, minimum, draw(st.none() | PACKS)),
        name=draw(st.sampled_from(["x-0-abc"] * 4 + ["n" * 70])),
        labels={"lab/name": "x"},
        annotations=draw(st.sampled_from([{}, {"kai.scheduler/topology": "net"}])),
        requests=draw(st.dictionaries(st.sampled_from(["cpu", "memory"]), st.just("4"))),
        queue=draw(st.sampled_from(["q", "q", "q", ""])),
        priorities=draw(st.sampled_from([("",), ("high",), ("high", "")])),
        schedulers=draw(st.sampled_from([("",), ("volcano",), ("volcano", "")])),
        parts=(part,) if count else (),
        exclusive=draw(st.sampled_from(["", "lab/rack"])),
        shapes=draw(st.integers(1, 2)),
    )
