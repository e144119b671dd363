"""What goes as soon as it is made, or comes back as soon as it is deleted, is tried more slowly."""

import pytest
from controller_world import CONFIGMAP, config_map, make_cluster

from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import uid_of
from kohort.cluster.port import Address, PatchType
from kohort.controller.caches.repeats import KEPT_MAX, QUICK_MAX, Repeats
from kohort.controller.execute import Executor, Result

ADDRESS = Address(CONFIGMAP, "lab", "a")


async def test_what_comes_back_at_once_is_deleted_more_and_more_slowly():
    """Two minutes of an object that another client makes again at once, looked at each second."""
    cluster, now = await make_cluster(), [0.0]
    executor, deleted = Executor(cluster, elapsed=lambda: now[0]), []
    stored = await cluster.create(CONFIGMAP, "lab", config_map("a"))
    for second in range(120):
        now[0] = float(second)
        [outcome] = await executor.run([Delete(CONFIGMAP, "lab", "a", uid_of(stored))])
        if outcome.result is Result.DONE:
            deleted.append(second)
            stored = await cluster.create(CONFIGMAP, "lab", config_map("a"))
        else:
            assert outcome.message == "ConfigMap a comes back at once: it is deleted later"
    assert deleted == [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 65, 95]


BY_CREATE = Create(CONFIGMAP, "lab", config_map("a", "me"))
BY_APPLY = Patch(
    ADDRESS, config_map("a", "me"), PatchType.APPLY, manager="m", force=True, makes=True
)


@pytest.mark.parametrize("make", [BY_CREATE, BY_APPLY], ids=["create", "apply"])
async def test_what_goes_at_once_is_made_more_and_more_slowly(make: Action):
    cluster, now = await make_cluster(), [0.0]
    executor = Executor(cluster, elapsed=lambda: now[0])
    for _ in range(QUICK_MAX):
        assert (await executor.run([make]))[0].result is Result.DONE
        await cluster.delete(ADDRESS)
    [outcome] = await executor.run([make])
    assert outcome.result is Result.FAILED
    assert outcome.message == "ConfigMap a vanishes whenever we create it: we try again later"
    now[0] = 1.0
    assert (await executor.run([make]))[0].result is Result.DONE


async def test_an_apply_to_an_object_that_exists_is_not_put_off():
    cluster = await make_cluster()
    executor = Executor(cluster)
    for _ in range(QUICK_MAX + 2):
        [outcome] = await executor.run([BY_APPLY])
        assert outcome.result is Result.DONE


def test_what_was_quiet_for_a_while_counts_from_the_first_again():
    now = [0.0]
    repeats = Repeats(lambda: now[0])
    for _ in range(QUICK_MAX):
        repeats.note(ADDRESS)
    assert not repeats.may_repeat(ADDRESS)
    now[0] = 10.0
    repeats.note(ADDRESS)
    assert repeats.may_repeat(ADDRESS)


def test_no_more_addresses_are_kept_than_fit():
    repeats = Repeats(lambda: 0.0)
    for number in range(KEPT_MAX + 1):
        for _ in range(QUICK_MAX if number == 0 else 1):
            repeats.note(Address(CONFIGMAP, "lab", f"c{number}"))
    assert repeats.may_repeat(Address(CONFIGMAP, "lab", "c0"))
