"""
What people are told of clauses that a scheduler cannot be told.

Each sentence names the clause as it was asked for, the scheduler, and what can be done.
"""

from collections.abc import Iterator

from kohort.apis.gangs.dialects.objects import LABEL_CHARACTERS_MAX, fits_label
from kohort.apis.gangs.intent import Intent, SubgroupKind, Tiers
from kohort.model.placement import Pack, Strength


def describe_pack(pack: Pack) -> str:
    """A pack, as a clause."""
    tier = pack.tier_name if pack.tier is None else str(pack.tier)
    return f"{pack.strength.value} topology" + (f" up to tier {tier}" if tier else "")


def describe_part(part: SubgroupKind) -> str:
    """Subgroups, as a clause."""
    inside = f" and {describe_pack(part.pack)}" if part.pack else ""
    return f"{part.count} subgroups of {part.size}{inside}"


def describe_tiers(tiers: Tiers) -> str:
    """The tiers that there are."""
    return ", ".join(f"{t.number} {t.name}".rstrip() for t in tiers.all) or "none"


def has_no_tier(pack: Pack) -> bool:
    """Whether a pack sets no limit: as near as there is room."""
    return pack.tier is None and not pack.tier_name


def lose_limit(pack: Pack, scheduler: str) -> Iterator[str]:
    """A hard policy without a limit: no placement breaks it, so schedulers enforce nothing."""
    if has_no_tier(pack) and pack.strength is Strength.HARD:
        yield f"hard topology without a tier is not enforced by {scheduler}: say which tier"


def lose_label(pack: Pack, scheduler: str) -> str:
    """A tier of which the operator knows no node label."""
    tier = f"N={pack.tier_name}" if pack.tier is None else f"{pack.tier}=NAME"
    return (
        f"{describe_pack(pack)} cannot be told to {scheduler} without the node label of that "
        f"tier: run the operator with --tier {tier}=LABEL"
    )


def lose_nearest(pack: Pack, scheduler: str) -> str:
    """As near as there is room, where no tier is known."""
    return (
        f"{describe_pack(pack)} cannot be told to {scheduler} without the node label of a "
        f"tier: run the operator with --tier N=NAME=LABEL"
    )


def lose_parts(intent: Intent, scheduler: str) -> Iterator[str]:
    """Subgroups, where there is only the group."""
    for part in intent.parts:
        if (part.count, part.size, part.pack) == (1, intent.gang.size, None):
            # The only subgroup is the whole group, which is what the scheduler places.
            continue
        yield (
            f"{describe_part(part)} cannot be told to {scheduler}, which places the group as a "
            f"whole: use a scheduler that knows subgroups, such as volcano or kai"
        )


def lose_queue(intent: Intent, scheduler: str) -> Iterator[str]:
    """A queue, where there are none."""
    if intent.queue:
        yield (
            f"queue {intent.queue} cannot be told to {scheduler}, which has no queues: take it "
            f"away, or use a scheduler that has them"
        )


def lose_long_name(intent: Intent, scheduler: str) -> Iterator[str]:
    """A gang that pods cannot name."""
    if not fits_label(intent.name):
        yield (
            f"the gang cannot be told to {scheduler}: no label holds its name {intent.name}, which "
            f"is longer than {LABEL_CHARACTERS_MAX} characters: give the workload a shorter one"
        )


def name_priorities(intent: Intent) -> str:
    """The priority classes of members."""
    return ", ".join(name or "none" for name in intent.priorities)
