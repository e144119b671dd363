"""Which requests are not sent again: those that the server has refused, and no others."""

import pytest

from kohort.cluster.actions import Create, Delete, Patch
from kohort.cluster.errors import AlreadyExists, ClusterError, Conflict, InternalError, Invalid
from kohort.cluster.objects import Kind
from kohort.cluster.port import Address
from kohort.controller.execute import Outcome, Result
from kohort.controller.refusals import (
    PATIENCE_SECONDS,
    RETRY_SECONDS,
    Refusals,
    may_be_allowed,
)

POD = Kind("", "v1", "Pod", "pods")


def make(name: str = "a", image: str = "x", why: str = "it is missing") -> Create:
    return Create(POD, "default", {"metadata": {"name": name}, "spec": {"image": image}}, why)


def patch(value: str, name: str = "a") -> Patch:
    return Patch(Address(POD, "default", name), {"metadata": {"labels": {"a": value}}}, why="old")


def refuse(*actions: Create | Patch | Delete, tried_at: float | None = None) -> Refusals:
    refusals = Refusals()
    refusals.begin(b"wish", 0.0)
    for action in actions:
        refusals.note(action, f"no {action.why}", tried_at)
    return refusals


def test_a_refused_request_is_known_whatever_the_words_for_it():
    refusals = refuse(make())
    assert refusals.knows(make(why="group 0 lacks it"))
    assert refusals.message == "Pod a could not be created: no it is missing"


def test_an_answer_that_names_its_object_stays_as_it_is():
    for text in ('pods "a" is forbidden: no', "Pod a exists and lacks our labels"):
        refusals = Refusals()
        refusals.note(patch("1"), text)
        assert refusals.message == text


def test_a_refusal_for_one_object_says_nothing_of_another():
    refusals = refuse(patch("1"))
    assert not refusals.knows(patch("1", name="b"))


def test_another_request_for_the_same_object_is_sent():
    refusals = refuse(make(), patch("1"))
    assert not refusals.knows(make(image="y"))
    assert not refusals.knows(patch("2"))
    assert not refusals.knows(Delete(POD, "default", "a", "uid"))


def test_another_incarnation_may_be_deleted():
    refusals = refuse(Delete(POD, "default", "a", "one"))
    assert refusals.knows(Delete(POD, "default", "a", "one"))
    assert not refusals.knows(Delete(POD, "default", "a", "two"))


def test_another_wish_of_the_user_ends_all_refusals():
    refusals = refuse(make())
    refusals.begin(b"another", 1.0)
    assert not refusals.knows(make())
    assert refusals.message == ""


def test_only_a_refusal_that_the_plan_asks_for_is_told():
    refusals = refuse(make(), patch("1", name="b"))
    assert refusals.sift([patch("1", name="b"), patch("2")]) == [patch("2")]
    assert refusals.message == "Pod b could not be changed: no old"
    assert refusals.sift([patch("2")]) == [patch("2")]
    assert refusals.message == ""
    assert refusals.knows(make())


def test_what_may_become_free_is_tried_again_after_a_while():
    refusals = refuse(make(), make("b"), tried_at=5.0)
    assert refusals.find_wait(6.0) == RETRY_SECONDS - 1.0
    refusals.begin(b"wish", 4.0 + RETRY_SECONDS)
    assert refusals.knows(make())
    refusals.begin(b"wish", 5.0 + RETRY_SECONDS)
    assert not refusals.knows(make())
    assert refuse(make()).find_wait(0.0) is None


def test_the_first_of_several_that_may_become_free_is_tried_in_time():
    refusals = refuse(make(), tried_at=5.0)
    refusals.note(make("b"), "no", tried_at=15.0)
    assert refusals.find_wait(16.0) == RETRY_SECONDS - 11.0


@pytest.mark.parametrize(
    ("said", "is_allowed"),
    [
        ("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too late", True),
        ('admission webhook "p" denied the request: too late', True),
        ('Pod "a" is invalid: spec.containers: Required value', False),
    ],
)
def test_what_a_policy_denies_may_be_allowed_later_whatever_its_code(said: str, is_allowed: bool):
    outcome = Outcome(make(), Result.REFUSED, message=said, error=Invalid(said))
    assert may_be_allowed(outcome) == is_allowed


def fail(error: ClusterError, *, result: Result = Result.FAILED) -> Outcome:
    return Outcome(patch("1"), result, message=error.message, error=error)


def test_a_request_that_fails_is_told_of_when_it_has_failed_for_a_while():
    refusals = Refusals()
    refusals.note_failures([fail(InternalError("no answer"))], 5.0)
    refusals.note_failures([fail(Conflict("locked"), result=Result.CONFLICT)], 20.0)
    assert refusals.failing == ""
    refusals.note_failures([fail(InternalError("no answer"))], 5.0 + PATIENCE_SECONDS)
    assert refusals.failing == "Pod a could not be changed: no answer"
    refusals.note_failures([Outcome(patch("1"), Result.DONE)], 6.0 + PATIENCE_SECONDS)
    assert refusals.failing == ""


def test_a_request_that_succeeded_in_between_has_not_failed_for_long():
    refusals, failed = Refusals(), [fail(InternalError("no answer"))]
    refusals.note_failures(failed, 5.0)
    refusals.note_failures([], 10.0)
    refusals.note_failures(failed, 5.0 + PATIENCE_SECONDS)
    assert refusals.failing == ""


def test_a_name_that_is_taken_until_its_object_has_gone_is_no_failure():
    error = AlreadyExists('pods "a" already exists')
    outcome = Outcome(
        make(), Result.CONFLICT, message=f"{error}, and is being deleted", error=error
    )
    refusals = Refusals()
    for elapsed in (0.0, 2 * PATIENCE_SECONDS):
        refusals.note_failures([outcome], elapsed)
    assert refusals.failing == ""
