"""
Goals: what was promised, row by row.

Seconds are promised as multiples of the floor of the same pass, unless a row says
otherwise; requests are promised as they are. Beside them stands what was recorded of
upstream's own controller, on such a control plane and by the same measure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Line = dict[str, Any]
Measure = Callable[[Line, float], float]  # from a figure and its floor


@dataclass(frozen=True, slots=True)
class Goal:
    """One row: which act, what is taken of it, and the limits for both carriers."""

    what: str
    action: str
    readiness: str
    measure: Measure
    unit: str
    statefulsets: float
    pods: float
    upstream: str
    is_least: bool = False

    def limit(self, carrier: str) -> float:
        """What was promised for a carrier."""
        return self.statefulsets if carrier == "statefulsets" else self.pods


def _times(line: Line, floor: float) -> float:
    return float(line["ready_s"]) / floor


def _of(name: str) -> Measure:
    return lambda line, floor: float(line[name])


def _refused(line: Line, floor: float) -> float:
    return float(sum(line["refused"].values()))


def _pod_calls(line: Line, floor: float) -> float:
    return float(line["webhook_calls_by_name"].get("mpod.kb.io", 0))


_INSTANT, _SLOW = "instant", "slow"
GOALS = (
    Goal("a: one object, 100 x 4, ready", "a", _INSTANT, _times, "x floor", 2.0, 1.3, "2.3-3.3"),
    Goal("b: 100 objects x 2 x 4, ready", "b", _INSTANT, _times, "x floor", 2.8, 1.4, "4.0"),
    Goal("c: one object, 250 x 4, ready", "c", _INSTANT, _times, "x floor", 1.7, 1.2, "2.0-2.4"),
    Goal("d: rollout of a, ready at once", "d", _INSTANT, _times, "x floor of a", 5.0, 3.3, "10"),
    Goal(
        "d: rollout of a, ready after 2 s",
        "d",
        _SLOW,
        _of("ready_s"),
        "s",
        45.0,
        36.0,
        "over 300; 63 with a gate",
    ),
    Goal(
        "e: recovery of 10 groups, at once", "e", _INSTANT, _of("ready_s"), "s", 5.0, 1.5, "never"
    ),
    Goal("e: recovery of 10 groups, after 2 s", "e", _SLOW, _of("ready_s"), "s", 5.0, 4.5, "5.8"),
    Goal("a: controller CPU", "a", _INSTANT, _of("cpu_s"), "s", 3.0, 1.5, "3.0-3.7"),
    Goal("a: writes, events apart", "a", _INSTANT, _of("writes"), "", 130, 410, "210-266"),
    Goal("a: webhook calls for 400 pods", "a", _INSTANT, _pod_calls, "", 405, 1, "802"),
    Goal("d: writes", "d", _INSTANT, _of("writes"), "", 500, 820, "1,010-1,034"),
    Goal("d: writes refused", "d", _INSTANT, _refused, "", 0, 0, "91-100"),
    Goal(
        "d: fewest groups ready, at once",
        "d",
        _INSTANT,
        _of("fewest_ready"),
        "",
        90,
        90,
        "96; 8 of 9 when small",
        True,
    ),
    Goal("d: fewest groups ready, 2 s", "d", _SLOW, _of("fewest_ready"), "", 90, 90, "97", True),
    Goal("f: writes at rest, the lease apart", "f", _INSTANT, _of("writes"), "", 0, 0, "0"),
    Goal("f: events at rest", "f", _INSTANT, _of("events"), "", 0, 0, "0"),
)
