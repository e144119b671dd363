"""The lineage of a pod, as lines: the pod, its instance, its group, its workloads."""

from kohort.cli.render.lines import Paint, mark_phase, mark_word, plain
from kohort.cli.terminal import BOLD
from kohort.views.lineage import Lineage

_WIDTH = 10


def write_lineage(lineage: Lineage, paint: Paint = plain) -> list[str]:
    """From the member up, one line for each level."""
    place = lineage.place
    word = " ".join(mark_phase(place.phase, False, paint)) if place.phase else "not known"
    node = f" on {lineage.node}" if lineage.node else ""
    lines = [f"{paint(lineage.pod, BOLD)}  Pod  {word}{node}"]

    def add(title: str, text: str) -> None:
        lines.append(f"  {title:<{_WIDTH}}{text}")

    add("member", f"{place.role or 'member'}, number {place.index} of its instance")
    if place.instance is not None:
        add("instance", f"{place.instance} of role {place.role}")
    if place.group is not None:
        revision = f", revision {place.revision}" if place.revision else ""
        leftover = "" if place.is_current else "; a leftover of an earlier one"
        add("group", f"{place.group}{revision}{leftover}")
    for number, workload in enumerate(lineage.workloads):
        health = mark_word(workload.health.word, paint)
        title = "workload" if number == 0 else "owned by"
        add(title, f"{workload.reference}  {workload.kind}  {health}")
    if lineage.owners:
        add("owners", " → ".join(lineage.owners))
    return lines
