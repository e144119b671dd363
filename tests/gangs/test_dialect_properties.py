"""What holds in every dialect, for any gang."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from gang_intents import KNOWN_TIERS, PACKS, intents, say
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Intent, Tiers
from kohort.apis.gangs.known import DIALECTS
from kohort.model.placement import Strength
from kohort.testing.gangs import (
    Question,
    find_foreign_objects,
    find_impurity,
    find_poor_losses,
    find_unmarked,
)

VARIANTS = [variant for variants in DIALECTS.values() for variant in variants]
every_dialect = pytest.mark.parametrize("dialect", VARIANTS, ids=lambda d: d.name)


@every_dialect
@given(told=intents(), tiers=KNOWN_TIERS)
def test_the_same_is_said_each_time_and_nothing_is_changed(
    dialect: Dialect, told: Intent, tiers: Tiers
):
    assert list(find_impurity(dialect, Question(told, tiers))) == []


@every_dialect
@given(told=intents(), tiers=KNOWN_TIERS)
def test_objects_are_the_gangs_own_and_of_kinds_that_are_declared(
    dialect: Dialect, told: Intent, tiers: Tiers
):
    assert list(find_foreign_objects(dialect, Question(told, tiers))) == []


@every_dialect
@given(told=intents(), tiers=KNOWN_TIERS)
def test_a_pod_names_its_gang_or_the_loss_says_why_not(
    dialect: Dialect, told: Intent, tiers: Tiers
):
    assert list(find_unmarked(dialect, Question(told, tiers))) == []


PACK_CLAUSES = ("pack", "strength", "pack of a part")


def weaken(told: Intent, tiers: Tiers) -> Iterator[tuple[str, Intent]]:
    """The same gang with one clause less, or with another in its place."""
    pack = told.gang.pack
    if pack is not None:
        yield "pack", replace(told, gang=replace(told.gang, pack=None))
        flipped = Strength.SOFT if pack.strength is Strength.HARD else Strength.HARD
        other = replace(pack, strength=flipped)
        yield "strength", replace(told, gang=replace(told.gang, pack=other))
    if told.parts and not is_whole_group(told):
        yield "parts", replace(told, parts=())
    for part in told.parts:
        if part.pack is not None:
            yield "pack of a part", replace(told, parts=(replace(part, pack=None),))
    if told.queue:
        yield "queue", replace(told, queue="")
    if told.gang.minimum < told.gang.size:
        yield "minimum", replace(told, gang=replace(told.gang, minimum=told.gang.size))


def is_whole_group(told: Intent) -> bool:
    """Whether the only subgroup is the group: it asks for nothing that the group does not."""
    parts = [(part.count, part.size, part.pack) for part in told.parts]
    return parts == [(1, told.gang.size, None)]


@every_dialect
@given(told=intents(), tiers=KNOWN_TIERS)
def test_no_clause_is_dropped_silently(dialect: Dialect, told: Intent, tiers: Tiers):
    """Without any one clause, the scheduler's object or the losses that users see are others."""
    said = say(dialect, told, tiers)
    if is_lost_whole(dialect, told, tiers):
        return
    for clause, less in weaken(told, tiers):
        # What a part asks for within a group that asks for the same is one sentence.
        if clause in PACK_CLAUSES and (is_said_twice(told) or is_said_twice(less)):
            continue
        assert say(dialect, less, tiers) != said, clause


def is_lost_whole(dialect: Dialect, told: Intent, tiers: Tiers) -> bool:
    return any("the gang cannot be given" in loss for loss in dialect.find_losses(told, tiers))


def is_said_twice(told: Intent) -> bool:
    return any(part.pack == told.gang.pack for part in told.parts)


@every_dialect
@given(told=intents(), tiers=KNOWN_TIERS, other=PACKS)
def test_another_tier_is_another_rendering_or_another_loss(
    dialect: Dialect, told: Intent, tiers: Tiers, other
):
    pack = told.gang.pack
    if pack is None or is_said_twice(told) or names_one_tier(pack, other, tiers):
        return
    if is_lost_whole(dialect, told, tiers):
        return
    changed = replace(told, gang=replace(told.gang, pack=other))
    assert is_said_twice(changed) or say(dialect, changed, tiers) != say(dialect, told, tiers)


def names_one_tier(pack, other, tiers: Tiers) -> bool:
    """Whether two packs mean the same: a number and a name may stand for one tier."""
    limits = [tiers.find(each) for each in (pack, other)]
    nearest = tiers.all[0] if tiers.all else None
    meant = [
        limit or (nearest if is_open(each) else each)
        for limit, each in zip(limits, (pack, other), strict=True)
    ]
    return meant[0] == meant[1] and pack.strength == other.strength


def is_open(pack) -> bool:
    return pack.tier is None and not pack.tier_name


@every_dialect
@given(told=intents(), tiers=KNOWN_TIERS)
def test_losses_are_sentences_and_each_is_said_once(dialect: Dialect, told: Intent, tiers: Tiers):
    assert list(find_poor_losses(dialect, Question(told, tiers))) == []


@every_dialect
@given(told=intents())
def test_a_plain_gang_loses_nothing(dialect: Dialect, told: Intent):
    shared = {"priorities": ("high",), "schedulers": ("",), "parts": (), "name": "x-0-abc"}
    queue = "q" if dialect.queue else ""
    gang = replace(told.gang, pack=None, minimum=told.gang.size)
    plain = replace(told, gang=gang, queue=queue, **shared)
    assert dialect.find_losses(plain, Tiers()) == ()


@given(st.sampled_from(VARIANTS))
def test_every_dialect_says_what_to_do_where_it_is_missing(dialect: Dialect):
    assert dialect.remedy
    assert dialect.kinds or dialect.needs
