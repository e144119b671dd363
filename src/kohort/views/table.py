"""The table over all kinds: one row for each workload, with the reason why it is not ready."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kohort.cluster.objects import metadata_of
from kohort.views.ages import find_time
from kohort.views.health import Health, judge
from kohort.views.picture import Picture
from kohort.views.roles import RoleLine, list_role_lines


@dataclass(frozen=True, slots=True)
class Row:
    """One workload in one line."""

    kind: str
    resource: str  # as error messages and ``-o name`` write it
    namespace: str
    name: str
    wanted: int
    ready: int
    updated: int
    revision: str  # "6", or "5 → 6" while a rollout runs; empty: the kind stores no revisions
    health: Health
    created: datetime | None
    strategy: str
    carrier: str
    role: str = ""  # the role whose instances are counted; empty: groups are counted
    roles: tuple[RoleLine, ...] = ()  # those that roll by themselves
    is_one_group: bool = False  # the workload is the only group, so its group has no number


def make_row(picture: Picture) -> Row:
    """The row of one workload."""
    report = picture.plan.report if picture.plan else None
    verbs = picture.api.verbs
    settings = picture.sample.snapshot.settings
    return Row(
        kind=picture.api.kind.name,
        resource=f"{picture.api.kind.name.lower()}.{picture.api.kind.group}",
        namespace=picture.namespace,
        name=picture.name,
        wanted=report.wanted if report else 0,
        ready=report.wanted_ready if report else 0,
        updated=min(report.groups_updated, report.wanted) if report else 0,
        revision=describe_revisions(picture),
        health=judge(picture),
        created=find_time(metadata_of(picture.root).get("creationTimestamp")),
        strategy=picture.reading.workload.rollout.strategy if picture.reading else "",
        carrier=verbs.carrier_of(picture.root, settings) if verbs else "",
        role=picture.role,
        roles=list_role_lines(picture),
        is_one_group=picture.is_one_group,
    )


def make_table(pictures: Iterable[Picture]) -> list[Row]:
    """The rows of many workloads, by kind, namespace and name."""
    rows = [make_row(picture) for picture in pictures]
    return sorted(rows, key=lambda row: (row.kind, row.namespace, row.name))


def select_blocked(rows: Iterable[Row]) -> list[Row]:
    """The rows that need help, the longest waiting first."""
    needing = [row for row in rows if row.health.word.needs_help]
    return sorted(needing, key=lambda row: (row.health.since is None, row.health.since))


def describe_revisions(picture: Picture) -> str:
    """The current revision and the target if it is another; nothing for kinds without revisions."""
    if picture.reading is None or picture.api.verbs is None:
        return ""
    wanted = picture.reading.workload.revision
    is_stored = any(revision.key == wanted for revision in picture.revisions)
    # Where none are stored for the object itself, units have a key without a number.
    is_named = is_stored or not wanted or not picture.revisions
    target = picture.name_revision(wanted) if is_named else "new"
    former = picture.find_former_revision()
    return f"{picture.name_revision(former)} → {target}" if former else target
