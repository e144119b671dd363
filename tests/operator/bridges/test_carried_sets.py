"""LeaderWorkerSets that a ModelServing carries: made, scaled, rolled, and never fought over."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from edits import edit_as
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas

from kohort.apis.bridges.carried_lws import carry_by_serving
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.apiserver.store.entries import Event
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object, find_condition, labels_of, name_of

CARRIED = {"kohort.dev/carrier": "modelserving"}
FORCE = "kohort.dev/force"
FORCED = {**CARRIED, FORCE: "true"}
PREFIX = "leaderworkerset.sigs.k8s.io/"
SERVING = MODEL_SERVING.kind
NOTES = "/metadata/annotations"


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    apis = (carry_by_serving(LEADER_WORKER_SET), MODEL_SERVING, FORMER_MODEL_SERVING)
    found = await Lab(apis=apis).open()
    yield found
    await found.close()


def pods(lab: Lab) -> dict[str, Object]:
    return {name_of(pod): pod for pod in lab.all(kinds.POD)}


def images(lab: Lab) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods(lab).values()}


def stalled(lab: Lab) -> tuple[str, str]:
    found = find_condition(lab.lws(), "Stalled") or {}
    return (found["reason"], found["message"]) if found.get("status") == "True" else ("", "")


async def start(lab: Lab, **more: Any) -> None:
    await lab.apply(make_lws(size=2, annotations=CARRIED, **more))
    await lab.until(lab.is_available, 120)


class TestLife:
    async def test_lws_api_basic(self, lab: Lab):
        """Upstream's case of that name: an owner, four labels, and deletes cascade."""
        await lab.apply(make_lws("test-lws-basic", groups=1, size=2, annotations=CARRIED))
        await lab.until(lambda: lab.is_available("test-lws-basic"), 120)
        serving = lab.find(SERVING, "test-lws-basic") or {}
        owner = serving["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["controller"]) == ("LeaderWorkerSet", True)
        for index, pod in enumerate(pods(lab).values()):
            marks = labels_of(pod)
            assert marks[PREFIX + "name"] == "test-lws-basic"
            assert (marks[PREFIX + "group-index"], marks[PREFIX + "worker-index"]) == (
                "0",
                str(index),
            )
            assert marks[PREFIX + "group-key"] == "f8ab6bc7fcb8e636876e97f9ca1e93cbcad513ac"
        await lab.delete(LWS, "test-lws-basic")
        await lab.until(lambda: not pods(lab) and lab.find(SERVING, "test-lws-basic") is None)

    async def test_no_set_stands_beside_the_model_serving(self, lab: Lab):
        await start(lab)
        assert lab.all(kinds.STATEFUL_SET) == []
        assert sorted(pods(lab)) == [f"x-{g}-default-0-{i}" for g in (0, 1) for i in (0, 1)]

    async def test_the_status_is_that_of_a_leader_worker_set(self, lab: Lab):
        await start(lab)
        status = lab.lws()["status"]
        assert [status[k] for k in ("replicas", "readyReplicas", "updatedReplicas")] == [2, 2, 2]
        assert status["hpaPodSelector"] == f"{PREFIX}name=x,{PREFIX}worker-index=0"

    async def test_at_rest_nothing_is_written(self, lab: Lab):
        await start(lab)
        await lab.run(30)
        before = lab.api.store.revision
        await lab.run(600)
        assert lab.api.store.revision == before

    async def test_scale_and_rollout_reach_the_pods(self, lab: Lab):
        await start(lab)
        await lab.edit("x", set_replicas(3), set_image("engine:2"))
        await lab.run(1)
        assert not lab.is_available()
        await lab.until(lab.is_available, 300)
        assert (images(lab), len(pods(lab))) == ({"engine:2"}, 6)

    async def test_no_generation_is_called_available_before_its_pods_are(self, lab: Lab):
        await start(lab, groups=3)
        early: list[set[str]] = []

        def on_change(event: Event) -> None:
            if event.entry.decode()["metadata"]["generation"] > 1 and lab.is_available():
                early.append(images(lab) - {"engine:2"})

        lab.api.store.subscribe(lab.api.registry.of(LWS).bucket, on_change)
        lab.cluster.hold(SERVING.name)
        await lab.edit("x", set_image("engine:2"))
        await lab.run(5)
        lab.cluster.release()
        await lab.until(lambda: bool(early), 300)
        assert early == [set()] * len(early)

    async def test_what_is_taken_out_of_the_set_is_taken_out_of_the_model_serving(self, lab: Lab):
        await start(lab, rollout={"maxSurge": 1, "maxUnavailable": 1})
        serving = lab.find(SERVING, "x") or {}
        assert serving["metadata"]["annotations"]["kohort.dev/max-surge"] == "1"
        path = "/spec/rolloutStrategy/rollingUpdateConfiguration/maxSurge"
        await lab.edit("x", {"op": "replace", "path": path, "value": 0})
        await lab.run(10)
        serving = lab.find(SERVING, "x") or {}
        assert "kohort.dev/max-surge" not in serving["metadata"].get("annotations", {})

    async def test_edits_of_the_model_serving_are_put_back(self, lab: Lab):
        await start(lab)
        operation = {"op": "replace", "path": "/spec/replicas", "value": 5}
        await lab.edit("x", operation, kind=SERVING)
        await lab.run(60)
        assert (lab.find(SERVING, "x") or {})["spec"]["replicas"] == 2
        assert lab.is_available()


class TestRefusals:
    async def test_a_set_with_pods_is_not_switched(self, lab: Lab):
        await lab.apply(make_lws(size=2))
        await lab.until(lab.is_available)
        with pytest.raises(ClusterError, match="the set has pods, and another carrier"):
            await lab.edit("x", {"op": "add", "path": NOTES, "value": CARRIED})

    async def test_a_set_that_was_switched_past_admission_says_why_it_waits(self, lab: Lab):
        await lab.apply(make_lws(size=2))
        await lab.until(lab.is_available)
        before = {name: pod["metadata"]["uid"] for name, pod in pods(lab).items()}
        lab.remove_webhooks()
        await lab.edit("x", {"op": "add", "path": NOTES, "value": CARRIED})
        await lab.run(30)
        assert stalled(lab)[0] == "HasPods"
        assert {name: pod["metadata"]["uid"] for name, pod in pods(lab).items()} == before
        assert lab.find(SERVING, "x") is None

    async def test_by_force_the_pods_of_the_other_carrier_go(self, lab: Lab):
        await lab.apply(make_lws(size=2))
        await lab.until(lab.is_available)
        await lab.edit("x", {"op": "add", "path": NOTES, "value": FORCED})
        await lab.until(lambda: lab.is_available() and lab.all(kinds.STATEFUL_SET) == [], 300)
        assert FORCE not in (lab.find(SERVING, "x") or {})["metadata"].get("annotations", {})
        assert sorted(pods(lab)) == [f"x-{g}-default-0-{i}" for g in (0, 1) for i in (0, 1)]

    @pytest.mark.parametrize("policy", ["Shared", "UniquePerReplica"])
    async def test_by_force_the_services_of_the_other_carrier_go_too(self, lab: Lab, policy: str):
        """Those of the ModelServing have the same names; it would wait for ever."""
        spec = {"networkConfig": {"subdomainPolicy": policy}}
        await lab.apply(make_lws(size=2, spec=spec))
        await lab.until(lab.is_available)
        await lab.edit("x", {"op": "add", "path": NOTES, "value": FORCED})
        await lab.until(lambda: lab.is_available() and lab.all(kinds.STATEFUL_SET) == [], 300)
        await lab.run(60)
        found = [s for s in lab.all(kinds.SERVICE) if name_of(s) != "kubernetes"]
        owners = {s["metadata"]["ownerReferences"][0]["kind"] for s in found}
        assert owners == {SERVING.name}
        wanted = {"x"} if policy == "Shared" else {"x-0", "x-1"}
        assert wanted <= {name_of(service) for service in found}
        told = find_condition(lab.find(SERVING, "x") or {}, "Stalled") or {}
        assert told.get("status") != "True"

    async def test_by_force_the_set_takes_its_pods_back(self, lab: Lab):
        """The ModelServing goes with all that it has, before the set makes pods of its own."""
        await start(lab)
        await lab.edit("x", {"op": "replace", "path": NOTES, "value": {FORCE: "true"}})
        await lab.until(lambda: bool(lab.all(kinds.STATEFUL_SET)), 120)
        assert lab.find(SERVING, "x") is None
        assert not [name for name in pods(lab) if "-default-" in name]
        await lab.until(lab.is_available, 300)
        assert sorted(pods(lab)) == ["x-0", "x-0-1", "x-1", "x-1-1"]
        assert stalled(lab) == ("", "")

    async def test_without_force_its_model_serving_keeps_the_pods(self, lab: Lab):
        await start(lab)
        gone = {"op": "replace", "path": NOTES, "value": {}}
        with pytest.raises(ClusterError, match="the set has pods, and another carrier"):
            await lab.edit("x", gone)
        lab.remove_webhooks()
        await lab.edit("x", gone)
        await lab.run(60)
        assert stalled(lab)[0] == "HasPods"
        assert "ModelServing x carries" in stalled(lab)[1]
        assert lab.find(SERVING, "x") is not None and lab.all(kinds.STATEFUL_SET) == []

    async def test_sets_of_another_controller_are_not_fought(self, lab: Lab):
        """What another controller makes stays, forced or not, and nothing more is written."""
        await lab.apply(make_lws(size=2, annotations=FORCED))
        await lab.until(lab.is_available, 120)
        await lab.run(60)
        uid = lab.lws()["metadata"]["uid"]
        await lab.apply(foreign_set(uid))
        await lab.run(60)
        assert stalled(lab)[0] == "AnotherController"
        assert "StatefulSet x was made for LeaderWorkerSet x after" in stalled(lab)[1]
        before = lab.api.store.revision
        await lab.run(300)
        assert lab.api.store.revision == before
        assert lab.find(kinds.STATEFUL_SET, "x") is not None

    async def test_a_model_serving_of_that_name_is_not_taken(self, lab: Lab):
        serving = {
            "apiVersion": SERVING.api_version,
            "kind": SERVING.name,
            "metadata": {"name": "x", "labels": {PREFIX + "name": "x"}},
        }
        template = {"spec": {"containers": [{"name": "mine", "image": "mine:1"}]}}
        role = {"name": "mine", "workerReplicas": 0, "entryTemplate": template}
        spec = {"replicas": 1, "schedulerName": "default-scheduler", "template": {"roles": [role]}}
        await lab.apply({**serving, "spec": spec})
        await lab.apply(make_lws(size=2, annotations=CARRIED))
        await lab.run(30)
        assert stalled(lab)[0] == "NameTaken"
        assert images(lab) == {"mine:1"}

    async def test_what_a_model_serving_has_no_word_for_is_named(self, lab: Lab):
        spec = {"startupPolicy": "LeaderReady"}
        await lab.apply(make_lws(size=2, annotations=CARRIED, spec=spec))
        await lab.run(10)
        assert stalled(lab)[0] == "NotConvertible"
        assert "spec.startupPolicy" in stalled(lab)[1]
        assert pods(lab) == {}


def foreign_set(owner: str) -> Object:
    """A leader set as another controller makes it."""
    marks = {PREFIX + "name": "x", PREFIX + "worker-index": "0"}
    template = {
        "metadata": {"labels": marks},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    reference = {"apiVersion": LWS.api_version, "kind": LWS.name, "name": "x", "uid": owner}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": "x",
            "labels": {PREFIX + "name": "x"},
            "ownerReferences": [{**reference, "controller": True}],
        },
        "spec": {
            "serviceName": "x",
            "replicas": 0,
            "selector": {"matchLabels": marks},
            "template": template,
        },
    }


def test_the_operator_may_delete_what_a_switch_takes_away():
    """StatefulSets, pods and Services one way, the ModelServing the other; the lab forbids none."""
    grants = [g for g in carry_by_serving(LEADER_WORKER_SET).writes if "delete" in g.verbs]
    assert {grant.kind for grant in grants} >= {
        *(kinds.STATEFUL_SET, kinds.POD, kinds.SERVICE),
        SERVING,
    }


@pytest.mark.parametrize("writes", [1, 2, 3, 5, 8])
async def test_an_operator_that_ends_after_any_write_is_followed_by_one_that_goes_on(
    lab: Lab, writes: int
):
    lab.cluster.left = writes
    await lab.apply(make_lws(size=2, annotations=CARRIED))
    await lab.until(lambda: lab.cluster.is_dead)
    await lab.stop_operator()
    lab.start_operator()
    await lab.until(lab.is_available, 120)
    lab.cluster.left = writes
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: lab.cluster.is_dead)
    await lab.stop_operator()
    lab.start_operator()
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"}, 300)
    assert len(pods(lab)) == 4
    assert len(lab.all(SERVING)) == 1


async def test_other_sets_are_carried_as_before(lab: Lab):
    await lab.apply(make_lws(size=2))
    await lab.until(lab.is_available)
    assert len(lab.all(kinds.STATEFUL_SET)) == 3
    await edit_as(lab, "user", {"metadata": {"labels": {"a": "b"}}}, "x-0", kinds.POD)
    await lab.until(lab.is_available)
