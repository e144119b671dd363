"""
The units that a partition or a policy keeps, and which of them can never serve.

A unit may run a template that never serves or does not last when the user raises the partition,
pauses the rollout, or sets a good template below a partition. The operator must leave it there, so
it never serves, fails again and again, and takes its share of the budget from all others. The same
happens where a policy allows nothing but changes in place: a unit that runs such a template stays
on it if the good one cannot be reached in place. No state at rest can then be asked of the workload
but that its objects belong together.
"""

from collections.abc import Iterator

from kohort.cluster.objects import Object
from kohort.simulation.checkers.truth import Group, Truth, image_of, list_kept
from kohort.simulation.scenario import BAD_IMAGE, FLEETING_IMAGE


def list_hopeless(truth: Truth) -> list[Group]:
    """The units a part of which must stay on a template that never serves or does not last."""
    kept = (unit for unit in list_kept(truth) if unit.members)
    hopeless = [u for u in kept if any(_is_hopeless(truth, part) for part in u.parts)]
    stuck = (unit for unit in _list_stuck(truth) if unit.members)
    return [*hopeless, *(u for u in stuck if {image_of(pod) for pod in u.members} <= _HOPELESS)]


def _list_stuck(truth: Truth) -> Iterator[Group]:
    """The units that cannot follow the spec in place, and whose policy forbids making them anew."""
    workload, is_kept_old = truth.workload, truth.simulated.is_kept_old
    for view in truth.lines() if workload is not None else ():
        if view.rolls and workload is not None:
            yield from (unit for unit in view.units if is_kept_old(unit, workload["spec"]))


def has_restless(truth: Truth) -> bool:
    """Whether a kept unit has a template that does not last, so that it fails again and again."""
    hopeless = list_hopeless(truth)
    return any(FLEETING_IMAGE in _images_of(truth, unit.members) for unit in hopeless)


_HOPELESS = frozenset({BAD_IMAGE, FLEETING_IMAGE})


def _is_hopeless(truth: Truth, pods: list[Object]) -> bool:
    # What ran a better template below a partition before must not have got this one.
    return bool(pods) and _images_of(truth, pods) <= _HOPELESS


def _images_of(truth: Truth, pods: list[Object]) -> set[str]:
    """What pods run, and what those of their names ran first, or when they began to be kept."""
    images = {image_of(pod) for pod in pods}
    # Pods of an earlier object, which may still be there, have no first image.
    names = {pod["metadata"]["name"] for pod in pods}
    return images | {truth.first[name] for name in names & truth.first.keys()}
