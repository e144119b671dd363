"""What a user is told: status, conditions, events and the scale subresource."""

from collections import Counter
from typing import Any

import orjson
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas
from operator_truth import Truth

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.apiserver.store.entries import Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType


class Statuses:
    """Every status that was stored."""

    def __init__(self, lab: Lab) -> None:
        self.seen: list[Object] = []
        self.times: list[float] = []
        self._lab = lab
        lab.api.store.subscribe(lab.api.registry.of(LWS).bucket, self._take)

    def _take(self, event: Event) -> None:
        obj = event.entry.decode()
        status = obj.get("status")
        if status and (not self.seen or self.seen[-1]["status"] != status):
            self.seen.append(obj)
            self.times.append(self._lab.clock.elapsed())

    def types(self) -> set[str]:
        return {c["type"] for obj in self.seen for c in obj["status"]["conditions"]}


def notes(lab: Lab) -> list[tuple[str, str, str]]:
    """Type, reason and note of what was told about the workload."""
    events = lab.all(kinds.EVENT)
    found = [e for e in events if e["involvedObject"]["kind"] == "LeaderWorkerSet"]
    return [(e["type"], e["reason"], e["message"]) for e in found]


async def bring_up(lab: Lab, **more: Any) -> None:
    await lab.apply(make_lws(**{"groups": 2, "size": 2, **more}))
    await lab.until(lab.is_available)
    await lab.run(5)


async def test_at_creation_nothing_is_updating(lab: Lab):
    """lws#400."""
    statuses = Statuses(lab)
    await bring_up(lab)
    await lab.edit("x", set_replicas(3))
    await lab.until(lab.is_available)
    assert statuses.types() == {"Available", "Progressing"}
    first = statuses.seen[0]["status"]
    selector = "leaderworkerset.sigs.k8s.io/name=x,leaderworkerset.sigs.k8s.io/worker-index=0"
    assert first["hpaPodSelector"] == selector
    assert first["conditions"][0]["type"] == "Progressing"


async def test_conditions_exclude_each_other_and_keep_their_words(lab: Lab):
    statuses = Statuses(lab)
    await bring_up(lab)
    await lab.edit("x", set_image("engine:2"))
    await lab.run(3)
    held = {c["type"]: c for c in lab.lws()["status"]["conditions"]}
    assert held["Available"]["status"] == "False"
    assert held["Available"]["message"] == "All replicas are ready"
    assert held["UpdateInProgress"]["status"] == held["Progressing"]["status"] == "True"
    await lab.until(lab.is_available)
    for obj in statuses.seen:
        true = {c["type"] for c in obj["status"]["conditions"] if c["status"] == "True"}
        assert true in ({"Available"}, {"Progressing"}, {"Progressing", "UpdateInProgress"})


async def test_every_condition_has_seen_the_same_generation(lab: Lab):
    statuses = Statuses(lab)
    await bring_up(lab)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    for obj in statuses.seen:
        status = obj["status"]
        seen = {c["observedGeneration"] for c in status["conditions"]}
        assert seen == {status["observedGeneration"]}
        assert status["observedGeneration"] <= obj["metadata"]["generation"]


async def test_times_of_conditions_move_only_with_their_status(lab: Lab):
    statuses = Statuses(lab)
    await bring_up(lab, groups=3)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    last: dict[str, Object] = {}
    for obj in statuses.seen:
        for condition in obj["status"]["conditions"]:
            old = last.get(condition["type"])
            if old is not None:
                moved = old["lastTransitionTime"] != condition["lastTransitionTime"]
                assert not moved or old["status"] != condition["status"]
                assert old["lastTransitionTime"] <= condition["lastTransitionTime"]
            last[condition["type"]] = condition


async def test_the_status_is_never_ahead_of_the_truth(lab: Lab):
    """T2 and T3: what is said to be ready was ready, and available means all of it."""
    truth = Truth(lab)
    ready: list[int] = []
    lab.api.store.subscribe(
        lab.api.registry.of(kinds.POD).bucket, lambda event: ready.append(len(truth.ready()))
    )
    wrong: list[Object] = []

    def check(event: Event) -> None:
        status = event.entry.decode().get("status") or {}
        if status.get("readyReplicas", 0) > max(ready[-40:], default=0):
            wrong.append(status)
        if status.get("updatedReplicas", 0) > status.get("replicas", 0):
            wrong.append(status)

    lab.api.store.subscribe(lab.api.registry.of(LWS).bucket, check)
    await bring_up(lab, groups=3)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.delete(kinds.POD, "x-0-1", grace_seconds=0)
    await lab.run(60)
    assert wrong == []


async def test_the_status_is_written_at_most_once_a_second_until_all_is_ready(lab: Lab):
    statuses = Statuses(lab)
    await bring_up(lab, groups=6)
    gaps = [b - a for a, b in zip(statuses.times, statuses.times[1:], strict=False)]
    assert len(gaps) > 1 and min(gaps[:-1]) >= 0.99


async def test_the_status_that_says_ready_does_not_wait_for_its_second(lab: Lab):
    statuses, truth, ready_at = Statuses(lab), Truth(lab), []

    def note(event: Event) -> None:
        if len(truth.ready()) == 6:
            ready_at.append(lab.clock.elapsed())

    lab.api.store.subscribe(lab.api.registry.of(kinds.POD).bucket, note)
    await bring_up(lab, groups=6)
    assert statuses.times[-1] - statuses.times[-2] < 0.99
    assert statuses.times[-1] - ready_at[0] < 0.2


EXPECTED = (
    ("Normal", "GroupsProgressing", "Created leader statefulset x"),
    ("Normal", "GroupsProgressing", "Created worker statefulset for leader pod x-0"),
    (
        "Normal",
        "GroupsProgressing",
        "Replicas are progressing, with 0 groups ready of total 2 groups",
    ),
    ("Normal", "AllGroupsReady", "All replicas are ready, with 2 groups ready of total 2 groups"),
    ("Normal", "GroupsUpdating", "Updating replica 1"),
    ("Normal", "GroupsProgressing", "deleting surge replica x-2"),
    (
        "Normal",
        "RecreateGroup",
        "Worker pod x-1-1 failed, deleted leader pod x-1 to recreate group 1",
    ),
)


async def test_events_have_upstreams_words(lab: Lab):
    await bring_up(lab, groups=2, rollout={"maxUnavailable": 1, "maxSurge": 1})
    first = lab.find(kinds.STATEFUL_SET, "x")
    assert first is not None
    key = first["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/template-revision-hash"]
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.delete(kinds.POD, "x-1-1")
    await lab.run(60)
    told = notes(lab)
    text = f"Creating revision with key {key} for a newly created LeaderWorkerSet"
    for expected in (("Normal", "CreatingRevision", text), *EXPECTED):
        assert expected in told, told


async def test_nothing_is_told_twice(lab: Lab):
    await bring_up(lab)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    told = Counter(note for note in notes(lab) if note[1] in ("CreatingRevision", "GroupsUpdating"))
    assert set(told.values()) == {1}


async def test_a_refused_write_is_told(lab: Lab):
    await bring_up(lab)
    probe = {"exec": {"command": ["true"]}}
    value = [{"name": "init", "image": "i", "readinessProbe": probe}]
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/initContainers"
    await lab.edit("x", {"op": "add", "path": path, "value": value})
    await lab.run(60)
    failures = [note for note in notes(lab) if note[1] == "FailedUpdate"]
    assert len(failures) == 1
    assert failures[0][0] == "Warning"
    assert failures[0][2].startswith("Failed to update leader statefulset x: ")


async def test_scale_goes_both_ways(lab: Lab):
    """T8."""
    await bring_up(lab)
    target = lab.api.target(LWS, "default", "x", "scale")
    scale = orjson.loads(lab.api.read(target).raw)
    assert scale["spec"]["replicas"] == scale["status"]["replicas"] == 2
    assert scale["status"]["selector"] == lab.lws()["status"]["hpaPodSelector"]
    await lab.edit("x", {"op": "replace", "path": "/spec/replicas", "value": 3})
    await lab.until(lab.is_available)
    again = orjson.loads(lab.api.read(target).raw)
    assert again["status"]["replicas"] == 3


async def test_a_selector_that_another_writer_changed_is_put_back(lab: Lab):
    await bring_up(lab)
    right = lab.lws()["status"]["hpaPodSelector"]
    status = lab.api.target(LWS, "default", "x", "status")
    wrong = {"op": "replace", "path": "/status/hpaPodSelector", "value": "app=victim"}
    await lab.api.patch(status, PatchBody(PatchType.JSON, [wrong]), WriteOptions())
    await lab.run(5)
    assert lab.lws()["status"]["hpaPodSelector"] == right


async def test_the_last_ten_revisions_are_kept_for_undo(lab: Lab):
    await bring_up(lab, groups=1, size=1)
    for number in range(2, 14):
        await lab.edit("x", set_image(f"engine:{number}"))
        await lab.until(lab.is_available)
        await lab.run(3)
    uid = lab.lws()["metadata"]["uid"]
    own = [
        r
        for r in lab.all(kinds.CONTROLLER_REVISION)
        if r["metadata"]["ownerReferences"][0]["uid"] == uid
    ]
    kept = [r for r in own if "kohort.dev/history-of" in r["metadata"]["labels"]]
    assert len(own) == 11
    assert sorted(r["revision"] for r in kept) == list(range(3, 13))
    for revision in kept:
        assert revision["metadata"]["labels"] == {"kohort.dev/history-of": "x"}


async def test_an_unknown_strategy_is_reported(lab: Lab):
    lab.break_webhooks()
    await lab.apply(make_lws(annotations={"kohort.dev/rollout-strategy": "brave"}))
    await lab.run(10)
    stalled = lab.lws()["status"]["conditions"][0]
    assert (stalled["type"], stalled["reason"]) == ("Stalled", "UnknownStrategy")
    assert "budgeted or compatible" in stalled["message"]
