"""
Which hand edits of our children there are, and which scenarios have some.

They are drawn from a stream of their own, so that a seed without them means what it
always meant.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.draws import Draw, of_kind, timed, valued
from kohort.simulation.scenario import Scenario

HANDS_PERCENT = 50
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
