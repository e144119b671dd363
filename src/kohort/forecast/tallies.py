"""
How another controller scales and rolls the units of a role that it carries, in batches.

A Deployment or a set takes down old units as far as the budget of the role allows, makes new ones
in their place, and goes on when these are ready; extra units come first. Old units that are not
ready go first, since nothing serves there. Such units have no names here: old ones have the lowest
ordinals, and the highest of them goes first.
"""

from dataclasses import dataclass, replace

from kohort.model.observed import Tally
from kohort.model.policies import RolloutPolicy

SURPLUS, OUTDATED = "there are more units than wanted", "it has an old revision"


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: the units that are deleted, each with its reason, and those that are made."""

    tally: Tally
    gone: tuple[tuple[int, str], ...] = ()
    made: tuple[int, ...] = ()
    mended: int = 0  # units that were not ready and went


def settle(tally: Tally, stuck: int) -> Tally:
    """The counts when all units are ready except the stuck ones, which are new ones first."""
    ready = max(tally.ready, tally.exist - stuck)
    updated_ready = max(tally.updated_ready, tally.updated - min(stuck, tally.updated))
    return replace(tally, ready=ready, updated_ready=updated_ready)


def roll(tally: Tally, count: int, goal: int, policy: RolloutPolicy) -> Batch:
    """The next batch on the way to so many units, of which ``goal`` are new."""
    surge = min(policy.max_surge, count)
    ready_min = max(0, count - max(policy.max_unavailable, 0 if surge else 1))
    old, fresh = max(0, tally.exist - tally.updated), max(0, goal - tally.updated)
    grown = max(0, count - tally.exist, min(fresh, count + surge - tally.exist))
    exist, updated = tally.exist + grown, tally.updated + min(fresh, grown)
    fresh -= min(fresh, grown)
    # Units that a partition protects stay.
    loose = max(0, old - max(0, count - goal))
    may_go = max(0, exist - ready_min - (updated - tally.updated_ready))
    out = min(loose, may_go, max(0, exist - count) + fresh)
    anew = max(0, min(out, fresh, count + surge - (exist - out)))
    unready = min(out, max(0, old - max(0, tally.ready - tally.updated_ready)))
    # New units are deleted only if they exceed the goal even without all old ones.
    spare = max(0, exist - out + anew - count - (loose - out))
    surplus = min(out, max(0, tally.wanted - count))
    gone = [(old - 1 - place, OUTDATED if place >= surplus else SURPLUS) for place in range(out)]
    spared = [(tally.exist - 1 - place, SURPLUS) for place in range(spare)]
    ready = max(0, tally.ready - (out - unready) - spare)
    changed = Tally(
        wanted=count,
        exist=exist - out + anew - spare,
        ready=ready,
        updated=updated + anew - spare,
        updated_ready=max(0, min(tally.updated_ready - spare, ready)),
    )
    made = [*range(tally.exist, exist), *(ordinal for ordinal, _ in gone[out - anew :])]
    return Batch(changed, (*spared, *gone), tuple(made), unready)
