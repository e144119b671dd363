"""What undo, pause and resume write into a ModelServing."""

from serving_builders import role, serving

from kohort.apis.api import StoredRevision
from kohort.apis.modelserving.verbs import VERBS
from kohort.cluster.objects import Object

BY_ROLE = {"type": "RoleRollingUpdate"}


def make(**partitions: int | None) -> Object:
    """A ModelServing with roles of these partitions, which roll by themselves."""
    given = {name: {} if kept is None else {"partition": kept} for name, kept in partitions.items()}
    roles = [role(name, replicas=3, workers=0, **more) for name, more in given.items()]
    return serving(*roles, rolloutStrategy=BY_ROLE)


def partitions_of(obj: Object) -> dict[str, int | None]:
    return {role["name"]: role.get("partition") for role in obj["spec"]["template"]["roles"]}


def counts_of(obj: Object) -> dict[str, int]:
    return {role["name"]: role["replicas"] for role in obj["spec"]["template"]["roles"]}


def store(*roles: Object) -> StoredRevision:
    return StoredRevision(1, "old", "llama-old", "", {"roles": list(roles)})


def test_an_undo_scales_nothing_and_brings_a_removed_role_back_at_its_own_count():
    then = store(role("a", replicas=1), role("gone", replicas=2))
    assert counts_of(VERBS.go_back(serving(role("a", replicas=5)), then, "")) == {"a": 5, "gone": 2}


def test_an_undo_brings_no_partition_and_no_budget_of_then_back():
    """A template that was edited during a pause is stored with the partition of the pause."""
    then = store(role("a", replicas=3, partition=3, maxUnavailable=2), role("gone", partition=1))
    now = serving(role("a", replicas=3, maxUnavailable="50%"), rolloutStrategy=BY_ROLE)
    undone = VERBS.go_back(now, then, "")
    assert partitions_of(undone) == {"a": None, "gone": None}
    assert undone["spec"]["template"]["roles"][0]["maxUnavailable"] == "50%"


def test_an_undo_keeps_the_partition_that_a_role_has_now():
    then = store(role("a", replicas=3, workers=0))
    assert partitions_of(VERBS.go_back(make(a=2), then, "a")) == {"a": 2}


def test_an_undo_of_a_role_that_the_revision_lacks_leaves_it_as_it_is():
    now = serving(role("a"), role("young", replicas=4))
    assert VERBS.go_back(now, store(role("a")), "young")["spec"] == now["spec"]


def test_a_pause_of_all_keeps_what_a_pause_of_one_has_remembered():
    paused = VERBS.hold(VERBS.hold(make(a=1, b=2), 0, "a"), 0, "")
    assert partitions_of(paused) == {"a": 3, "b": 3}
    assert partitions_of(VERBS.release(paused, "")) == {"a": 1, "b": 2}


def test_a_resume_of_all_leaves_the_partition_of_a_role_that_was_not_paused():
    resumed = VERBS.release(VERBS.hold(make(a=None, b=2), 0, "a"), "")
    assert partitions_of(resumed) == {"a": None, "b": 2}
    assert VERBS.list_held(resumed) == ()


def test_a_promotion_of_all_roles_leaves_no_note_of_a_pause():
    done = VERBS.finish(VERBS.hold(make(a=1, b=2), 0, ""), "")
    assert (partitions_of(done), VERBS.list_held(done)) == ({"a": None, "b": None}, ())
