"""
The catalogue of faults: every kind of fault that a simulation can have.

The numbers F1 to F20 are those of ``docs/simulation.md``. A new entry needs a function in
``fault_actions``, or code in the faulty cluster if the fault happens to a request. A fault that
takes no pod and no object of a workload is named in ``HARMLESS`` as well.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kohort.simulation.choices import Choices
from kohort.simulation.faults import gang_faults, hand_edits
from kohort.simulation.faults.draws import Draw, of_kind, of_part, request, timed, valued
from kohort.simulation.scenario import Fault

OWNED_KINDS = ("Pod", "StatefulSet", "LeaderWorkerSet", "ControllerRevision", "Service")
PARTS = ("statefulsets", "garbage", "kubelet", "scheduler")
# The kinds whose late watches make a difference to those components.
PART_KINDS = ("Pod", "StatefulSet", "ControllerRevision", "Node")


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault: its number, its description, and how one is drawn."""

    numbers: tuple[str, ...]
    about: str
    draw: Draw
    is_edit: bool = False  # a user's doing, not a failure
    is_of_gangs: bool = False  # makes sense only where there are gangs
    is_drawn: bool = True  # by seeds; others stand in scenarios only


CATALOGUE: dict[str, FaultKind] = {
    "lag": FaultKind(("F1", "F8"), "one cache falls behind", of_kind("lag", OWNED_KINDS, 8.0)),
    "part-lag": FaultKind(
        ("F1", "F8", "F13"),
        "a built-in controller falls behind",
        of_part("part-lag", PART_KINDS, PARTS, 6.0),
    ),
    "relist": FaultKind(("F2", "F6"), "a watch is 410 Gone", of_kind("relist", OWNED_KINDS, 8.0)),
    "break": FaultKind(("F6",), "a watch breaks", of_kind("break", OWNED_KINDS, 2.0)),
    "deaf": FaultKind(
        ("F2", "F19"),
        "a watch tells nothing, then breaks",
        of_kind("deaf", OWNED_KINDS, 90.0, 30.0),
    ),
    "repeat": FaultKind(
        ("F8",), "events come again and again", of_kind("repeat", OWNED_KINDS, 8.0)
    ),
    "crash-before": FaultKind(
        ("F3",), "killed before a request is sent", request("crash-before", 1, 6.0)
    ),
    "crash-after": FaultKind(
        ("F3",), "killed after a write took effect", request("crash-after", 1, 6.0)
    ),
    "lost-answer": FaultKind(
        ("F4",), "a write took effect, its answer is lost", request("lost-answer")
    ),
    "slow-request": FaultKind(("F7",), "a request arrives late", request("slow-request", 3, 5.0)),
    "slow-answer": FaultKind(("F4",), "an answer arrives late", request("slow-answer", 3, 5.0)),
    "conflict": FaultKind(("F5",), "another client wrote in between", request("conflict", 5)),
    "throttle": FaultKind(("F7",), "429 with Retry-After", request("throttle", 5)),
    "error": FaultKind(("F7",), "500 before the write", request("error", 6)),
    "clock-jump": FaultKind(
        ("F9",),
        "the operator's wall clock jumps",
        valued("clock-jump", ("-3600", "-30", "30", "3600")),
    ),
    "partitioned": FaultKind(
        ("F10",), "the leader cannot renew its lease", timed("partitioned", 5.0, 30.0)
    ),
    "delete-child": FaultKind(
        ("F11",),
        "another client deletes a child",
        valued("delete-child", ("Pod", "StatefulSet", "Service", "ControllerRevision")),
    ),
    "strip-label": FaultKind(
        ("F11",), "another client strips a leader's revision label", timed("strip-label")
    ),
    "scale-child": FaultKind(
        ("F11",), "another client scales the leader set", timed("scale-child")
    ),
    "namesake": FaultKind(
        ("F11",),
        "another client has an object with a name that we would use",
        valued("namesake", ("Pod", "Pod", "StatefulSet", "Service"), 4.0, 20.0),
    ),
    "webhook-down": FaultKind(
        ("F12",), "our admission does not answer", timed("webhook-down", 1.0, 20.0)
    ),
    "slow-stop": FaultKind(("F13",), "pods take long to end", timed("slow-stop", 2.0, 20.0)),
    "node-loss": FaultKind(("F14",), "a node falls silent", timed("node-loss", 5.0, 90.0)),
    "cordon": FaultKind(("F14", "F15"), "no node takes pods", timed("cordon", 2.0, 30.0)),
    "evict": FaultKind(("F14",), "a pod is evicted", timed("evict")),
    "vanish": FaultKind(("F14",), "a pod is gone at once", timed("vanish")),
    "slow-pull": FaultKind(("F13",), "images take long", timed("slow-pull", 2.0, 15.0)),
    "crash-loop": FaultKind(("F16",), "a container crashes", timed("crash-loop")),
    "unready": FaultKind(("F16",), "a pod stops being ready", timed("unready", 0.5, 10.0)),
    "roll": FaultKind(
        ("F17",), "another template", valued("roll", ("1", "2", "2", "3")), is_edit=True
    ),
    "bad-roll": FaultKind(
        ("F17",), "a template that never serves", timed("bad-roll", 5.0, 25.0), is_edit=True
    ),
    "fleeting-roll": FaultKind(
        ("F16", "F17"),
        "a template that serves for a second or a little longer and crashes",
        valued("fleeting-roll", ("1", "3"), 8.0, 60.0),
        is_edit=True,
    ),
    "scale": FaultKind(("F17",), "other replicas", valued("scale", ("1", "2", "3")), is_edit=True),
    "resize": FaultKind(("F17",), "another size", valued("resize", ("1", "2")), is_edit=True),
    "hold": FaultKind(("F17",), "a partition, for a while", timed("hold", 2.0, 20.0), is_edit=True),
    "recreate": FaultKind(("F11", "F17"), "deleted and made anew", timed("recreate"), is_edit=True),
    "restart": FaultKind(
        ("F3",), "the operator is told to stop, and started again", timed("restart", 0.1, 6.0)
    ),
    "upgrade": FaultKind(
        ("F20",), "another version takes over, with other defaults", timed("upgrade", 0.1, 4.0)
    ),
    "quota": FaultKind(("F18",), "a quota has no room for pods", timed("quota", 2.0, 15.0)),
}
EDITS = tuple(name for name, entry in CATALOGUE.items() if entry.is_edit)
FAILURES = tuple(name for name, entry in CATALOGUE.items() if not entry.is_edit)
CATALOGUE |= {
    name: FaultKind(("F15",), about, draw, is_edit, is_of_gangs=True)
    for name, (about, draw, is_edit) in gang_faults.DRAWN.items()
}
CATALOGUE |= {
    name: FaultKind(numbers, about, draw, is_edit)
    for name, (numbers, about, draw, is_edit) in hand_edits.DRAWN.items()
}
CATALOGUE[hand_edits.SWAP] = FaultKind(
    ("F11",),
    "another client changes the template of the leader set, and changes it back",
    valued(hand_edits.SWAP, ("restart", "image"), 0.1, 6.0),
)
CATALOGUE["scale-role"] = FaultKind(
    ("F17",),
    "other instances of a role",
    valued("scale-role", ("1", "2", "3")),
    is_edit=True,
    is_drawn=False,
)
CATALOGUE["pause"] = FaultKind(
    ("F17",),
    "the rollout of a role is paused, for a while or for good",
    timed("pause", 2.0, 25.0),
    is_edit=True,
    is_drawn=False,
)
CATALOGUE["switch"] = FaultKind(
    ("F17",),
    "the user asks for the other form of a service",
    timed("switch"),
    is_edit=True,
    is_drawn=False,
)
CATALOGUE["reshape"] = FaultKind(
    ("F17",),
    "a component of a service more, or less",
    valued("reshape", ("router", "router", "decoder")),
    is_edit=True,
    is_drawn=False,
)
CATALOGUE["edit-shared"] = FaultKind(
    ("F17",),
    "another client edits what services refer to",
    valued("edit-shared", ("runtime", "runtime", "model")),
    is_edit=True,
    is_drawn=False,
)
CATALOGUE["cost"] = FaultKind(
    ("F17",),
    "another client says what the deletion of a pod costs",
    valued("cost", ("-5", "5", "100")),
    is_edit=True,
    is_drawn=False,
)
CATALOGUE["metric"] = FaultKind(
    ("F17",),
    "an autoscaler of the workload sees another load",
    valued("metric", ("5", "15", "25", "35")),
    is_edit=True,
    is_drawn=False,
)


def list_failures(never: Collection[str]) -> tuple[str, ...]:
    """The faults that can befall workloads of any API, in their order, but for some."""
    return tuple(
        name
        for name, entry in CATALOGUE.items()
        if not entry.is_edit and not entry.is_of_gangs and name not in never
    )


# What happens to requests, watches and processes: it takes no pod down.
HARMLESS = {
    "lag",
    "relist",
    "break",
    "deaf",
    "repeat",
    "part-lag",
    "crash-before",
    "crash-after",
    "restart",
    "lost-answer",
    "slow-request",
    "slow-answer",
    "conflict",
    "throttle",
    "error",
    "clock-jump",
    "partitioned",
    "between",
}


def draw_swarm(
    choices: Choices, failures: Sequence[str], edits: Sequence[str], own: Mapping[str, Draw]
) -> tuple[Fault, ...]:
    """
    A rollout, up to two edits of users, and up to six faults of a few kinds.

    ``own`` draws those faults that differ for the API.
    """
    swarm = [choices.pick(failures) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    picked = [choices.pick(edits) for _ in range(choices.below(3))]
    drawn = [own.get(n, CATALOGUE[n].draw)(choices) for n in ["roll", *picked, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))
