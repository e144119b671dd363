"""
Sentences for users about clauses that a scheduler has no way to express.

Each sentence names the clause as the user wrote it, the scheduler, and what the user can do.
"""

from collections.abc import Iterator

from kohort.apis.gangs.dialects.objects import LABEL_CHARACTERS_MAX, fits_label
from kohort.apis.gangs.intent import Intent, SubgroupKind, Tiers
from kohort.model.placement import Pack, Strength


def describe_pack(pack: Pack) -> str:
    """A topology limit, as a clause of a sentence."""
    tier = pack.tier_name if pack.tier is None else str(pack.tier)
    return f"{pack.strength.value} topology" + (f" up to tier {tier}" if tier else "")


def describe_part(part: SubgroupKind) -> str:
    """Subgroups, as a clause of a sentence."""
    inside = f" and {describe_pack(part.pack)}" if part.pack else ""
    return f"{part.count} subgroups of {part.size}{inside}"


def describe_tiers(tiers: Tiers) -> str:
    """The tiers of the cluster, for a sentence."""
    return ", ".join(f"{t.number} {t.name}".rstrip() for t in tiers.all) or "none"


def has_no_tier(pack: Pack) -> bool:
    """Whether a pack sets no limit: pods go as near to each other as there is room."""
    return pack.tier is None and not pack.tier_name


def lose_limit(pack: Pack, scheduler: str) -> Iterator[str]:
    """Report a hard policy without a tier: every placement fits it, so no scheduler enforces it."""
    if has_no_tier(pack) and pack.strength is Strength.HARD:
        yield f"hard topology without a tier is not enforced by {scheduler}: say which tier"


def lose_label(pack: Pack, scheduler: str) -> str:
    """Report a tier whose node label the operator does not know."""
    tier = f"N={pack.tier_name}" if pack.tier is None else f"{pack.tier}=NAME"
    return (
        f"{describe_pack(pack)} cannot be given to {scheduler} without the node label of that "
        f"tier: run the operator with --tier {tier}=LABEL"
    )


def lose_nearest(pack: Pack, scheduler: str) -> str:
    """Report a pack without a limit where the operator knows no tier."""
    return (
        f"{describe_pack(pack)} cannot be given to {scheduler} without the node label of a "
        f"tier: run the operator with --tier N=NAME=LABEL"
    )


def lose_parts(intent: Intent, scheduler: str) -> Iterator[str]:
    """Report subgroups that a scheduler without subgroups cannot place."""
    for part in intent.parts:
        if (part.count, part.size, part.pack) == (1, intent.gang.size, None):
            # The only subgroup is the whole group, which the scheduler places anyway.
            continue
        yield (
            f"{describe_part(part)} cannot be given to {scheduler}, which places the group as a "
            f"whole: use a scheduler that knows subgroups, such as volcano or kai"
        )


def lose_queue(intent: Intent, scheduler: str) -> Iterator[str]:
    """Report a queue that a scheduler without queues ignores."""
    if intent.queue:
        yield (
            f"queue {intent.queue} cannot be given to {scheduler}, which has no queues: take it "
            f"away, or use a scheduler that has them"
        )


def lose_long_name(intent: Intent, scheduler: str) -> Iterator[str]:
    """Report a gang whose name is too long for the label of its pods."""
    if not fits_label(intent.name):
        yield (
            f"the gang cannot be given to {scheduler}: no label holds its name {intent.name}, "
            f"which is longer than {LABEL_CHARACTERS_MAX} characters: give the workload a shorter "
            f"one"
        )


def name_priorities(intent: Intent) -> str:
    """The priority classes of the members, for a sentence."""
    return ", ".join(name or "none" for name in intent.priorities)
