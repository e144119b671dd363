"""The forecast of an object whose workloads other controllers run, as lines."""

from collections import Counter
from collections.abc import Iterator, Sequence

from kohort.cli.render.lines import align, count
from kohort.forecast.objects import ObjectMove
from kohort.forecast.values import Ending, Move
from kohort.views.forecasts import DELETED_NOTE
from kohort.views.object_forecasts import ObjectForecastView

_WIDTH = 10
_VERBS = {Move.CREATE: "create", Move.UPDATE: "change", Move.DELETE: "delete"}

_NOTES = {Ending.CUT: ("more steps follow",), Ending.DELETED: (DELETED_NOTE,)}


def write_object_forecast(view: ObjectForecastView, *, is_wide: bool = False) -> list[str]:
    """The objects that are created, changed and deleted in each step, and their requests."""
    new = "  new" if view.is_new else ""
    parts: dict[str, Sequence[str]] = {
        "steps": [_write_number(view), *_write_steps(view, is_wide)],
        "objects": [f"{count(view.objects, 'object')} in the end, {count(view.writes, 'write')}"],
        "capacity": [_write_capacity(view)],
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


def _write_steps(view: ObjectForecastView, is_wide: bool) -> Iterator[str]:
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


def _write_capacity(view: ObjectForecastView) -> str:
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
