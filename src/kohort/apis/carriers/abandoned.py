"""
Which groups have a template that was given up, by what each of them was made from.

A carrier makes groups from two templates: the target, and below its boundary the base, which is the
one before the rollout. A group of any other has a template that a newer one replaced before its
rollout was over. While another group of that template serves, this one may serve in time as well.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kohort.model.observed import Group
from kohort.model.units import Phase


def mark_abandoned(
    groups: Iterable[Group], templates: Mapping[str, str], in_use: Collection[str]
) -> tuple[Group, ...]:
    """The groups, marked where nothing has their template; ``templates`` is by incarnation."""
    groups = tuple(groups)
    found = [group for group in groups if group.phase in (Phase.STARTING, Phase.BROKEN)]
    if not found:
        return groups
    serving = {templates.get(g.incarnation) for g in groups if g.phase is Phase.READY}
    alive = {"", *in_use, *serving}
    given_up = {g.ordinal for g in found if templates.get(g.incarnation, "") not in alive}
    return tuple(replace(g, is_abandoned=True) if g.ordinal in given_up else g for g in groups)
