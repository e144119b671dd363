"""Which requests are not sent again: those that the server has refused, and no others."""

from kohort.cluster.actions import Create, Delete, Patch
from kohort.cluster.objects import Kind
from kohort.cluster.port import Address
from kohort.controller.refusals import RETRY_SECONDS, Refusals

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
    assert refusals.message == "no it is missing"


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


def test_what_may_become_free_is_tried_again_after_a_while():
    refusals = refuse(make(), make("b"), tried_at=5.0)
    assert refusals.find_wait(6.0) == RETRY_SECONDS - 1.0
    refusals.begin(b"wish", 4.0 + RETRY_SECONDS)
    assert refusals.knows(make())
    refusals.begin(b"wish", 5.0 + RETRY_SECONDS)
    assert not refusals.knows(make())
    assert refuse(make()).find_wait(0.0) is None
