"""Which revision of a Knative Service is rolled out, and how a user takes one back."""

import pytest
from isvc_builders import planned, service

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.status import write_status

NOW = "2026-01-02T03:04:05Z"


def share(revision: str, percent: int, *, is_latest: bool = False) -> dict:
    return {"revisionName": revision, "percent": percent, "latestRevision": is_latest}


def revisions(old: tuple[str, str], traffic: list[dict], **facts: object) -> tuple[str, str]:
    """The revision rolled out and the one before, after Knative has reported."""
    names = ("latestRolledoutRevision", "previousRolledoutRevision")
    before = {"components": {"engine": dict(zip(names, old, strict=True))}}
    obj = {**service(engine={"minReplicas": 0}), "status": before}
    status = {
        "latestReadyRevisionName": "r2",
        "latestCreatedRevisionName": "r2",
        "observedGeneration": 2,
        "traffic": traffic,
        **facts,
    }
    held = {"metadata": {"name": "chat-engine", "generation": 2}, "status": status}
    live = {kinds.KNATIVE_SERVICE: {"chat-engine": held}}
    engine = write_status(planned(obj), live, (), NOW)["components"]["engine"]
    return tuple(engine.get(name, "") for name in names)


def test_a_revision_with_all_requests_is_rolled_out():
    assert revisions(("r1", ""), [share("r2", 100, is_latest=True)]) == ("r2", "r1")
    assert revisions(("r2", "r1"), [share("r2", 100, is_latest=True)]) == ("r2", "r1")
    assert revisions(("r1", ""), [share("r2", 10, is_latest=True), share("r1", 90)]) == ("r1", "")


SAME = [share("r2", 0, is_latest=True), share("r2", 100)]


def test_a_lowered_share_takes_a_revision_back_that_was_rolled_out():
    assert revisions(("r2", "r1"), SAME) == ("r1", "r1")
    taken = [share("r2", 0, is_latest=True), share("r1", 100)]
    assert revisions(("r1", "r1"), taken) == ("r1", "r1")
    assert revisions(("r1", "r1"), [share("r2", 100, is_latest=True)]) == ("r2", "r1")


@pytest.mark.parametrize(
    ("old", "facts"),
    [
        (("r2", ""), {}),
        (("r2", "r1"), {"latestCreatedRevisionName": "r3"}),
        (("r2", "r1"), {"observedGeneration": 1}),
        (("r2", "r1"), {"traffic": [share("r2", 10, is_latest=True), share("r1", 90)]}),
    ],
)
def test_a_revision_is_not_taken_back_for_another_reason(old: tuple[str, str], facts: dict):
    assert revisions(old, **{"traffic": SAME, **facts})[0] == "r2"
