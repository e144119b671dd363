"""
Which hand edits of our children there are, and which scenarios have some.

They are drawn from a stream of their own, so that a seed without them means what it
always meant.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.draws import Draw, of_kind, timed, valued
from kohort.simulation.scenario import STATEFULSETS, Fault, Scenario

HANDS_PERCENT = 50
SWAPS_PERCENT = 12
SWAP_SECONDS_MAX, LATE_SECONDS_MAX = 6.0, 8.0
# Claims twice: few scenarios have them.
KINDS = (
    "Pod",
    "StatefulSet",
    "ControllerRevision",
    "LeaderWorkerSet",
    "PersistentVolumeClaim",
    "PersistentVolumeClaim",
)

# name: (its numbers, description, how it is drawn, whether it is an edit by a user)
DRAWN: dict[str, tuple[tuple[str, ...], str, Draw, bool]] = {
    "between": (
        ("F5", "F11"),
        "another client writes to the same object just before we do",
        of_kind("between", KINDS, 40.0, 5.0),
        False,
    ),
    "restart-set": (
        ("F11",),
        "kubectl rollout restart of a set of ours",
        valued("restart-set", ("leaders", "leaders", "workers")),
        False,
    ),
    "set-image": (
        ("F11",),
        "kubectl set image of a set of ours",
        valued("set-image", ("leaders", "leaders", "workers")),
        False,
    ),
    "edit-service": (("F11",), "another client edits a Service", timed("edit-service"), False),
    "edit-pod": (("F11",), "kubectl set image of a pod of ours", timed("edit-pod"), False),
    "relabel": (
        ("F11",),
        "another client edits labels of a child",
        valued("relabel", ("Service", "StatefulSet", "Pod", "place")),
        False,
    ),
    "orphan": (
        ("F11", "F17"),
        "deleted without its children, and applied again",
        timed("orphan"),
        True,
    ),
}


# Drawn by ``add_swaps``, from a stream of its own.
SWAP = "swap-set"


def add_swaps(scenario: Scenario) -> Scenario:
    """
    The same scenario, with a template of the leader set that comes and goes if the seed says so.

    The watch of sets falls behind while the other template is in force, in half of them that of
    revisions, too: else the operator sees each of the templates in time.
    """
    choices = Choices(scenario.seed).fork("swaps")
    if scenario.carrier != STATEFULSETS or not choices.happens(SWAPS_PERCENT):
        return scenario
    swap = valued(SWAP, ("restart", "restart", "image"), 0.1, SWAP_SECONDS_MAX)(choices)
    at = round(swap.at + choices.between(0.0, swap.seconds), 2)
    seconds = choices.between(0.5, LATE_SECONDS_MAX)
    late = ("StatefulSet", "ControllerRevision")[: 1 + choices.below(2)]
    lags = [Fault("lag", at=at, seconds=seconds, kind=kind) for kind in late]
    faults = sorted((*scenario.faults, swap, *lags), key=lambda fault: (fault.at, fault.n))
    return replace(scenario, faults=tuple(faults))


def add_hands(scenario: Scenario) -> Scenario:
    """The same scenario, with hand edits if the seed says so."""
    choices = Choices(scenario.seed).fork("hands")
    if not choices.happens(HANDS_PERCENT):
        return scenario
    # Writes of others in between twice: most guards are against those.
    names = sorted([*DRAWN, "between"])
    drawn = [DRAWN[choices.pick(names)][2](choices) for _ in range(1 + choices.below(2))]
    faults = sorted((*scenario.faults, *drawn), key=lambda fault: (fault.at, fault.n))
    return replace(scenario, faults=tuple(faults))
