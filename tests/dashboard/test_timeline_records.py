"""The time line of a unit: read off pods, and recorded where pods forget."""

from datetime import UTC, datetime, timedelta

from kohort.cluster.objects import Object
from kohort.dashboard.recorder import SPANS_MAX, WorkloadRecord
from kohort.views.timeline import UnitNow, find_spans

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_pod(placed: int = 0, started: int = 0, ready: int = 0, leaving: int = 0) -> Object:
    """A pod made at 0 that reached phases at these seconds; 0: not yet."""
    moments = {"PodScheduled": placed, "Ready": ready}
    conditions = [
        {"type": name, "status": "True" if s else "False", "lastTransitionTime": stamp(s)}
        for name, s in moments.items()
    ]
    state = {"running": {"startedAt": stamp(started)}} if started else {"waiting": {}}
    metadata: Object = {"creationTimestamp": stamp(0)}
    if leaving:
        due = {"deletionTimestamp": stamp(leaving + 30), "deletionGracePeriodSeconds": 30}
        metadata.update(due)
    status = {"conditions": conditions, "containerStatuses": [{"name": "engine", "state": state}]}
    return {"metadata": metadata, "status": status}


def phases(pods: list[Object], *, is_ready: bool = False) -> list[tuple[str, float, float | None]]:
    spans = find_spans(pods, "1", is_ready=is_ready)
    return [
        (
            s.phase,
            (s.start - START).total_seconds(),
            (s.end - START).total_seconds() if s.end else None,
        )
        for s in spans
    ]


def test_a_unit_goes_through_all_phases():
    pods = [make_pod(placed=2, started=10, ready=50, leaving=90)]
    assert phases(pods, is_ready=True) == [
        ("waiting", 0, 2),
        ("pulling", 2, 10),
        ("loading", 10, 50),
        ("ready", 50, 90),
        ("leaving", 90, None),
    ]


def test_a_unit_is_in_a_phase_until_its_last_member_has_left_it():
    pods = [make_pod(placed=1, started=5, ready=9), make_pod(placed=3, started=8)]
    assert phases(pods) == [("waiting", 0, 3), ("pulling", 3, 8), ("loading", 8, None)]


def test_a_unit_without_pods_has_no_phase():
    assert phases([]) == []


def record_of(*notes: tuple[str, list[Object], float]) -> list[tuple[str, bool]]:
    """The phases of a lane after these looks, and whether each has ended."""
    record = WorkloadRecord()
    for incarnation, pods, seconds in notes:
        is_ready = all(pod["status"]["conditions"][1]["status"] == "True" for pod in pods)
        spans = find_spans(pods, "1", is_ready=is_ready)
        record.note_unit(UnitNow("group 0", incarnation, spans), at(seconds))
    (lane,) = record.read().lanes
    return [(span.phase, span.end is not None) for span in lane.spans]


def test_a_former_incarnation_stays_on_its_lane():
    ready = make_pod(placed=1, started=2, ready=3)
    found = record_of(("a", [ready], 5), ("b", [make_pod()], 9))
    assert found == [
        ("waiting", True),
        ("pulling", True),
        ("loading", True),
        ("ready", True),
        ("waiting", False),
    ]


def test_a_unit_that_falls_back_keeps_what_was_before():
    ready, fallen = make_pod(placed=1, started=2, ready=3), make_pod(placed=1, started=2)
    found = record_of(("a", [ready], 5), ("a", [fallen], 8), ("a", [fallen], 9))
    assert found[-2:] == [("ready", True), ("loading", False)]


def test_a_unit_that_leaves_was_ready_until_then():
    """Its pods say soon that they are not ready, and no longer since when they were."""
    ready, leaving = (make_pod(1, 2, moment, gone) for moment, gone in ((3, 0), (0, 8)))
    found = record_of(("a", [ready], 5), ("a", [leaving], 9), ("a", [leaving], 10))
    assert found[-3:] == [("loading", True), ("ready", True), ("leaving", False)]
    stale = make_pod(placed=1, started=2, ready=3, leaving=8)  # the first that is seen of it
    assert [name for name, *_ in phases([stale])][-2:] == ["ready", "leaving"]


def test_a_unit_that_leaves_before_it_was_ready_never_was():
    loading, leaving = make_pod(placed=1, started=2), make_pod(placed=1, started=2, leaving=8)
    found = record_of(("a", [loading], 5), ("a", [leaving], 9))
    assert [name for name, _ in found] == ["waiting", "pulling", "loading", "leaving"]


def test_a_lane_keeps_a_bounded_number_of_spans():
    ready = make_pod(placed=1, started=2, ready=3)
    notes = [(str(number), [ready], 5.0 + number) for number in range(100)]
    assert len(record_of(*notes)) <= SPANS_MAX + 5
