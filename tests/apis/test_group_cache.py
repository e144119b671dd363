"""Groups are read again when a fact behind them is another, and only then."""

from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.carriers import pods as pods_carrier
from kohort.apis.carriers import statefulsets
from kohort.apis.facts import Meta, Owner, PodFacts, PodStatusFacts, SetFacts
from kohort.apis.group_cache import GroupCache
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import READER
from kohort.model.observed import Group

GROUPS, SIZE = 3, 2


def make_pod(group: int, index: int, uid: str, phase: str = "Running") -> PodFacts:
    owner = Owner("LeaderWorkerSet", "x", "root", True) if index == 0 else None
    marks = {labels.GROUP_INDEX: str(group), labels.WORKER_INDEX: str(index)}
    metadata = Meta(
        name=f"x-{group}" + (f"-{index}" if index else ""),
        uid=uid,
        labels=marks,
        annotations={labels.SIZE: str(SIZE)},
        owner_references=[owner or Owner("Pod", f"x-{group}", f"u-{group}-0", True)],
    )
    return PodFacts(metadata, status=PodStatusFacts(phase))


def make_pods() -> dict[tuple[int, int], PodFacts]:
    places = [(group, index) for group in range(GROUPS) for index in range(SIZE)]
    return {place: make_pod(*place, uid=f"u-{place[0]}-{place[1]}") for place in places}


def make_set(group: int) -> SetFacts:
    owner = Owner("Pod", f"x-{group}", f"u-{group}-0", True)
    return SetFacts(Meta(name=f"x-{group}", uid=f"s-{group}", owner_references=[owner]))


def test_only_the_group_whose_pod_changed_is_read_again() -> None:
    group_cache: GroupCache[Group] = GroupCache()
    pods = make_pods()
    before = pods_carrier.read_groups(READER, pods.values(), "root", {}, group_cache)
    pods[1, 1] = make_pod(1, 1, "u-1-1", "Pending")
    after = pods_carrier.read_groups(READER, pods.values(), "root", {}, group_cache)
    assert [a is b for a, b in zip(after, before, strict=True)] == [True, False, True]
    assert after[1].members[1].is_pending


def test_a_set_that_came_has_its_group_read_again() -> None:
    group_cache: GroupCache[Group] = GroupCache()
    pods = make_pods()
    sets = {f"x-{group}": make_set(group) for group in (0, 1)}
    before = statefulsets.read_groups(READER, pods.values(), sets, {}, group_cache)
    sets["x-2"] = make_set(2)
    after = statefulsets.read_groups(READER, pods.values(), sets, {}, group_cache)
    assert [a is b for a, b in zip(after, before, strict=True)] == [True, True, False]
    assert [group.is_whole for group in after] == [True] * 3


def test_a_member_that_is_missed_has_its_group_read_again() -> None:
    group_cache: GroupCache[Group] = GroupCache()
    pods = make_pods().values()
    pods_carrier.read_groups(READER, pods, "root", {}, group_cache)
    after = pods_carrier.read_groups(READER, pods, "root", {"u-0-0": ("x-0-1",)}, group_cache)
    assert [group.lost for group in after] == [("x-0-1",), (), ()]


def test_what_one_carrier_read_is_not_recalled_by_the_other() -> None:
    group_cache: GroupCache[Group] = GroupCache()
    pods = make_pods().values()
    pods_carrier.read_groups(READER, pods, "root", {}, group_cache)
    found = statefulsets.read_groups(READER, pods, {}, {}, group_cache)
    assert found == statefulsets.read_groups(READER, pods, {}, {})


def test_groups_that_went_are_forgotten() -> None:
    group_cache: GroupCache[str] = GroupCache()
    fact = object()
    assert group_cache.read(7, (fact,), lambda: "first") == "first"
    assert group_cache.read(7, (fact,), lambda: "second") == "first"
    group_cache.keep(())
    assert group_cache.read(7, (fact,), lambda: "third") == "third"


_place = st.tuples(st.integers(0, GROUPS - 1), st.integers(0, SIZE - 1))
_change = st.tuples(_place, st.sampled_from(("", "Pending", "Running", "Failed", "gone", "anew")))


@given(st.lists(_change, max_size=12))
def test_a_reading_with_recall_is_the_reading_without(
    changes: list[tuple[tuple[int, int], str]],
) -> None:
    group_caches: tuple[GroupCache[Group], GroupCache[Group]] = (GroupCache(), GroupCache())
    pods = make_pods()
    sets = {f"x-{group}": make_set(group) for group in range(GROUPS)}
    for number, (place, change) in enumerate(changes):
        pods.pop(place, None)
        if change != "gone":
            uid = f"new-{number}" if change == "anew" else f"u-{place[0]}-{place[1]}"
            pods[place] = make_pod(*place, uid, "Running" if change == "anew" else change)
        seen = pods.values()
        fresh = pods_carrier.read_groups(READER, seen, "root", {})
        assert pods_carrier.read_groups(READER, seen, "root", {}, group_caches[0]) == fresh
        fresh = statefulsets.read_groups(READER, seen, sets, {})
        assert statefulsets.read_groups(READER, seen, sets, {}, group_caches[1]) == fresh
