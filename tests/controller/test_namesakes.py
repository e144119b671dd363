"""An object with the name of one of ours is ours by its owner, or by the labels of our caches."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from controller_world import CONFIGMAP, config_map, make_cluster

from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.actions import Action, Create, Patch
from kohort.cluster.objects import Object, find_controller
from kohort.cluster.port import Address, PatchType, Selection
from kohort.controller.caches.cache import CacheWriter
from kohort.controller.caches.watermarks import Watermarks
from kohort.controller.execute import Executor, Result
from kohort.controller.namesakes import is_same

ADDRESS = Address(CONFIGMAP, "lab", "a")
MARKED = {"mark": "x"}


def child(
    owner: str = "", labels: dict[str, str] | None = None, *, controls: bool = False
) -> Object:
    """An object with an owner that controls it or not, or with none."""
    made = config_map("a", owner)
    for each in made["metadata"].get("ownerReferences", ()):
        each["controller"] = controls
    made["metadata"]["labels"] = labels or {}
    return made


@pytest.mark.parametrize(
    ("wanted", "existing", "is_ours"),
    [
        (child("me", controls=True), child("me", controls=True), True),
        (child("me", MARKED, controls=True), child("you", MARKED, controls=True), False),
        (child("me", MARKED, controls=True), child("", MARKED), False),
        (child("me", MARKED), child("you", MARKED, controls=True), False),
        (child("me", MARKED), child("me"), True),
        (child("me", MARKED), child("", {"mark": "x", "more": "y"}), True),
        (child("me", MARKED), child("you", MARKED), True),
        (child("me", MARKED), child(""), False),
        (child("me", MARKED), child("you", {"mark": "y"}), False),
        (child("me"), child(""), False),
        (child(""), child(""), True),
    ],
    ids=[
        "its controller is ours",
        "its controller is another",
        "no controller where ours has one",
        "a controller where ours has none",
        "our owner though it lost the label",
        "no owner and our label",
        "an earlier owner and our label",
        "neither owner nor label",
        "another owner and label",
        "no owner where nothing is selected",
        "none has an owner",
    ],
)
def test_an_existing_object_is_ours_by_its_owner_or_by_the_labels_of_our_caches(
    wanted: Object, existing: Object, is_ours: bool
):
    assert is_same(wanted, existing, {"mark"}) == is_ours


WANTED = child("me", MARKED)
BY_CREATE = Create(CONFIGMAP, "lab", WANTED)
BY_APPLY = Patch(ADDRESS, WANTED, PatchType.APPLY, manager="m", force=True, makes=True)


@pytest.mark.parametrize("make", [BY_CREATE, BY_APPLY], ids=["create", "apply"])
async def test_an_object_without_a_controller_that_has_the_name_of_one_of_ours_is_left_alone(
    make: Action,
):
    """Nor has a child that its owner does not control, as the Service of a RoleBasedGroup."""
    cluster = await make_cluster()
    before = await cluster.create(CONFIGMAP, "lab", child("", {"app": "other"}))
    cache = CacheWriter(Selection(CONFIGMAP, labels="mark"), orjson.loads)
    [outcome] = await Executor(cluster, Watermarks([cache.reader])).run([make])
    assert outcome.result is Result.TAKEN
    assert await cluster.read(ADDRESS) == before


@pytest.mark.parametrize("controls", [True, False], ids=["another controller", "no controller"])
async def test_a_name_that_is_taken_after_the_operator_looked_is_not_refused_for_good(
    controls: bool,
):
    """The API server calls the apply invalid; it may be sent again when the name is free."""

    class Taken(InProcessCluster):
        async def patch(self, address: Address, *args: Any, **options: Any) -> Object:
            held = child("you" if controls else "", controls=controls)
            await self.create(CONFIGMAP, "lab", {**held, "immutable": True, "data": {"k": "1"}})
            return await super().patch(address, *args, **options)

    cluster = Taken((await make_cluster()).api)
    cache = CacheWriter(Selection(CONFIGMAP, labels="mark"), orjson.loads)
    asked = replace(BY_APPLY, patch={**WANTED, "data": {"k": "2"}})
    [outcome] = await Executor(cluster, Watermarks([cache.reader])).run([asked])
    assert outcome.result is Result.TAKEN
    assert (await cluster.read(ADDRESS))["data"] == {"k": "1"}


async def test_a_label_is_not_given_to_an_object_that_took_the_name_meanwhile():
    class Replacing(InProcessCluster):
        async def read(self, address: Address) -> Object:
            found = await super().read(address)
            if find_controller(found) is None:
                await self.delete(address)
                await self.create(CONFIGMAP, "lab", child("you", controls=True))
            return found

    cluster = Replacing((await make_cluster()).api)
    await cluster.create(CONFIGMAP, "lab", child("me"))
    cache = CacheWriter(Selection(CONFIGMAP, labels="mark"), orjson.loads)
    executor = Executor(cluster, Watermarks([cache.reader]))
    [outcome] = await executor.run([BY_CREATE])
    assert outcome.is_unknown
    assert "labels" not in (await cluster.read(ADDRESS))["metadata"]


async def test_an_apply_waits_for_a_namesake_that_is_leaving():
    """It is tried again soon, and not told as a name that another object keeps."""
    cluster = await make_cluster()
    held = child("you", controls=True)
    held["metadata"]["finalizers"] = ["example.com/held"]
    await cluster.create(CONFIGMAP, "lab", held)
    await cluster.delete(ADDRESS)
    [outcome] = await Executor(cluster).run([BY_APPLY])
    assert outcome.result is Result.FAILED
    assert outcome.message == "ConfigMap a is being deleted: we create it when the old one has gone"


@pytest.mark.parametrize("form", [PatchType.MERGE, PatchType.APPLY])
async def test_a_patch_that_meets_another_object_of_its_name_is_a_conflict(form: PatchType):
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", child("me"))
    body = child("me", MARKED)
    body["metadata"]["uid"] = "of-its-predecessor"
    [outcome] = await Executor(cluster).run([Patch(ADDRESS, body, form, manager="m")])
    assert outcome.result is Result.CONFLICT
