"""
Goals: what was promised, row by row.

Seconds are promised as multiples of the floor of the same pass, unless a row says
otherwise; requests are promised as they are. Beside them stands what was recorded of
the controllers that Kohort stands in for, on such a control plane and by the same measure: that of
LeaderWorkerSets, kthena at 500 requests a second for ModelServings, and that of RoleBasedGroups.
Goals hold for the sizes that acts have unless told otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.workloads import SIZE

Line = dict[str, Any]
Measure = Callable[[Line, float], float]  # from a figure and its floor


@dataclass(frozen=True, slots=True)
class Goal:
    """One row: which act, what is taken of it, and the limits of the workloads that have one."""

    what: str
    action: str
    readiness: str
    measure: Measure
    unit: str
    limits: dict[str, float]
    upstream: str  # LeaderWorkerSet's controller
    kthena: str = ""
    is_least: bool = False
    rbg: str = ""


def _limits(statefulsets: float, pods: float, modelservings: float) -> dict[str, float]:
    return {"statefulsets": statefulsets, "pods": pods, "modelservings": modelservings}


def _role_groups(limit: float) -> dict[str, float]:
    return {"rolebasedgroups": limit}


def _serving(limit: float) -> dict[str, float]:
    return {"modelservings": limit}


def _times(line: Line, floor: float) -> float:
    return float(line["ready_s"]) / floor


def _status_times(line: Line, floor: float) -> float:
    return float(line["status_s"]) / floor


def _of(name: str) -> Measure:
    return lambda line, floor: float(line[name])


def _per_group(line: Line, floor: float) -> float:
    return float(line["writes"]) / float(line["objects"] * line["groups"])


def _per_pod(line: Line, floor: float) -> float:
    return _per_group(line, floor) / SIZE


def _pod_rate(line: Line, floor: float) -> float:
    return float(line["objects"] * line["groups"] * SIZE) / float(line["status_s"])


def _refused(line: Line, floor: float) -> float:
    return float(sum(line["refused"].values()))


def _pod_calls(line: Line, floor: float) -> float:
    return float(line["webhook_calls_by_name"].get("mpod.kb.io", 0))


# Of what LeaderWorkerSets on pods take, in multiples of the floor: each group has a Service more.
FACTOR_MAX = 1.3
_INSTANT, _SLOW = "instant", "slow"
_FLOOR = "x floor"
# kthena's seconds, for pods and for the status, are divided by the floor that was recorded with
# them: 5.0 s (the longest of three), 8.8 s and 14.0 s.
GOALS = (
    Goal(
        "a: one object, 100 x 4, ready",
        *("a", _INSTANT, _times, _FLOOR),
        *(_limits(2.0, 1.3, 1.56), "2.3-3.3", "1.56-1.86"),
    ),
    Goal(
        "a: its status says so",
        *("a", _INSTANT, _status_times, _FLOOR, _serving(1.76), "", "1.76-2.1"),
    ),
    Goal(
        "b: 100 objects x 2 x 4, ready",
        *("b", _INSTANT, _times, _FLOOR, _limits(2.8, 1.4, 2.16), "4.0", "2.16"),
    ),
    Goal(
        "b: their statuses say so",
        *("b", _INSTANT, _status_times, _FLOOR, _serving(2.28), "", "2.28"),
    ),
    Goal(
        "c: one object, 250 x 4, ready",
        *("c", _INSTANT, _times, _FLOOR, _limits(1.7, 1.2, 1.11), "2.0-2.4", "1.11"),
    ),
    Goal(
        "c: its status says so",
        *("c", _INSTANT, _status_times, _FLOOR, _serving(1.24), "", "1.24"),
    ),
    Goal(
        "d: rollout of a, ready at once",
        *("d", _INSTANT, _times, "x floor of a", _limits(5.0, 3.3, 4.5), "10", "4.5-5.4"),
    ),
    Goal(
        "d: rollout of a, ready after 2 s",
        *("d", _SLOW, _of("ready_s"), "s", _limits(45.0, 36.0, 39.4)),
        *("over 300; 63 with a gate", "39.4"),
    ),
    Goal(
        "e: recovery of 10 groups, at once",
        *("e", _INSTANT, _of("ready_s"), "s", _limits(5.0, 1.5, 2.1), "never", "2.1"),
    ),
    Goal(
        "e: recovery of 10 groups, after 2 s",
        *("e", _SLOW, _of("ready_s"), "s", _limits(5.0, 4.5, 5.8), "5.8", "5.8"),
    ),
    Goal(
        "a: controller CPU",
        *("a", _INSTANT, _of("cpu_s"), "s", _limits(3.0, 1.5, 1.9), "3.0-3.7", "1.9"),
    ),
    Goal(
        "b: controller CPU",
        *("b", _INSTANT, _of("cpu_s"), "s", _serving(4.2), "9.3-9.6", "4.2"),
    ),
    Goal(
        "c: controller CPU",
        *("c", _INSTANT, _of("cpu_s"), "s", _serving(3.7), "8.3-9.5", "3.7"),
    ),
    Goal(
        "a: writes, events apart",
        *("a", _INSTANT, _of("writes"), "", _limits(130, 410, 520), "210-266", "607"),
    ),
    # Four pods and a Service for each group; a revision and statuses are those of the whole.
    Goal(
        "a: writes for each group",
        *("a", _INSTANT, _per_group, "", _serving(5.2), "2.1-2.7", "6.1"),
    ),
    Goal(
        "b: writes for each group",
        *("b", _INSTANT, _per_group, "", _serving(7), "4.8", "9.3"),
    ),
    Goal(
        "c: writes for each group",
        *("c", _INSTANT, _per_group, "", _serving(5.2), "2.0", "6.0"),
    ),
    Goal(
        "a: webhook calls for 400 pods",
        *("a", _INSTANT, _pod_calls, "", _limits(405, 1, 1), "802", "1"),
    ),
    Goal(
        "d: writes",
        *("d", _INSTANT, _of("writes"), "", _limits(500, 820, 1839), "1,010-1,034", "1,839"),
    ),
    Goal(
        "d: writes refused",
        *("d", _INSTANT, _refused, "", _limits(0, 0, 0), "91-100", "1,125"),
    ),
    Goal(
        "d: fewest groups ready, at once",
        *("d", _INSTANT, _of("fewest_ready"), "", _limits(90, 90, 90)),
        *("96; 8 of 9 when small", "90", True),
    ),
    Goal(
        "d: fewest groups ready, 2 s",
        *("d", _SLOW, _of("fewest_ready"), "", _limits(90, 90, 90), "97", "90", True),
    ),
    Goal(
        "f: writes at rest, the lease apart",
        *("f", _INSTANT, _of("writes"), "", _limits(0, 0, 0), "0", "0"),
    ),
    Goal(
        "f: events at rest",
        *("f", _INSTANT, _of("events"), "", _limits(0, 0, 0), "0", "0"),
    ),
    # RoleBasedGroup's controller: its seconds are divided by the floor of its day, 4.6 s for a and
    # 8.8 s for b.
    Goal(
        "a: 100 instances x 4, status says so",
        *("a", _INSTANT, _status_times, _FLOOR, _role_groups(1.5), ""),
        rbg="5.7",
    ),
    Goal(
        "a: pods ready in a second",
        *("a", _INSTANT, _pod_rate, "", _role_groups(50), ""),
        is_least=True,
        rbg="18",
    ),
    Goal(
        "a: writes for each pod",
        *("a", _INSTANT, _per_pod, "", _role_groups(5), ""),
        rbg="3.1, and 1.1 events",
    ),
    Goal(
        "a: controller CPU, RoleBasedGroup",
        *("a", _INSTANT, _of("cpu_s"), "s", _role_groups(7.9), ""),
        rbg="7.9",
    ),
    Goal(
        "b: 100 groups x 2 instances x 4, status says so",
        *("b", _INSTANT, _status_times, _FLOOR, _role_groups(5.3), ""),
        rbg="5.3",
    ),
    Goal(
        "d: recreated, ready at once",
        *("d", _INSTANT, _of("ready_s"), "s", _role_groups(42), ""),
        rbg="42",
    ),
    Goal(
        "d: fewest instances ready",
        *("d", _INSTANT, _of("fewest_ready"), "", _role_groups(90), ""),
        is_least=True,
        rbg="86",
    ),
    Goal(
        "d: recreated, ready after 2 s",
        *("d", _SLOW, _of("ready_s"), "s", _role_groups(63), ""),
        rbg="63",
    ),
    Goal(
        "e: recovery of 10 instances, at once",
        *("e", _INSTANT, _of("ready_s"), "s", _role_groups(5), ""),
        rbg="never",
    ),
    Goal(
        "f: writes at rest of RoleBasedGroups",
        *("f", _INSTANT, _of("writes"), "", _role_groups(0), ""),
        rbg="14 patches of events in half a minute",
    ),
)
