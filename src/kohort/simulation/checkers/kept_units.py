"""
The units that a policy keeps as they are, and which of them can never serve.

A user may create a unit from a template that never serves or does not last, and then set a good one
while a partition keeps that unit as it is, or while it may only be updated in place and cannot be.
The operator must leave it there, so it never serves, fails again and again, and takes its share of
the budget from all others. No state at rest can then be asked of the workload but that its objects
belong together.
"""

from collections.abc import Iterator

from kohort.simulation.checkers.truth import Group, Truth, image_of
from kohort.simulation.scenario import BAD_IMAGE, FLEETING_IMAGE


def list_kept(truth: Truth) -> Iterator[Group]:
    """The groups, or the instances of roles that roll by themselves, that a policy keeps."""
    if truth.workload is None:
        return
    spec, simulated = truth.workload["spec"], truth.simulated
    for view in truth.lines():
        units = list(view.units) if view.rolls else []
        if view.is_stateless:
            # Such a partition keeps so many old units, whichever they are.
            units.sort(key=lambda unit: not simulated.is_old(unit, spec))
        least = view.policy.partition
        yield from units[:least]
        yield from (unit for unit in units[least:] if simulated.is_kept_old(unit, spec))


def list_hopeless(truth: Truth) -> list[Group]:
    """The kept units that have had no template but such that never serve or do not last."""
    kept = (unit for unit in list_kept(truth) if unit.members)
    return [unit for unit in kept if _images_of(truth, unit) <= _HOPELESS]


def has_restless(truth: Truth) -> bool:
    """Whether a kept unit has a template that does not last, so that it fails again and again."""
    return any(FLEETING_IMAGE in _images_of(truth, unit) for unit in list_hopeless(truth))


_HOPELESS = frozenset({BAD_IMAGE, FLEETING_IMAGE})


def _images_of(truth: Truth, unit: Group) -> set[str]:
    """What the pods of a unit run, and what the first pods of their names ran."""
    images = {truth.first[pod["metadata"]["name"]] for pod in unit.members}
    return images | {image_of(pod) for pod in unit.members}
