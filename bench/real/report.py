"""Reporting: figures as tables: the goals, everything else, and growth."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from bench.real.goals import FACTOR_MAX, GOALS, Goal
from bench.real.growth import fit_line

Line = dict[str, Any]
Place = tuple[str, str, str]  # readiness, workload, act
WORKLOADS = ("statefulsets", "pods", "modelservings", "rolebasedgroups")
_COMPARED = ("modelservings", "pods")
_FLOOR_OF = {"d": "a", "e": "a"}
_COLUMNS = (
    *("created_s", "ready_s", "status_s", "cpu_s", "others_cpu_s", "peak_mib"),
    *("writes", "events"),
    *("leases", "webhook_calls", "simulations", "refused", "fewest_ready", "pods_made"),
)


def write_report(lines: Sequence[Line]) -> str:
    """All tables that the figures are enough for."""
    goals = (_write_goals(lines), _write_factors(lines))
    parts = (*goals, _write_floors(lines), _write_acts(lines), _write_kinds(lines))
    tables = ["\n".join(part) for part in (*parts, _write_growth(lines)) if len(part) > 2]
    return "\n\n".join(tables)


def _write_goals(lines: Sequence[Line]) -> list[str]:
    measured = [name for name in WORKLOADS if any(line["workload"] == name for line in lines)]
    columns = [cell for name in measured for cell in (name, "reached")]
    heads = ("goal", *columns, *(f"{who}, recorded" for who in ("upstream", "kthena", "RBG")))
    rows = [_row(*heads), _row(*["---"] * len(heads))]
    for goal in GOALS:
        cells = [goal.what]
        found = False
        for workload in measured:
            limit = goal.limits.get(workload)
            values = [] if limit is None else _measure(goal, lines, workload)
            found |= bool(values)
            sign = "≥" if goal.is_least else "≤"
            cells += ["" if limit is None else f"{sign} {limit:g} {goal.unit}".strip()]
            cells += [_judge(goal, workload, values) if values else ""]
        if found:
            rows.append(_row(*cells, goal.upstream, goal.kthena, goal.rbg))
    return rows


def _write_factors(lines: Sequence[Line]) -> list[str]:
    """ModelServings against LeaderWorkerSets on pods, each by the floor of its own pass."""
    rows = [_row("modelservings against pods", "goal", "times"), _row(*["---"] * 3)]
    for goal in GOALS:
        if goal.unit != "x floor" or "pods" not in goal.limits:
            continue
        own, other = (median(_measure(goal, lines, name) or [0.0]) for name in _COMPARED)
        if own and other:
            told = f"{own / other:.2f}" + (" (missed)" if own / other > FACTOR_MAX else "")
            rows.append(_row(goal.what, f"≤ {FACTOR_MAX:g}", told))
    return rows


def _measure(goal: Goal, lines: Sequence[Line], workload: str) -> list[float]:
    """What each run reached, by the floor of its own pass."""
    floors = {_key(line, line["of"]): line["ready_s"] for line in lines if line["act"] == "floor"}
    found = []
    for line in lines:
        place = (line["act"], line["readiness"], line["workload"])
        if place != (goal.action, goal.readiness, workload):
            continue
        floor = floors.get(_key(line, _FLOOR_OF.get(goal.action, goal.action)), 0.0)
        if "ready_s" in line or goal.action == "f":
            found.append(goal.measure(line, floor or 1.0))
    return found


def _key(line: Line, action: str) -> tuple[Any, ...]:
    return line["run"], line["readiness"], line["workload"], action


def _judge(goal: Goal, workload: str, values: Sequence[float]) -> str:
    middle, limit = median(values), goal.limits[workload]
    is_met = middle >= limit if goal.is_least else middle <= limit
    return show(values) + ("" if is_met else " (missed)")


def show(values: Iterable[float]) -> str:
    """The median, and the least and the most if they differ."""
    told = sorted(values)
    middle, low, high = (_number(x) for x in (median(told), told[0], told[-1]))
    return middle if low == high else f"{middle} ({low}-{high})"


def _number(value: float) -> str:
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _write_floors(lines: Sequence[Line]) -> list[str]:
    heads = ("floor", "pods", "posted_s", "ready_s", "control plane cpu_s", "runs")
    rows = [_row(*heads), _row(*["---"] * len(heads))]
    found: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in lines:
        if line["act"] in ("floor", "s"):
            what = line["readiness"] + (", with a Service" if line["act"] == "s" else "")
            found[what, line["pods"]].append(line)
    for (what, pods), some in sorted(found.items()):
        times = [show(line[name] for line in some) for name in ("posted_s", "ready_s")]
        times.append(show(_count(line["others_cpu_s"]) for line in some))
        rows.append(_row(what, f"{pods:,}", *times, str(len(some))))
    return rows


def _write_acts(lines: Sequence[Line]) -> list[str]:
    rows = [_row("act", *_COLUMNS), _row(*["---"] * (len(_COLUMNS) + 1))]
    for place, some in _by_place(lines).items():
        cells = []
        for column in _COLUMNS:
            values = [_count(line[column]) for line in some if column in line]
            cells.append(show(values) if values else "")
        missing = sum(not line.get("done", True) for line in some)
        name = " ".join((place[2], *place[:2])) + (f" ({missing} not done)" if missing else "")
        rows.append(_row(name, *cells))
    return rows


def _count(value: Any) -> float:
    return float(sum(value.values()) if isinstance(value, dict) else value)


def _by_place(lines: Sequence[Line]) -> dict[Place, list[Line]]:
    found: dict[Place, list[Line]] = defaultdict(list)
    for line in lines:
        if line["act"] not in ("floor", "g", "s"):
            found[line["readiness"], line["workload"], line["act"]].append(line)
    return dict(sorted(found.items(), key=lambda item: (item[0][2], item[0][0], item[0][1])))


def _write_kinds(lines: Sequence[Line]) -> list[str]:
    rows = [_row("act", "writes by verb and kind, first run"), _row("---", "---")]
    for place, some in _by_place(lines).items():
        kinds = {**some[0]["writes_by_kind"]}
        refused = {f"refused: {what}": n for what, n in some[0]["refused"].items()}
        told = ", ".join(f"{n} {what}" for what, n in {**kinds, **refused}.items())
        rows.append(_row(" ".join((place[2], *place[:2])), told))
    return rows


def _write_growth(lines: Sequence[Line]) -> list[str]:
    rows = [_row("growth", "groups", "ready_s", "cpu_s", "writes"), _row(*["---"] * 5)]
    for workload in WORKLOADS:
        some = [line for line in lines if line["act"] == "g" and line["workload"] == workload]
        for line in some:
            cells = (
                _number(float(line.get(n, 0))) for n in ("groups", "ready_s", "cpu_s", "writes")
            )
            rows.append(_row(workload, *cells))
        if len(some) > 2:
            rows.append(_row(f"{workload}, fitted", "", *_fit(some, "ready_s", "cpu_s"), ""))
    return rows


def _fit(lines: Sequence[Line], *names: str) -> Iterator[str]:
    for name in names:
        fit = fit_line([(float(line["groups"]), float(line.get(name, 0))) for line in lines])
        yield (
            f"{fit.base:.2f} s + {fit.slope * 1000:.1f} ms per group, "
            f"R² {fit.share:.3f}, power {fit.power:.2f}"
        )


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
