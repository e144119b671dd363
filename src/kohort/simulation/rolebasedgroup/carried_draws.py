"""
Which seeds have roles whose pods another controller makes, and what goes wrong with them.

They are drawn from a stream of their own, so that a seed without them means what it always meant.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.draws import Draw, of_kind, of_part, timed, valued
from kohort.simulation.scenario import Fault, Scenario

CARRIED_PERCENT = 30
KINDS = ("StatefulSet", "Deployment", "LeaderWorkerSet")
_PARTS = ("statefulsets", "deployments", "replicasets")
_PART_KINDS = ("StatefulSet", "Pod", "ControllerRevision", "Deployment", "ReplicaSet")
PAUSE = "pause"
STAYS = "stays"  # a pause that the user does not end
# What goes wrong with carriers, and what users do to their roles.
DRAWN: dict[str, Draw] = {
    "lag": of_kind("lag", KINDS, 8.0),
    "relist": of_kind("relist", KINDS, 8.0),
    "deaf": of_kind("deaf", KINDS, 90.0, 30.0),
    "between": of_kind("between", KINDS, 40.0, 5.0),
    "part-lag": of_part("part-lag", _PART_KINDS, _PARTS, 6.0),
    "delete-child": valued("delete-child", KINDS),
    "namesake": valued("namesake", KINDS[:2], 4.0, 20.0),
    "scale-child": timed("scale-child"),
    "set-image": valued("set-image", KINDS),
    PAUSE: valued(PAUSE, ("", "", "", STAYS), 2.0, 25.0),
}


def read_carried(text: str) -> dict[str, str]:
    """The carried roles of a text, and the name of the kind that carries each."""
    return dict(each.split() for each in text.split(", ") if each)


def add_carriers(scenario: Scenario) -> Scenario:
    """The same scenario with carried roles and faults of their carriers, if the seed says so."""
    choices = Choices(f"rbg/carried/{scenario.seed}")
    if not choices.happens(CARRIED_PERCENT):
        return scenario
    carried: dict[str, str] = {}
    for role in scenario.roles.split(", "):
        name, shape = role.split()
        options = list_kinds(shape)
        if options and (choices.happens(60) or not carried):
            carried[name] = choices.pick(options)
    if not carried:
        return scenario
    names = sorted([*DRAWN, PAUSE])
    drawn = [DRAWN[choices.pick(names)](choices) for _ in range(choices.below(4))]
    if "together" in scenario.rules:
        # Where the user stops one role for good, the others must not finish.
        drawn = [replace(fault, value="") if fault.name == PAUSE else fault for fault in drawn]
    stateless = [name for name in scenario.stateless.split() if name not in carried]
    return replace(
        scenario,
        carried=", ".join(f"{name} {kind}" for name, kind in carried.items()),
        stateless=" ".join(stateless),
        faults=_sort((*scenario.faults, *drawn)),
    )


def list_kinds(shape: str) -> tuple[str, ...]:
    """The kinds that can carry a role of this shape."""
    if shape.endswith("+0"):
        return KINDS
    return ("LeaderWorkerSet",) if "+" in shape else ()


def _sort(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.at, fault.n)))
