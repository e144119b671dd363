"""
A forecast as lines: what changes, which steps, how much serves meanwhile, how long it takes.

An object whose workloads other controllers run has a shorter one: the objects that change.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from kohort.cli.render.lines import BLOCKED, Paint, align, count, plain
from kohort.cli.terminal import BOLD, RED
from kohort.forecast.objects import ObjectMove
from kohort.forecast.values import Ending, Move
from kohort.views.forecasts import DELETED_NOTE, ForecastView, LineView, Restart, StepView
from kohort.views.object_forecasts import ObjectForecastView

_WIDTH = 10
_CHANGES_MAX = 6
_MINUTE, _HOUR = 60, 3600


def write_forecast(told: ForecastView, paint: Paint = plain, *, is_wide: bool = False) -> list[str]:
    """The whole forecast, the fact first and the detail after."""
    changes = _write_part("changes", _write_changes(told))
    course = write_course(told, paint, is_wide=is_wide)
    return [_write_title(told, paint), *changes, *course, "  nothing has been applied"]


def write_course(told: ForecastView, paint: Paint = plain, *, is_wide: bool = False) -> list[str]:
    """The lines of a forecast after the change itself: restarts, steps, capacity and time."""
    parts: dict[str, Sequence[str]] = {
        "restarts": [_write_restart(restart) for restart in told.restarts],
        "steps": _write_steps(told, is_wide),
        "capacity": _write_capacity(told),
        "time": [_write_time(told)] if told.steps else [],
        "stops": [
            paint(f"{BLOCKED} {blocker.reason}: {blocker.message}", RED)
            for blocker in told.blockers
        ]
        or ([paint(f"{BLOCKED} blocked", RED)] if told.ending is Ending.BLOCKED else []),
        "notes": told.notes,
    }
    return [line for title, texts in parts.items() for line in _write_part(title, texts)]


def _write_part(title: str, texts: Sequence[str]) -> list[str]:
    return [f"  {'' if place else title:<{_WIDTH}}{text}" for place, text in enumerate(texts)]


def _write_title(told: ForecastView, paint: Paint) -> str:
    before, after = told.revision_before, told.revision_after
    revisions = f"revision {after}" if before in ("", after) else f"revision {before} → {after}"
    new = "" if before else "  new"
    return f"{paint(told.name, BOLD)}  {told.kind}  {revisions}{new}"


def _write_changes(told: ForecastView) -> list[str]:
    shown = [str(change) for change in told.changes[:_CHANGES_MAX]]
    more = len(told.changes) - len(shown)
    return [*shown, *([f"and {more} more"] if more else [])]


def _write_restart(restart: Restart) -> str:
    verb = "is" if restart.what.startswith("every") else "are"
    how = f"{verb} {'updated in place' if restart.is_in_place else 'made anew'}"
    why = f", because of {restart.why[0].partition(':')[0]}" if restart.why else ""
    more = f" and {len(restart.why) - 1} more" if len(restart.why) > 1 else ""
    return f"{restart.what} {how}{why}{more}"


def _write_steps(told: ForecastView, is_wide: bool) -> list[str]:
    if not told.steps:
        return ["none: there is nothing to do"] if told.ending is Ending.DONE else ["none"]
    first = f"{len(told.steps)}, {_write_pace(told)}"
    return [first, *(_write_table(told.steps) if is_wide else ())]


def _write_pace(told: ForecastView) -> str:
    """How many units are in motion at once, and by which rules."""
    most = max(len({*step.comes, *step.updates}) or len(step.goes) for step in told.steps)
    noun = "group" if not told.lines or not told.lines[0].role else "instance"
    pace = f"one {noun} at a time" if most == 1 else f"up to {most} {noun}s at a time"
    rules = [_write_rules(line) for line in told.lines]
    return f"{pace} ({'; '.join(dict.fromkeys(rules))})"


def _write_rules(line: LineView) -> str:
    parts = [f"maxUnavailable {line.max_unavailable}", f"maxSurge {line.max_surge}"]
    if line.partition:
        parts.append(f"partition {line.partition}")
    return ", ".join(parts)


def _write_table(steps: Sequence[StepView]) -> Iterator[str]:
    rows = [(str(step.number), write_step(step), _write_ready(step)) for step in steps]
    yield from align(rows)


def write_step(step: StepView) -> str:
    """What one step does."""
    replaced = [name for name in step.goes if name in step.comes]
    told = (
        ("replace", replaced),
        ("delete", [name for name in step.goes if name not in step.comes]),
        ("create", [name for name in step.comes if name not in step.goes]),
        ("update in place", list(step.updates)),
    )
    return "; ".join(f"{verb} {_join(names)}" for verb, names in told if names)


def _join(names: list[str]) -> str:
    """Names of units; for units that share a noun, the noun is written once."""
    nouns: dict[tuple[str, str], list[str]] = {}
    for name in names:
        noun, number, *rest = name.split(" ", 2)
        nouns.setdefault((noun, " ".join(rest)), []).append(number)
    found = []
    for (noun, where), numbers in nouns.items():
        plural = "s" if noun == "group" and len(numbers) > 1 else ""
        found.append(f"{noun}{plural} {', '.join(numbers)}{' ' if where else ''}{where}")
    return "; ".join(found)


def _write_ready(step: StepView) -> str:
    found = [
        f"{f'{role} ' if role else ''}{least} ready, then {step.ready_after[role]}"
        for role, least in step.ready_least.items()
    ]
    return "; ".join(found)


def _write_capacity(told: ForecastView) -> list[str]:
    if not told.steps:
        return []
    units = [_write_line(line) for line in told.lines if line.ready_before or not line.wanted]
    told_units = f"never below {', '.join(units)}" if units else _write_growth(told)
    return [f"{told_units}; {_write_extra(told)}"]


def _write_line(line: LineView) -> str:
    noun = f"instances of {line.role}" if line.role else "groups"
    return f"{line.ready_least} of {line.wanted} {noun}"


def _write_growth(told: ForecastView) -> str:
    pods = count(told.pods.after, "pod")
    return f"{pods} and {count(told.gpus.after, 'GPU')} when it is ready"


def _write_extra(told: ForecastView) -> str:
    pods, gpus = told.pods, told.gpus
    if gpus.extra:
        extra = f"{count(gpus.extra, 'extra GPU')} ({count(pods.extra, 'pod')}) at the peak"
    elif pods.extra:
        extra = f"no extra GPUs, {count(pods.extra, 'extra pod')} at the peak"
    else:
        extra = "no extra GPUs"
    change = f"; GPUs {gpus.before} → {gpus.after}" if 0 < gpus.before != gpus.after else ""
    return f"{extra}{change}"


def _write_time(told: ForecastView) -> str:
    if told.seconds is None:
        return "unknown: no start of a pod has been measured yet"
    if not told.starts.count:
        return "at once"
    starts = "last start" if told.starts.count == 1 else f"last {told.starts.count} starts"
    ready = write_seconds(told.starts.seconds)
    return (
        f"about {write_seconds(told.seconds, is_rough=True)} ({ready} to ready, from the {starts})"
    )


def write_seconds(seconds: float, *, is_rough: bool = False) -> str:
    """A duration as people say it: ``41 min``, ``5 min 8 s``; roughly, without the small part."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        minutes, rest = divmod(whole, _MINUTE)
        if is_rough and minutes >= 10:
            return f"{round(whole / _MINUTE)} min"
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(whole, _HOUR)
    minutes = rest // _MINUTE
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def write_comparison(views: Sequence[ForecastView]) -> list[str]:
    """One line for each strategy, with the budgets that it breaks."""
    title = ("", "steps", "least ready", "extra GPUs", "time", "")
    return align([title, *(_write_row(view) for view in views)])


def _write_row(view: ForecastView) -> tuple[str, ...]:
    least = ", ".join(
        f"{f'{line.role} ' if line.role else ''}{line.ready_least}/{line.wanted}"
        for line in view.lines
    )
    time = "unknown" if view.seconds is None else write_seconds(view.seconds, is_rough=True)
    remark = "; ".join(_find_breaches(view)) or ("blocked" if view.blockers else "")
    note = f"{BLOCKED} {remark}" if remark else ""
    return view.strategy, str(len(view.steps)), least, str(view.gpus.extra), time, note


def _find_breaches(view: ForecastView) -> Iterator[str]:
    """Which budgets a strategy does not keep."""
    for line in view.lines:
        used = min(line.ready_before, line.wanted) - line.ready_least
        if used > line.max_unavailable:
            budget = line.max_unavailable
            yield f"budget is {budget}, used {used}: the strategy breaks maxUnavailable"


_VERBS = {Move.CREATE: "create", Move.UPDATE: "change", Move.DELETE: "delete"}

_NOTES = {Ending.CUT: ("more steps follow",), Ending.DELETED: (DELETED_NOTE,)}


def write_object_forecast(view: ObjectForecastView, *, is_wide: bool = False) -> list[str]:
    """The objects that are created, changed and deleted in each step, and their requests."""
    new = "  new" if view.is_new else ""
    parts: dict[str, Sequence[str]] = {
        "steps": [_write_number(view), *_write_object_steps(view, is_wide)],
        "objects": [f"{count(view.objects, 'object')} in the end, {count(view.writes, 'write')}"],
        "capacity": [_write_object_capacity(view)],
        "notes": _NOTES.get(view.ending, ()),
    }
    lines = [f"{view.name}  {view.kind}  strategy {view.strategy or 'none'}{new}"]
    for title, texts in parts.items():
        lines += [f"  {'' if n else title:<{_WIDTH}}{text}" for n, text in enumerate(texts)]
    return [*lines, "  nothing has been applied"]


def _write_number(view: ObjectForecastView) -> str:
    if not view.steps:
        return "none: there is nothing to do" if view.ending is Ending.DONE else "none"
    return f"{len(view.steps)}, each when the workloads of the one before are ready"


def _write_object_steps(view: ObjectForecastView, is_wide: bool) -> Iterator[str]:
    for step in view.steps:
        for verb, texts in _group(step.moves, is_wide).items():
            yield f"{step.number}   {verb} {', '.join(texts)}"


def _group(moves: Sequence[ObjectMove], is_wide: bool) -> dict[str, list[str]]:
    """The objects of each verb: by name, or counted by kind."""
    found: dict[str, list[str]] = {}
    for move, verb in _VERBS.items():
        own = [each for each in moves if each.move is move]
        if is_wide:
            texts = [f"{each.kind} {each.name}" for each in own]
        else:
            counted = Counter(each.kind for each in own).items()
            texts = [kind if number == 1 else f"{number} {kind}s" for kind, number in counted]
        if texts:
            found[verb] = texts
    return found


def _write_object_capacity(view: ObjectForecastView) -> str:
    pods, gpus = view.pods, view.gpus
    extra = f"{gpus.extra} extra at the peak" if gpus.extra else "no extra GPUs"
    return f"GPUs {gpus.before} → {gpus.after}, {extra}; pods {pods.before} → {pods.after}"


def write_object_comparison(views: Sequence[ObjectForecastView]) -> list[str]:
    """One line for each strategy: objects, writes, steps, and GPUs during the switch."""
    title = ("", "objects", "writes", "steps", "GPUs", "GPUs at the peak")
    rows = [
        (
            view.strategy or "none",
            str(view.objects),
            str(view.writes),
            str(len(view.steps)),
            str(view.gpus.after),
            str(view.gpus.peak),
        )
        for view in views
    ]
    return align([title, *rows])
