"""
The catalogue of faults, and how a seed draws some of them.

Each seed chooses which kinds of faults it has and how many (a swarm): a run with
few kinds goes deeper into each. The number is finite, and all faults end: after
them comes a quiet period, in which everything has to heal. The numbers F1 to F20
are those of the reliability specification.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kohort.rehearsal.choices import Choices
from kohort.rehearsal.play import (
    AFTER_START,
    KEEP,
    LEADER_FIRST,
    PODS,
    RECREATE,
    STATEFULSETS,
    TOGETHER,
    Fault,
    Play,
)

TIME_SECONDS_MAX = 40.0
REQUESTS_MAX = 45
OPERATOR_KINDS = ("Pod", "StatefulSet", "LeaderWorkerSet", "ControllerRevision", "Service")
PARTS = ("statefulsets", "garbage", "kubelet", "scheduler")
# Of the parts, these kinds make a difference when they lag.
PART_KINDS = ("Pod", "StatefulSet", "ControllerRevision", "Node")

Draw = Callable[[Choices], Fault]


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of fault: its number, what it is, and how one is drawn."""

    numbers: tuple[str, ...]
    about: str
    draw: Draw
    is_edit: bool = False  # a user's doing, not a failure


def _request(name: str, span: int = 3, seconds: float = 0.0) -> Draw:
    def draw(choices: Choices) -> Fault:
        n = 1 + choices.below(REQUESTS_MAX)
        length = choices.between(0.1, seconds) if seconds else 0.0
        return Fault(name, n=n, span=1 + choices.below(span), seconds=length)

    return draw


def _timed(name: str, low: float = 0.0, high: float = 0.0) -> Draw:
    def draw(choices: Choices) -> Fault:
        at = choices.between(0.0, TIME_SECONDS_MAX)
        seconds = choices.between(low, high) if high else 0.0
        return Fault(name, at=at, seconds=seconds, pick=choices.below(12))

    return draw


def _of_kind(name: str, kinds: tuple[str, ...], high: float = 0.0) -> Draw:
    timed = _timed(name, 0.1, high)

    def draw(choices: Choices) -> Fault:
        fault = timed(choices)
        return Fault(
            name, at=fault.at, seconds=fault.seconds, kind=choices.pick(kinds), pick=fault.pick
        )

    return draw


def _valued(name: str, values: tuple[str, ...]) -> Draw:
    timed = _timed(name)

    def draw(choices: Choices) -> Fault:
        fault = timed(choices)
        return Fault(name, at=fault.at, pick=fault.pick, value=choices.pick(values))

    return draw


def _part_lag(choices: Choices) -> Fault:
    fault = _of_kind("part-lag", PART_KINDS, 6.0)(choices)
    part = choices.pick(PARTS)
    return Fault("part-lag", at=fault.at, seconds=fault.seconds, kind=fault.kind, value=part)


CATALOGUE: dict[str, Entry] = {
    "lag": Entry(("F1", "F8"), "one cache falls behind", _of_kind("lag", OPERATOR_KINDS, 8.0)),
    "part-lag": Entry(("F1", "F8", "F13"), "a built-in controller falls behind", _part_lag),
    "relist": Entry(("F2", "F6"), "a watch is 410 Gone", _of_kind("relist", OPERATOR_KINDS, 8.0)),
    "break": Entry(("F6",), "a watch breaks", _of_kind("break", OPERATOR_KINDS, 2.0)),
    "crash-before": Entry(
        ("F3",), "killed before a request is sent", _request("crash-before", 1, 6.0)
    ),
    "crash-after": Entry(
        ("F3",), "killed after a write took effect", _request("crash-after", 1, 6.0)
    ),
    "lost-answer": Entry(
        ("F4",), "a write took effect, its answer is lost", _request("lost-answer")
    ),
    "slow-request": Entry(("F7",), "a request arrives late", _request("slow-request", 3, 5.0)),
    "slow-answer": Entry(("F4",), "an answer arrives late", _request("slow-answer", 3, 5.0)),
    "conflict": Entry(("F5",), "somebody wrote in between", _request("conflict", 5)),
    "throttle": Entry(("F7",), "429 with Retry-After", _request("throttle", 5)),
    "error": Entry(("F7",), "500 before the write", _request("error", 6)),
    "clock-jump": Entry(
        ("F9",),
        "the operator's wall clock jumps",
        _valued("clock-jump", ("-3600", "-30", "30", "3600")),
    ),
    "partitioned": Entry(
        ("F10",), "the leader cannot renew its lease", _timed("partitioned", 5.0, 30.0)
    ),
    "delete-child": Entry(
        ("F11",),
        "somebody deletes a child",
        _valued("delete-child", ("Pod", "StatefulSet", "Service", "ControllerRevision")),
    ),
    "strip-label": Entry(
        ("F11",), "somebody strips a leader's revision label", _timed("strip-label")
    ),
    "scale-child": Entry(("F11",), "somebody scales the leader set", _timed("scale-child")),
    "webhook-down": Entry(
        ("F12",), "our admission does not answer", _timed("webhook-down", 1.0, 20.0)
    ),
    "slow-stop": Entry(("F13",), "pods take long to end", _timed("slow-stop", 2.0, 20.0)),
    "node-loss": Entry(("F14",), "a node falls silent", _timed("node-loss", 5.0, 90.0)),
    "cordon": Entry(("F14", "F15"), "no node takes pods", _timed("cordon", 2.0, 30.0)),
    "evict": Entry(("F14",), "a pod is evicted", _timed("evict")),
    "vanish": Entry(("F14",), "a pod is gone at once", _timed("vanish")),
    "slow-pull": Entry(("F13",), "images take long", _timed("slow-pull", 2.0, 15.0)),
    "crash-loop": Entry(("F16",), "a container crashes", _timed("crash-loop")),
    "unready": Entry(("F16",), "a pod stops being ready", _timed("unready", 0.5, 10.0)),
    "roll": Entry(
        ("F17",), "another template", _valued("roll", ("1", "2", "2", "3")), is_edit=True
    ),
    "bad-roll": Entry(
        ("F17",), "a template that never serves", _timed("bad-roll", 5.0, 25.0), is_edit=True
    ),
    "scale": Entry(("F17",), "other replicas", _valued("scale", ("1", "2", "3")), is_edit=True),
    "resize": Entry(("F17",), "another size", _valued("resize", ("1", "2")), is_edit=True),
    "hold": Entry(("F17",), "a partition, for a while", _timed("hold", 2.0, 20.0), is_edit=True),
    "recreate": Entry(("F11", "F17"), "deleted and made anew", _timed("recreate"), is_edit=True),
    "quota": Entry(("F18",), "a quota has no room for pods", _timed("quota", 2.0, 15.0)),
}
EDITS = tuple(name for name, entry in CATALOGUE.items() if entry.is_edit)
FAILURES = tuple(name for name, entry in CATALOGUE.items() if not entry.is_edit)


def draw_play(seed: int) -> Play:
    """What this seed means."""
    choices = Choices(seed)
    groups = 1 + choices.below(3)
    unavailable, surge = choices.pick(((1, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (1, 2)))
    return Play(
        seed=seed,
        groups=groups,
        size=1 + choices.below(2),
        unavailable=min(unavailable, groups),
        surge=surge,
        partition=choices.pick((0, 0, 0, 0, 1)),
        restart=choices.pick((RECREATE, RECREATE, AFTER_START, KEEP)),
        startup=choices.pick((TOGETHER, TOGETHER, LEADER_FIRST)),
        carrier=choices.pick((STATEFULSETS, STATEFULSETS, PODS)),
        replicas=choices.pick((1, 1, 1, 1, 2)),
        is_gated=choices.happens(50),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        faults=_draw_faults(choices),
    )


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    drawn = [CATALOGUE[name].draw(choices) for name in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))
