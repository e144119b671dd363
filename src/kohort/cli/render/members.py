"""The answer to ``why pod/NAME``, as lines."""

from collections.abc import Sequence
from datetime import datetime

from kohort.cli.render.explanations import write_event
from kohort.cli.render.lines import Paint, mark_word, plain
from kohort.cli.terminal import BOLD, GREEN, RED, YELLOW
from kohort.cluster.timestamps import write_time
from kohort.views.ages import write_age
from kohort.views.members import PodExplanation

_WIDTH = 10


def write_pod_explanation(told: PodExplanation, now: datetime, paint: Paint = plain) -> list[str]:
    """What keeps a pod from serving, what to do, and the workload that it is part of."""
    trouble = told.trouble
    word, style = ("● waiting", YELLOW) if trouble else ("✓ ready", GREEN)
    if trouble is not None and trouble.is_stuck:
        word, style = "! stuck", RED
    age = write_age(told.since, now)
    row = told.workload
    place = f"{told.role} of group {told.group} of {row.kind} {row.name}, revision {told.revision}"
    since = f"{age} ({write_time(told.since)})" if told.since else ""
    waits = "nothing: it serves"
    if trouble is not None:
        container = f" (container {trouble.container})" if trouble.container else ""
        waits = f"{trouble.reason}: {trouble.details}{container}"
    parts: dict[str, Sequence[str]] = {
        "is": (place if told.is_current else f"{place}; a leftover of an earlier group",),
        "node": (told.node or "none yet",),
        "waits": (waits,),
        "events": tuple(write_event(event, now) for event in told.events),
        "since": (since,) if since else (),
        "next": told.commands or ("nothing needs to be done",),
        "workload": (f"{mark_word(row.health.word, paint)}: {row.health.message}",),
    }
    lines = [f"{paint(told.pod, BOLD)}  Pod  {paint(word, style)}{' ' if age else ''}{age}"]
    for title, texts in parts.items():
        for number, text in enumerate(texts):
            lines.append(f"  {title if number == 0 else '':<{_WIDTH}}{text}")
    return lines
