"""The answer to ``why`` and the history of revisions, as lines."""

from collections.abc import Sequence
from datetime import datetime

from kohort.cli.render.lines import Paint, align, plain
from kohort.cli.render.trees import write_title
from kohort.views.ages import write_age
from kohort.views.explain import Explanation
from kohort.views.rollouts import HistoryLine

_WIDTH = 10


def write_explanation(told: Explanation, now: datetime, paint: Paint = plain) -> list[str]:
    """The four parts, always in the same order, and the rules behind them."""
    since = "unknown"
    if told.since is not None:
        since = f"{write_age(told.since, now)} ({told.since:%Y-%m-%dT%H:%M:%SZ})"
    parts: dict[str, Sequence[str]] = {
        "waits": (told.waits,),
        "on": told.on,
        "gang": told.gangs,
        "since": (since,),
        "next": told.commands,
        "rules": (told.rules,),
        "notes": told.notes,
    }
    lines = [write_title(told.row, now, paint)]
    for title, texts in parts.items():
        for place, text in enumerate(texts):
            lines.append(f"  {title if place == 0 else '':<{_WIDTH}}{text}")
    return lines


def write_history(history: Sequence[HistoryLine], now: datetime) -> list[str]:
    """One line for each revision, with what changed first."""
    rows = [("REVISION", "GROUPS", "SERVED", "AGE", "CHANGE")]
    rows += [
        (
            f"{line.number}{' (wanted)' if line.is_target else ''}",
            str(line.groups),
            "yes" if line.has_served else "no",
            write_age(line.created, now),
            _summarise(line),
        )
        for line in history
    ]
    return align(rows)


def _summarise(line: HistoryLine) -> str:
    if not line.changes:
        return "-"
    more = len(line.changes) - 1
    return f"{line.changes[0]}{f', and {more} more' if more else ''}"
