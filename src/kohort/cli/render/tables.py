"""The table over all kinds, and the line that is printed when one row changes."""

from collections.abc import Sequence
from datetime import datetime

from kohort.cli.render.lines import align
from kohort.views.ages import write_age
from kohort.views.table import Row

_HEAD = ("KIND", "NAME", "READY", "UPDATED", "REVISION", "REASON", "AGE")
_MORE = ("SINCE", "STRATEGY", "CARRIER", "MESSAGE")


def write_table(
    rows: Sequence[Row], now: datetime, *, namespaces: bool = False, wide: bool = False
) -> list[str]:
    """The lines of the table, its head first."""
    head = (*(("NAMESPACE",) if namespaces else ()), *_HEAD, *(_MORE if wide else ()))
    return align([head, *(_cells(row, now, namespaces, wide) for row in rows)])


def write_change(row: Row, *, namespaces: bool = False) -> str:
    """One row without its age, for those who read changes as lines."""
    name = f"{row.namespace}/{row.name}" if namespaces else row.name
    counts = filter(None, (write_counts(row), write_roles(row)))
    text = "   ".join((f"{row.kind}/{name}", *counts, write_reason(row)))
    return f"{text}: {row.health.message}" if row.health.message else text


def write_counts(row: Row) -> str:
    """How far a workload is; nothing of one that has neither groups nor revisions."""
    if not row.wanted and not row.revision:
        return ""
    title = f"revision {row.revision}" if row.revision else "updated"
    if row.is_one_group and not row.role:
        wanted = sum(role.wanted for role in row.roles)
        ready = sum(min(role.ready, role.wanted) for role in row.roles)
        updated = sum(min(role.updated, role.wanted) for role in row.roles)
        return f"instances {ready}/{wanted} ready   {title} ({updated}/{wanted})"
    units = f"role {row.role}: instances" if row.role else "groups"
    return f"{units} {row.ready}/{row.wanted} ready   {title} ({row.updated}/{row.wanted})"


def write_roles(row: Row) -> str:
    """How far each role is with an update, while one of them is not at its end."""
    if all(role.updated == role.wanted for role in row.roles):
        return ""
    return "updated: " + ", ".join(f"{r.name} {r.updated}/{r.wanted}" for r in row.roles)


def write_reason(row: Row) -> str:
    """The word, and the reason if there is one."""
    health = row.health
    return f"{health.word}: {health.reason}" if health.reason else str(health.word)


def _cells(row: Row, now: datetime, namespaces: bool, wide: bool) -> tuple[str, ...]:
    health = row.health
    cells = (
        row.kind,
        row.name,
        f"{row.ready}/{row.wanted}",
        f"{row.updated}/{row.wanted}",
        row.revision or "-",
        write_reason(row),
        write_age(row.created, now),
    )
    more = (write_age(health.since, now), row.strategy, row.carrier, health.message)
    return (*((row.namespace,) if namespaces else ()), *cells, *(more if wide else ()))
