"""A group is made of what belongs to this very leader; a name alone proves nothing."""

import pytest

from kohort.apis.carriers import pods as pods_carrier
from kohort.apis.carriers.statefulsets import read_groups
from kohort.apis.facts import (
    Condition,
    Meta,
    Owner,
    PodFacts,
    PodStatusFacts,
    SetFacts,
    SetSpecFacts,
    SetStatusFacts,
)
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import READER
from kohort.model.observed import Group
from kohort.model.units import Phase

SIZE = 2


def make_leader(uid: str, leaving: str | None = None) -> PodFacts:
    marks = {labels.GROUP_INDEX: "0", labels.WORKER_INDEX: "0", labels.REVISION: "r"}
    sizes = {labels.SIZE: str(SIZE)}
    metadata = Meta(
        name="x-0", uid=uid, labels=marks, annotations=sizes, deletion_timestamp=leaving
    )
    return PodFacts(metadata, status=PodStatusFacts("Running", [Condition("Ready", "True")]))


def make_set(leader: str) -> SetFacts:
    """A set of workers that are all ready, of a leader with this uid."""
    owner = Owner("Pod", "x-0", leader, True)
    metadata = Meta(name="x-0", uid="set", labels={labels.REVISION: "r"}, owner_references=[owner])
    return SetFacts(
        metadata, SetSpecFacts(replicas=SIZE - 1), SetStatusFacts(0, SIZE - 1, SIZE - 1)
    )


def read(held: SetFacts, leaving: str | None = None) -> Group:
    pods = [make_leader("second", leaving), make_worker("set", is_ready=True)]
    [group] = read_groups(READER, pods, {"x-0": held}, {})
    return group


def test_a_leader_with_a_set_of_its_own_leads_a_whole_group():
    group = read(make_set("second"))
    assert group.is_whole
    assert group.phase is Phase.READY


def test_the_set_of_a_leader_that_has_gone_completes_no_group():
    group = read(make_set("first"))
    assert not group.is_whole
    assert group.phase is Phase.STARTING


def test_a_group_leaves_with_its_leader_however_ready_all_its_members_are():
    assert read(make_set("second"), "2026-01-01T00:00:00Z").phase is Phase.LEAVING


def make_worker(owner: str, *, is_ready: bool, leaving: str | None = None) -> PodFacts:
    """A worker of a set, or of a leader where there are no sets; the set counts it as ready."""
    marks = {labels.GROUP_INDEX: "0", labels.WORKER_INDEX: "1", labels.REVISION: "r"}
    owners = [Owner("Pod", "x-0", owner, True)]
    metadata = Meta(
        name="x-0-1",
        uid="worker",
        labels=marks,
        owner_references=owners,
        deletion_timestamp=leaving,
    )
    ready = [Condition("Ready", "True" if is_ready else "False")]
    return PodFacts(metadata, status=PodStatusFacts("Running", ready))


@pytest.mark.parametrize(
    ("workers", "phase"),
    [
        ([make_worker("second", is_ready=True)], Phase.READY),
        ([make_worker("second", is_ready=False)], Phase.STARTING),
        ([make_worker("first", is_ready=True)], Phase.STARTING),
        ([], Phase.STARTING),
    ],
    ids=["ready", "not ready", "of another leader", "missing"],
)
def test_without_sets_a_group_is_ready_with_all_pods_of_its_own(
    workers: list[PodFacts], phase: Phase
):
    leader = make_leader("second")
    leader.metadata.owner_references = [Owner("LeaderWorkerSet", "x", "root", True)]
    [group] = pods_carrier.read_groups(READER, [leader, *workers], "root", {})
    assert group.phase is phase


@pytest.mark.parametrize(
    ("workers", "phase"),
    [
        ([make_worker("set", is_ready=True)], Phase.READY),
        ([make_worker("set", is_ready=False)], Phase.STARTING),
        ([make_worker("set", is_ready=True, leaving="2026-01-01T00:00:00Z")], Phase.STARTING),
        ([make_worker("other", is_ready=True)], Phase.STARTING),
        ([], Phase.STARTING),
    ],
    ids=["ready", "not ready", "leaving", "of another set", "missing"],
)
def test_a_set_that_counts_its_pods_as_ready_is_not_believed_without_them(
    workers: list[PodFacts], phase: Phase
):
    leader = make_leader("second")
    [group] = read_groups(READER, [leader, *workers], {"x-0": make_set("second")}, {})
    assert group.phase is phase
