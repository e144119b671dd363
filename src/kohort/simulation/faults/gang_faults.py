"""
F15 and the other faults of gangs, and which scenarios have gangs at all.

Gangs are drawn from a stream of their own, so a seed without them means what it
always meant. A pod asks for so much that a whole group fits on one node: otherwise a
limit that comes later could ask for room that is there only in pieces.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.draws import Draw, of_kind, timed, valued
from kohort.simulation.gang_clusters import NODE_GPUS
from kohort.simulation.scenario import LEADER_FIRST, Fault, Scenario

GANGS_PERCENT = 25
RESIZED_MAX = 2  # the largest size that a fault gives to groups
KINDS = ("PodGroup", "HyperNode")
LISTS = ("volcano", "volcano", "volcano", "volcano,coscheduling", "coscheduling", "kubernetes")
TOPOLOGIES = ("", "", "hard 0", "hard 1", "hard 1", "hard 2", "soft", "soft 1")
# A restarted operator gets other dialects, but keeps those in which gangs exist already.
RETOLD = ("none,{0}", "{0},volcano", "volcano,{0}", "{0}")

# name: (description, how it is drawn, whether it is an edit by a user)
DRAWN: dict[str, tuple[str, Draw, bool]] = {
    "partial-bind": (
        "some binds of a gang are refused",
        valued("partial-bind", ("2", "2", "3"), 0.5, 12.0),
        False,
    ),
    "late-bind": (
        "a gang is deleted, and its pods are bound before the scheduler knows",
        timed("late-bind", 0.5, 5.0),
        False,
    ),
    "scheduler-away": ("the scheduler places no pods", timed("scheduler-away", 2.0, 30.0), False),
    "preempt": ("a member that has a node is preempted", timed("preempt"), False),
    "lose-gang": ("another client deletes a gang", timed("lose-gang"), False),
    "close-queue": ("the queue is closed", timed("close-queue", 2.0, 25.0), False),
    "edit-domain": ("a domain loses a member", timed("edit-domain", 2.0, 20.0), False),
    "crowd": ("others use half of every second node", timed("crowd", 5.0, 30.0), False),
    "retell": (
        "the operator is started with other dialects",
        valued("retell", RETOLD, 0.1, 4.0),
        False,
    ),
    "retopology": ("another topology", valued("retopology", TOPOLOGIES[1:]), True),
    "choose-gang": (
        "the user names another dialect, or none",
        valued("choose-gang", ("none", "volcano", "coscheduling", "")),
        True,
    ),
}
_HARD_TO_HEAR = (
    of_kind("lag", KINDS, 8.0),
    of_kind("relist", KINDS, 8.0),
    of_kind("break", KINDS, 2.0),
    of_kind("repeat", KINDS, 8.0),
)


def add_gangs(scenario: Scenario) -> Scenario:
    """The same scenario, with gangs if the seed says so."""
    choices = Choices(scenario.seed).fork("gangs")
    if not choices.happens(GANGS_PERCENT):
        return scenario
    size = choices.pick((scenario.size, 2, 2, 4))
    topology = choices.pick(TOPOLOGIES)
    faults = _draw_faults(choices, scenario.faults)
    # A group may be made larger later.
    gpus = choices.pick((0, 1, 1)) * (NODE_GPUS // max(size, RESIZED_MAX))
    # No scheduler keeps room for workers that come after their leader: it must be everywhere.
    limits = {topology, *(fault.value for fault in faults if fault.name == "retopology")}
    if scenario.startup == LEADER_FIRST and any(limit.startswith("hard") for limit in limits):
        gpus = 0
    return replace(
        scenario,
        size=size,
        gang=choices.pick(LISTS),
        topology=topology,
        names_scheduler=not topology or choices.happens(50),
        is_exclusive=choices.happens(20),
        part=choices.pick((0, 0, 0, 1, 2)) if size > 1 else 0,
        gpus=gpus,
        faults=faults,
    )


def _draw_faults(choices: Choices, known: tuple[Fault, ...]) -> tuple[Fault, ...]:
    names = sorted(DRAWN)
    drawn = [DRAWN[choices.pick(names)][1](choices) for _ in range(choices.below(4))]
    if choices.happens(30):
        drawn.append(choices.pick(_HARD_TO_HEAR)(choices))
    return tuple(sorted((*known, *drawn), key=lambda fault: (fault.at, fault.n)))
