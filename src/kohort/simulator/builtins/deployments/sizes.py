"""
The next replicas of each ReplicaSet of a Deployment.

A rollout moves in steps: the new generation grows as far as the surge allows,
or else the old ones shrink as far as enough pods stay available, the broken
ones first. A change of size in the middle of a rollout is shared among all
generations in proportion, so that it does not hasten the rollout.
"""

from collections.abc import Callable

from kohort.simulator.builtins.deployments.spec import (
    DESIRED,
    MAXIMUM,
    Generation,
    Rollout,
    read_number,
)


def is_resized(rollout: Rollout, generations: list[Generation]) -> bool:
    """Whether the Deployment's replicas changed since its ReplicaSets were last scaled."""
    known = (read_number(g.annotations.get(DESIRED)) for g in generations if g.size > 0)
    return any(desired is not None and desired != rollout.replicas for desired in known)


def first_size(rollout: Rollout, old: list[Generation]) -> int:
    """The first replicas of a new ReplicaSet."""
    if not rollout.is_rolling:
        return rollout.replicas
    room = rollout.maximum - sum(g.size for g in old)
    return max(0, min(room, rollout.replicas))


def roll(rollout: Rollout, new: Generation, old: list[Generation]) -> None:
    """Take the next step of a rolling update."""
    if new.size != rollout.replicas:
        before = new.size
        room = rollout.maximum - new.size - sum(g.size for g in old)
        new.size = min(rollout.replicas, new.size + max(0, room))
        if new.size != before:
            return
    _shrink_old(rollout, new, [g for g in old if g.size > 0])


def _shrink_old(rollout: Rollout, new: Generation, old: list[Generation]) -> None:
    total = new.size + sum(g.size for g in old)
    # Unavailable new pods must not cause the removal of old ones.
    spare = total - rollout.minimum - (new.size - _sure(new))
    oldest_first = sorted(old, key=_age)
    _take(oldest_first, spare, lambda g: g.size - _sure(g))
    if spare > 0:
        available = _sure(new) + sum(_sure(g) for g in old)
        _take(oldest_first, available - rollout.minimum, lambda g: g.size)


def _sure(generation: Generation) -> int:
    # An outdated availableReplicas may count pods that are about to be deleted.
    return min(generation.size, generation.available)


def _take(generations: list[Generation], count: int, most: Callable[[Generation], int]) -> None:
    for generation in generations:
        taken = max(0, min(count, most(generation)))
        generation.size -= taken
        count -= taken


def recreate(old: list[Generation]) -> bool:
    """Scale all old ReplicaSets to zero; returns whether one had replicas."""
    running = [g for g in old if g.size > 0]
    for generation in running:
        generation.size = 0
    return bool(running)


def resize(rollout: Rollout, new: Generation | None, old: list[Generation]) -> None:
    """Distribute a change of the Deployment's replicas over its ReplicaSets."""
    everyone = [*old, *([new] if new else [])]
    active = [g for g in everyone if g.size > 0]
    if len(active) <= 1:
        single = active[0] if active else new or max(old, key=_age, default=None)
        if single is not None:
            single.size = rollout.replicas
    elif new is not None and _is_saturated(rollout, new):
        recreate(old)
    elif rollout.is_rolling:
        _share(rollout, active)


def _is_saturated(rollout: Rollout, new: Generation) -> bool:
    believes = read_number(new.annotations.get(DESIRED)) == rollout.replicas
    return believes and new.size == new.available == rollout.replicas


def _share(rollout: Rollout, active: list[Generation]) -> None:
    allowed = rollout.maximum if rollout.replicas > 0 else 0
    to_add = allowed - sum(g.size for g in active)
    if to_add == 0:
        return
    # The largest comes first; of equal ones the newest grows first and the oldest shrinks first.
    active = sorted(active, key=_age, reverse=to_add > 0)
    active.sort(key=lambda g: -g.size)
    added = 0
    for generation in active:
        part = _fraction(rollout, generation)
        room = to_add - added
        part = min(part, room) if to_add > 0 else max(part, room)
        generation.size += part
        added += part
    active[0].size = max(0, active[0].size + to_add - added)


def _fraction(rollout: Rollout, generation: Generation) -> int:
    if rollout.replicas == 0:
        return -generation.size
    before = read_number(generation.annotations.get(MAXIMUM))
    before = before or int(rollout.status.get("replicas", 0))
    if not before:
        return 0
    # Halves are rounded away from zero; sizes are never negative.
    return (2 * generation.size * rollout.maximum + before) // (2 * before) - generation.size


def _age(generation: Generation) -> tuple[str, str]:
    return generation.created, generation.name
