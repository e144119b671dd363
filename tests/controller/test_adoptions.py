"""An object that is orphaned again and again is adopted more and more slowly, and no other is."""

from kohort.cluster.actions import Patch
from kohort.cluster.kinds import POD
from kohort.cluster.port import Address
from kohort.controller.adoptions import Adoptions


def adopt(name: str = "a", owner: str = "me") -> Patch:
    return Patch(Address(POD, "lab", name), {}, why="it has lost its owner", adopter=owner)


def note(adoptions: Adoptions, action: Patch, times: int, elapsed: float) -> None:
    for _ in range(times):
        adoptions.note(action, elapsed)


def test_another_owner_does_not_wait_for_what_an_earlier_one_adopted():
    adoptions = Adoptions()
    note(adoptions, adopt(), 4, 10.0)
    assert adoptions.sift([adopt(), adopt(owner="my successor")], 10.5) == (
        adopt(owner="my successor"),
    )


def test_the_first_adoption_that_is_due_is_waited_for():
    adoptions = Adoptions()
    note(adoptions, adopt("a"), 1, 10.0)
    note(adoptions, adopt("b"), 4, 10.0)
    assert adoptions.sift([adopt("a"), adopt("b")], 10.5) == ()
    assert adoptions.wait == 0.5
    assert adoptions.sift([adopt("a"), adopt("b")], 11.0) == (adopt("a"),)
