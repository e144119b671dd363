"""What the operator remembers of children that were deleted, and for how long."""

from typing import Any

from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.controller.caches.cache import CachedObject, Difference
from kohort.controller.caches.deleted_children import KEPT_MAX, DeletedChildren

WORKLOAD = ("lab", "x")


def change(name: str, old: str | None, new: str | None) -> Difference[Any]:
    def entry(value: str | None) -> CachedObject[Any] | None:
        return None if value is None else CachedObject(("lab", name), "u", "1", False, value)

    return Difference(("lab", name), entry(old), entry(new))


def remember(*changes: Difference[Any]) -> DeletedChildren:
    deleted = DeletedChildren()
    for each in changes:
        deleted.note(CONTROLLER_REVISION, WORKLOAD, each)
    return deleted


def test_the_last_copy_of_a_deleted_child_is_kept_for_its_workload_alone():
    deleted = remember(change("a", "first", "second"), change("a", "second", None))
    assert deleted.list_of(WORKLOAD) == {CONTROLLER_REVISION: ("second",)}
    assert deleted.list_of(("lab", "y")) == {}


def test_a_child_that_is_there_again_is_not_remembered():
    deleted = remember(change("a", "first", None), change("a", None, "second"))
    assert deleted.list_of(WORKLOAD) == {}


def test_only_the_latest_deleted_children_are_remembered():
    """Other clients can make and delete objects with our labels without end."""
    names = [str(number) for number in range(3 * KEPT_MAX)]
    deleted = remember(*(change(name, name, None) for name in names))
    assert deleted.list_of(WORKLOAD) == {CONTROLLER_REVISION: tuple(names[-KEPT_MAX:])}


def test_nothing_is_kept_for_a_workload_that_has_gone():
    deleted = remember(change("a", "first", None))
    deleted.forget(WORKLOAD)
    assert deleted.list_of(WORKLOAD) == {}
