"""Adoption: a template that another controller has named keeps its name, and no pod restarts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_builders import role, rolling, serving, template

from kohort.apis.modelserving.adoption import PodMark, TargetRevision, find_target
from kohort.apis.modelserving.revision import (
    StoredTemplate,
    find_template,
    hash_role,
    hash_roles,
    make_revision,
)
from kohort.cluster.objects import Object
from recorded_servings import Recorded, name_case, needs_recording, recordings

UPSTREAM = "67b8d4b8c7"


def store(*roles: Object, revision: str = UPSTREAM, number: int = 1) -> StoredTemplate:
    return StoredTemplate(revision, number, list(roles or (role(),)))


def with_status(found: Object, **status: object) -> Object:
    return {**found, "status": {"observedGeneration": 1, **status}}


def mark(group: int = 0, name: str = "serve", revision: str = UPSTREAM, hash: str = "h") -> PodMark:
    return PodMark(f"llama-{group}", name, revision, hash)


def test_an_equal_template_keeps_the_name_it_was_stored_under():
    target = find_target(serving(), [store()], [mark()])
    assert (target.revision, target.is_stored) == (UPSTREAM, True)
    assert target.role_hashes == {"serve": "h"}
    assert target.has_role(mark()) and target.has_revision(UPSTREAM)


def test_scaling_is_no_change_of_the_template():
    scaled = serving(role(replicas=5, maxUnavailable="50%"))
    assert find_target(scaled, [store()], []).revision == UPSTREAM


def test_a_changed_template_gets_a_name_of_ours():
    changed = serving(role(entryTemplate=template("engine:2")))
    target = find_target(changed, [store()], [mark()])
    assert target.revision == hash_roles(changed["spec"]["template"]["roles"])
    assert not target.is_stored and not target.has_revision(UPSTREAM)
    assert not target.has_role(mark())


def test_a_role_that_did_not_change_keeps_its_hash():
    before = (role("prefill"), role("decode"))
    changed = serving(role("prefill", workers=2), before[1])
    marks = [mark(name="prefill", hash="p"), mark(name="decode", hash="d")]
    target = find_target(changed, [store(*before)], marks)
    assert [target.has_role(found) for found in marks] == [False, True]
    assert target.role_hashes["decode"] == "d"
    assert target.role_hashes["prefill"] == hash_role(role("prefill", workers=2))


def test_the_status_says_which_of_two_equal_names_holds():
    stored = [store(revision="old", number=1), store(revision="new", number=2)]
    chosen = find_target(with_status(serving(), updateRevision="old"), stored, [])
    assert (chosen.revision, chosen.equals) == ("old", {"old", "new"})
    assert find_target(serving(), stored, []).revision == "new"


def test_without_a_stored_revision_the_status_is_believed_if_a_whole_group_bears_it_out():
    seen = with_status(serving(), updateRevision=UPSTREAM)
    target = find_target(seen, [], [mark(), mark(1, revision="other")])
    assert (target.revision, target.is_stored) == (UPSTREAM, False)
    assert target.has_role(mark()) and not target.has_role(mark(1, revision="other", hash="x"))


@pytest.mark.parametrize(
    ("status", "marks"),
    [
        ({"updateRevision": UPSTREAM, "observedGeneration": 0}, [mark()]),
        ({"updateRevision": UPSTREAM}, []),
        ({"updateRevision": UPSTREAM}, [mark(), mark(revision="other")]),
        ({}, [mark()]),
    ],
    ids=["the spec changed since", "no pods", "a mixed group", "no status"],
)
def test_a_status_that_nothing_bears_out_is_not_believed(status: Object, marks: list[PodMark]):
    target = find_target(with_status(serving(), **status), [], marks)
    assert target.revision == hash_roles([role()])


def test_a_finished_rollout_by_role_is_believed_without_a_stored_revision():
    roles = (role("prefill"), role("decode"))
    asked = serving(*roles, rolloutStrategy=rolling("RoleRollingUpdate"))
    status = {"updateRevision": "new", "replicas": 2, "updatedReplicas": 2}
    marks = [
        mark(g, name, revision, name)
        for g in (0, 1)
        for name, revision in (("prefill", "new"), ("decode", "old"))
    ]
    target = find_target(with_status(asked, **status), [], marks)
    assert target.revision == "new"
    assert all(target.has_role(found) for found in marks)
    rolling_on = with_status(asked, **{**status, "updatedReplicas": 1})
    assert find_target(rolling_on, [], marks).revision != "new"


def test_a_finished_rollout_by_role_is_believed_beside_a_stored_revision():
    asked = serving(role("a"), role("b"), rolloutStrategy=rolling("RoleRollingUpdate"))
    status = {"updateRevision": "new", "replicas": 1, "updatedReplicas": 1}
    stored = [store(role("a"), role("b"), revision="new")]
    left = mark(name="b", revision="old", hash="b")
    marks = [mark(name="a", revision="new", hash="a"), left]
    assert find_target(with_status(asked, **status), stored, marks).has_role(left)
    unfinished = with_status(asked, **{**status, "updatedReplicas": 0})
    assert not find_target(unfinished, stored, marks).has_role(left)


def test_a_pod_without_a_hash_is_compared_by_its_revision_and_left_alone_if_that_is_unknown():
    changed = serving(role(workers=2))
    target = find_target(changed, [store()], [])
    assert not target.has_role(mark(hash=""))
    assert target.has_role(mark(hash="", revision="unknown"))
    assert find_target(serving(), [store()], []).has_role(mark(hash=""))


def test_a_role_that_is_gone_is_not_current():
    assert not find_target(serving(), [store()], []).has_role(mark(name="deprecated"))


def test_defect_12_a_stored_revision_of_another_template_is_never_written_over():
    taken = store(role(workers=7), revision=hash_roles([role()]))
    target = find_target(serving(), [taken], [])
    assert target.revision not in {taken.revision, ""}
    assert not target.is_stored


def keep(asked: Object, target: TargetRevision) -> StoredTemplate:
    found = find_template(make_revision(asked, target.revision, 9, target.accepted))
    assert found is not None
    return found


def settle(asked: Object, target: TargetRevision, stored: list[StoredTemplate]) -> TargetRevision:
    kept = [*stored, *([] if target.is_stored else [keep(asked, target)])]
    new = [PodMark("llama-0", name, target.revision, h) for name, h in target.role_hashes.items()]
    return find_target(with_status(asked, updateRevision=target.revision), kept, new)


@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 3), st.booleans())
def test_adoption_is_idempotent(workers: list[int], wanted: int, is_seen: bool):
    stored = [store(role(workers=w), revision=f"r{i}", number=i) for i, w in enumerate(workers)]
    status = {"updateRevision": "r0"} if is_seen else {}
    asked = with_status(serving(role(workers=wanted)), **status)
    first = find_target(asked, stored, [mark(revision="r0")])
    second = settle(asked, first, stored)
    assert (second.revision, dict(second.role_hashes)) == (first.revision, dict(first.role_hashes))
    assert second.is_stored


@needs_recording
@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_what_upstream_left_is_adopted(case: Recorded):
    target = find_target(case.serving, case.stored, case.marks)
    assert target.revision == case.serving["status"]["updateRevision"]
    current = [found for found in case.marks if found.revision == target.revision]
    assert current and all(target.has_role(found) for found in current)
    if case.when == "at_rest":
        assert len(current) == len(case.marks)


@needs_recording
def test_the_recorded_rollout_by_role_has_nothing_left_to_do():
    (case,) = (
        c
        for c in recordings()
        if c.when == "in_rollout" and c.source.endswith("role-rollingupdate.yaml")
    )
    target = find_target(case.serving, case.stored, case.marks)
    assert {found.revision for found in case.marks} == {"55c8b6fcdd", "647cd469b4"}
    assert all(target.has_role(found) for found in case.marks)
    again = find_target(case.serving, [keep(case.serving, target)], case.marks)
    assert again.is_stored and all(again.has_role(found) for found in case.marks)


@needs_recording
def test_a_role_that_upstream_left_alone_is_left_alone_by_the_next_rollout_too():
    (case,) = (
        c
        for c in recordings()
        if c.when == "in_rollout" and c.source.endswith("role-rollingupdate.yaml")
    )
    kept = keep(case.serving, find_target(case.serving, case.stored, case.marks))
    edited = json.loads(json.dumps(case.serving))
    edited["metadata"]["generation"] += 1
    edited["spec"]["template"]["roles"][0]["workerReplicas"] += 1
    target = find_target(edited, [kept], case.marks)
    current = {found.role for found in case.marks if target.has_role(found)}
    assert current == {"decode"}
