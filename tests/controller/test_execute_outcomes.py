"""The executor: what becomes of each action, and what is not even tried."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import orjson
import pytest
from controller_world import CONFIGMAP, config_map, make_cluster

from kohort.cluster.actions import Create, Delete, Patch, Premise
from kohort.cluster.errors import (
    Forbidden,
    InternalError,
    Invalid,
    KohortError,
    NotFound,
    Unavailable,
)
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Object, name_of, uid_of
from kohort.cluster.port import Address, PatchType, Selection
from kohort.controller.caches.cache import CacheWriter
from kohort.controller.caches.watcher import Init, Mark, Metadata, Put, Ready
from kohort.controller.caches.watermarks import Watermarks
from kohort.controller.dropped_fields import find_dropped
from kohort.controller.execute import Executor, Result


def create(name: str, owner: str = "me") -> Create:
    return Create(CONFIGMAP, "lab", config_map(name, owner), why="it is wanted")


def deployment(name: str) -> Object:
    labels, engine = {"app": name}, {"name": "engine", "image": "engine:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [engine]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": name}, "spec": spec}


def patch(name: str, **data: str) -> Patch:
    return Patch(Address(CONFIGMAP, "lab", name), {"data": data}, why="it differs")


class Failing:
    """A cluster on which writes fail; counts them."""

    def __init__(self, error: KohortError, after: int = 0) -> None:
        self.error = error
        self.after = after
        self.calls: Counter[str] = Counter()

    async def create(self, kind: Any, namespace: str, obj: Any) -> Any:
        self.calls["create"] += 1
        if self.calls["create"] > self.after:
            raise self.error
        return obj

    async def patch(self, *args: Any, **options: Any) -> Any:
        self.calls["patch"] += 1
        raise self.error

    async def delete(self, *args: Any, **options: Any) -> None:
        self.calls["delete"] += 1
        raise self.error


async def test_outcomes_come_in_the_order_of_the_actions():
    cluster = await make_cluster()
    stored = await cluster.create(CONFIGMAP, "lab", config_map("old"))
    actions = [create("a"), Delete(CONFIGMAP, "lab", "old", uid_of(stored)), create("b")]
    outcomes = await Executor(cluster).run(actions)
    assert [outcome.action for outcome in outcomes] == actions
    assert {outcome.result for outcome in outcomes} == {Result.DONE}
    assert outcomes[0].stored is not None
    assert uid_of(outcomes[0].stored)


async def test_a_create_that_meets_its_own_object_is_a_success():
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("a", "me"))
    [outcome] = await Executor(cluster).run([create("a")])
    assert (outcome.result, outcome.is_success) == (Result.EXISTS, True)


@pytest.mark.parametrize("held", [{}, {"mark": "other"}])
async def test_an_object_of_ours_gets_the_label_back_by_which_it_is_watched(held: dict[str, str]):
    """With none or with another value, the workload that owns it would never see it."""
    cluster = await make_cluster()
    there, wanted = config_map("a", "me"), config_map("a", "me")
    there["metadata"]["labels"] = {"old": "1", **held}
    wanted["metadata"]["labels"] = {"mark": "x", "revision": "2"}
    await cluster.create(CONFIGMAP, "lab", there)
    cache = CacheWriter(Selection(CONFIGMAP, labels="mark"), orjson.loads)
    executor = Executor(cluster, Watermarks([cache.reader]))
    [outcome] = await executor.run([Create(CONFIGMAP, "lab", wanted, why="it is not seen")])
    assert outcome.result is Result.EXISTS
    found = await cluster.read(Address(CONFIGMAP, "lab", "a"))
    assert found["metadata"]["labels"] == {"old": "1", "mark": "x"}


async def test_what_was_read_by_name_is_deleted_though_no_cache_has_it():
    cluster = await make_cluster()
    uid = uid_of(await cluster.create(CONFIGMAP, "lab", config_map("a")))
    cache = CacheWriter(Selection(CONFIGMAP), orjson.loads)
    executor = Executor(cluster, Watermarks([cache.reader]))
    await executor.run([Delete(CONFIGMAP, "lab", "a", uid)])
    assert len((await cluster.list(Selection(CONFIGMAP, "lab"))).items) == 1
    await executor.run([Delete(CONFIGMAP, "lab", "a", uid, is_unseen=True)])
    assert not (await cluster.list(Selection(CONFIGMAP, "lab"))).items


@pytest.mark.parametrize(
    ("uid", "generations", "result"),
    [
        ("", 0, Result.DONE),
        ("", 1, Result.CONFLICT),
        ("", -1, Result.CONFLICT),
        ("another", 0, Result.CONFLICT),
    ],
    ids=["as seen", "a newer view", "an older view", "another object"],
)
async def test_an_object_is_deleted_only_on_the_generation_that_the_plan_was_made_on(
    uid: str, generations: int, result: Result
):
    cluster = await make_cluster()
    held = await cluster.create(DEPLOYMENT, "lab", deployment("set"))
    child = await cluster.create(CONFIGMAP, "lab", config_map("a"))
    await cluster.patch(Address(DEPLOYMENT, "lab", "set"), {"spec": {"replicas": 5}})
    seen = held["metadata"]["generation"] + 1 + generations
    premise = Premise(Address(DEPLOYMENT, "lab", "set"), uid or uid_of(held), seen)
    action = Delete(CONFIGMAP, "lab", "a", uid_of(child), premise=premise)
    [outcome] = await Executor(cluster).run([action])
    assert outcome.result is result
    kept = (await cluster.list(Selection(CONFIGMAP, "lab"))).items
    assert bool(kept) is (result is Result.CONFLICT)


async def test_nothing_is_deleted_if_what_the_plan_was_made_on_is_gone():
    cluster = await make_cluster()
    child = await cluster.create(CONFIGMAP, "lab", config_map("a"))
    premise = Premise(Address(DEPLOYMENT, "lab", "set"), "uid", 1)
    action = Delete(CONFIGMAP, "lab", "a", uid_of(child), premise=premise)
    [outcome] = await Executor(cluster).run([action])
    assert (outcome.result, outcome.is_unknown) == (Result.CONFLICT, True)
    assert "Deployment set" in outcome.message


async def test_a_create_that_meets_an_object_of_another_says_whose():
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("a", "somebody"))
    [outcome] = await Executor(cluster).run([create("a")])
    assert (outcome.result, outcome.is_success) == (Result.TAKEN, False)
    assert "already exists, and is controlled by Pod somebody" in outcome.message


async def test_a_create_waits_for_a_namesake_that_is_leaving():
    cluster = await make_cluster()
    held = config_map("a", "me")
    held["metadata"]["finalizers"] = ["example.com/held"]
    await cluster.create(CONFIGMAP, "lab", held)
    await cluster.delete(Address(CONFIGMAP, "lab", "a"))
    [outcome] = await Executor(cluster).run([create("a")])
    assert outcome.result is Result.CONFLICT


async def test_a_delete_of_what_is_gone_or_another_is_a_success():
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("a"))
    actions = [Delete(CONFIGMAP, "lab", "a", "not-this"), Delete(CONFIGMAP, "lab", "b", "u")]
    outcomes = await Executor(cluster).run(actions)
    assert [outcome.result for outcome in outcomes] == [Result.GONE, Result.GONE]
    # A conflict says that something is there; only a 404 says that it has gone.
    assert [outcome.is_unknown for outcome in outcomes] == [True, False]
    assert len((await cluster.list(Selection(CONFIGMAP, "lab"))).items) == 1


async def test_a_patch_of_what_is_gone_is_a_conflict():
    [outcome] = await Executor(await make_cluster()).run([patch("nobody", a="b")])
    assert outcome.result is Result.CONFLICT


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (Invalid("bad field"), Result.REFUSED),
        (Forbidden("exceeded quota"), Result.REFUSED),
        (InternalError("failed calling webhook"), Result.FAILED),
        (Unavailable("gone"), Result.FAILED),
        (KohortError("no credentials"), Result.FAILED),
    ],
)
async def test_errors_have_different_results_by_what_helps(error: KohortError, result: Result):
    [outcome] = await Executor(Failing(error)).run([patch("a", b="c")])  # type: ignore[arg-type]
    assert (outcome.result, outcome.message) == (result, str(error))


async def test_a_refused_template_costs_one_request():
    cluster = Failing(Invalid("bad template"))
    actions = [create(f"a-{n}") for n in range(100)]
    outcomes = await Executor(cluster).run(actions)  # type: ignore[arg-type]
    assert cluster.calls["create"] == 1
    assert Counter(o.result for o in outcomes) == {Result.REFUSED: 1, Result.SKIPPED: 99}
    assert {o.message for o in outcomes} == {"bad template"}


async def test_creates_start_slowly_and_other_actions_do_not_wait_for_them():
    cluster = Failing(Invalid("no more"), after=4)
    actions = [*(create(f"a-{n}") for n in range(50)), *(patch(f"p-{n}") for n in range(9))]
    await Executor(cluster).run(actions)  # type: ignore[arg-type]
    # Two followed each of the four that succeeded.
    assert cluster.calls == {"create": 1 + 2 * 4, "patch": 9}


class Recording:
    """A cluster that notes the order of creates; it refuses one, and stores one only after that."""

    def __init__(self, refused: str = "", late: str = "") -> None:
        self.refused, self.late = refused, late
        self.made: list[str] = []
        self._has_refused = asyncio.Event()

    async def create(self, kind: Any, namespace: str, obj: Object) -> Object:
        name = name_of(obj)
        self.made.append(name)
        if name == self.refused:
            self._has_refused.set()
            raise Invalid("bad template")
        if name == self.late:
            await self._has_refused.wait()
        return {**obj, "metadata": {**obj["metadata"], "uid": f"uid of {name}"}}


def owner(name: str, *children: str) -> Create:
    """A create whose children bear the uid of the stored object."""

    def follow(stored: Object) -> list[Create]:
        return [create(child, uid_of(stored)) for child in children]

    return replace(create(name), then=follow)


async def test_children_follow_from_their_owner_as_it_is_stored():
    cluster = await make_cluster()
    outcomes = await Executor(cluster).run([owner("a", "a-0", "a-1"), create("b")])
    assert [name_of(o.action.obj) for o in outcomes] == ["a", "b", "a-0", "a-1"]  # type: ignore[union-attr]
    found = await cluster.read(Address(CONFIGMAP, "lab", "a-1"))
    assert outcomes[0].stored is not None
    assert found["metadata"]["ownerReferences"][0]["uid"] == uid_of(outcomes[0].stored)


async def test_children_of_children_follow_too():
    cluster = await make_cluster()
    top = replace(create("a"), then=lambda _: [owner("b", "c")])
    outcomes = await Executor(cluster).run([top])
    assert [o.result for o in outcomes] == [Result.DONE] * 3
    assert len((await cluster.list(Selection(CONFIGMAP, "lab"))).items) == 3


async def test_an_apply_that_creates_is_followed_and_one_that_changes_is_not():
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("old"))
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    actions = [
        Patch(
            Address(CONFIGMAP, "lab", name),
            {**kind, "metadata": {"name": name}, "data": {"a": "b"}},
            PatchType.APPLY,
            "me",
            makes=True,
            then=lambda stored: [create(f"child-of-{name_of(stored)}")],
        )
        for name in ("old", "new")
    ]
    await Executor(cluster).run(actions)
    held = (await cluster.list(Selection(CONFIGMAP, "lab"))).items
    assert {name_of(orjson.loads(raw)) for raw in held} == {"old", "new", "child-of-new"}


async def test_nothing_follows_from_an_object_that_existed():
    """Its children may be anywhere, which the caches will show."""
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("a", "me"))
    outcomes = await Executor(cluster).run([owner("a", "a-0")])
    assert [outcome.result for outcome in outcomes] == [Result.EXISTS]


async def test_a_refused_child_costs_one_request_for_all_owners():
    cluster = Failing(Invalid("bad template"), after=1)
    actions = [replace(create("a"), then=lambda _: [create(f"a-{n}") for n in range(100)])]
    outcomes = await Executor(cluster).run(actions)  # type: ignore[arg-type]
    assert cluster.calls["create"] <= 3
    assert {o.result for o in outcomes} == {Result.DONE, Result.REFUSED, Result.SKIPPED}


async def test_units_are_complete_one_after_the_other():
    cluster = Recording()
    await Executor(cluster, at_once=1).run([owner("a", "a-1", "a-2"), owner("b", "b-1", "b-2")])  # type: ignore[arg-type]
    assert cluster.made == ["a", "a-1", "a-2", "b", "b-1", "b-2"]


@pytest.mark.parametrize(("refused", "late"), [("b", "c"), ("c", "b")])
async def test_after_a_refusal_nothing_follows_what_succeeds_later(refused: str, late: str):
    cluster = Recording(refused, late)
    actions = [create("a"), owner("b", "b-1"), owner("c", "c-1")]
    outcomes = await Executor(cluster).run(actions)  # type: ignore[arg-type]
    assert (outcomes[3].result, f"{late}-1" in cluster.made) == (Result.SKIPPED, False)


async def test_the_key_waits_for_what_followed():
    cluster = await make_cluster()
    cache = CacheWriter(Selection(CONFIGMAP), orjson.loads)
    cache.apply(Init())
    cache.apply(Ready("1"))
    marks = Watermarks([cache.reader])
    first, last = await Executor(cluster, marks).run([owner("a", "a-0")], key="k")
    assert first.stored is not None and last.stored is not None
    cache.apply(Mark(first.stored["metadata"]["resourceVersion"]))
    assert not marks.is_caught_up("k")
    cache.apply(Mark(last.stored["metadata"]["resourceVersion"]))
    assert marks.is_caught_up("k")


async def test_who_does_not_lead_does_not_write():
    cluster = await make_cluster()
    outcomes = await Executor(cluster, may_write=lambda: False).run([create("a"), patch("b")])
    assert {outcome.result for outcome in outcomes} == {Result.SKIPPED}
    assert not (await cluster.list(Selection(CONFIGMAP, "lab"))).items


async def test_the_key_waits_for_what_it_wrote():
    cluster = await make_cluster()
    cache = CacheWriter(Selection(CONFIGMAP), orjson.loads)
    cache.apply(Init())
    cache.apply(Ready("1"))
    marks = Watermarks([cache.reader])
    [outcome] = await Executor(cluster, marks).run([create("a")], key="k")
    assert not marks.is_caught_up("k")
    assert outcome.stored is not None
    cache.apply(Mark(outcome.stored["metadata"]["resourceVersion"]))
    assert marks.is_caught_up("k")


async def test_an_object_that_another_client_deleted_is_not_deleted_again():
    cluster = Failing(NotFound("gone"))
    cache = CacheWriter(Selection(CONFIGMAP), orjson.loads)
    cache.apply(Init())
    for name, leaving in (("here", None), ("leaving", "2026-01-01T00:00:00Z"), ("new", None)):
        cache.apply(Put(Metadata(name, "lab", f"uid of {name}", "1", leaving), b"{}"))
    cache.apply(Ready("1"))
    uids = {"here": "uid of here", "leaving": "uid of leaving", "new": "uid of old", "gone": "u"}
    actions = [Delete(CONFIGMAP, "lab", name, uid) for name, uid in uids.items()]
    outcomes = await Executor(cluster, Watermarks([cache.reader])).run(actions)  # type: ignore[arg-type]
    assert {outcome.result for outcome in outcomes} == {Result.GONE}
    assert cluster.calls == {"delete": 1}


def test_what_the_server_did_not_keep_is_named():
    asked = {"spec": {"a": 1, "gone": {"x": 2}, "list": [{"k": "1000m"}, {"k": "2"}]}}
    stored = {"spec": {"a": 1, "list": [{"k": "1"}, {"k": "2"}], "other": 3}}
    assert find_dropped(asked, stored) == {"spec.gone.x", "spec.list[0].k"}


async def test_an_outcome_names_what_was_dropped_of_a_patch():
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("a"))
    body = {"data": {"k": "v"}, "pruned": True}
    address = Address(CONFIGMAP, "lab", "a")
    [outcome] = await Executor(cluster).run([Patch(address, body, PatchType.MERGE)])
    assert outcome.dropped == {"pruned"}


async def test_what_goes_whenever_it_is_made_is_made_more_and_more_slowly():
    cluster = await make_cluster()
    seconds = 0.0
    executor = Executor(cluster, elapsed=lambda: seconds)
    results = []
    for _ in range(600):
        [outcome] = await executor.run([create("a")])
        results.append(outcome.result)
        if outcome.stored is not None:
            await cluster.delete(Address(CONFIGMAP, "lab", "a"))
        seconds += 0.1
    assert set(results) == {Result.DONE, Result.FAILED}
    assert results[:5] == [Result.DONE] * 5
    assert results.count(Result.DONE) < 12


async def test_what_is_made_now_and_then_is_made_at_once():
    cluster = await make_cluster()
    seconds = 0.0
    executor = Executor(cluster, elapsed=lambda: seconds)
    for _ in range(20):
        [outcome] = await executor.run([create("a")])
        assert outcome.result is Result.DONE
        await cluster.delete(Address(CONFIGMAP, "lab", "a"))
        seconds += 3.0
