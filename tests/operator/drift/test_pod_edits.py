"""Another client edits pods in place: their groups are made anew within the budget, and named."""

from collections import Counter

import pytest
from edits import edit_as
from operator_lab import Lab, make_lws
from pods_truth import is_serving
from test_group_edits import images, rest

from kohort.apiserver.store.entries import ChangeType, Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition, is_leaving

PREFIX = "leaderworkerset.sigs.k8s.io/"
REVISION = f"{PREFIX}template-revision-hash"


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Census:
    """How many groups of two serve, by the names of their pods: labels are what is edited here."""

    def __init__(self, lab: Lab) -> None:
        self._pods: dict[str, Object] = {}
        self.least: int | None = None  # since it was last reset
        self.made: Counter[str] = Counter()
        # How many groups served when the operator gave up one of them, that one included.
        self.served_at_deletes: list[int] = []
        bucket = lab.api.registry.of(kinds.POD).bucket
        lab.api.store.subscribe(bucket, self._on_pod)

    def _on_pod(self, event: Event) -> None:
        pod = event.entry.decode()
        name = pod["metadata"]["name"]
        self._note_delete(name, pod)
        self._pods[name] = pod
        if event.change is ChangeType.DELETED:
            del self._pods[name]
        self.made[name] += event.change is ChangeType.ADDED
        count = len(self._serving())
        self.least = count if self.least is None else min(self.least, count)

    def _serving(self) -> set[str]:
        """The leaders of groups whose pods are all ready."""
        pods = {name for name, pod in self._pods.items() if is_serving(pod)}
        return {f"x-{i}" for i in range(4) if {f"x-{i}", f"x-{i}-1"} <= pods}

    def _note_delete(self, name: str, pod: Object) -> None:
        is_new = name in self._pods and not is_leaving(self._pods[name])
        if is_new and is_leaving(pod) and name in self._serving():
            self.served_at_deletes.append(len(self._serving()))


async def bring_up(
    lab: Lab,
    carrier: str,
    policy: str = "RecreateGroupOnPodRestart",
    strategy: str = "budgeted",
) -> Census:
    census = Census(lab)
    notes = {"kohort.dev/carrier": carrier, "kohort.dev/rollout-strategy": strategy}
    template = {"restartPolicy": policy}
    await lab.apply(make_lws(groups=4, size=2, annotations=notes, template=template))
    await lab.until(lab.is_available)
    await lab.run(20)
    census.least = None
    return census


async def change_image(lab: Lab, pod: str) -> None:
    """``kubectl set image pod/NAME engine=evil:1``."""
    body = {"spec": {"containers": [{"name": "engine", "image": "evil:1"}]}}
    await edit_as(lab, "kubectl-set", body, pod, kinds.POD)


async def change_label(lab: Lab, pod: str, **marks: str | None) -> None:
    """``kubectl label --overwrite pod/NAME …``."""
    held = {PREFIX + key.replace("_", "-"): value for key, value in marks.items()}
    await edit_as(lab, "kubectl-label", {"metadata": {"labels": held}}, pod, kinds.POD)


def drift(lab: Lab) -> str:
    found = find_condition(lab.lws(), "Drifted") or {}
    return str(found.get("message")) if found.get("status") == "True" else ""


@pytest.mark.parametrize("suffix", ["", "-1"])
async def test_pods_with_a_foreign_image_are_rolled_within_the_budget(
    lab: Lab, carrier: str, suffix: str
):
    census = await bring_up(lab, carrier, "None")
    await lab.stop_operator()
    for ordinal in range(4):
        await change_image(lab, f"x-{ordinal}{suffix}")
    # The kubelet starts the container anew, and that is the client's doing.
    await lab.run(20)
    census.least = None
    lab.start_operator()
    await lab.run(1)
    assert f"Pod x-0{suffix}: kubectl-set set spec.containers[engine].image" in drift(lab)
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert any("kubectl-set" in event["message"] for event in events)
    await rest(lab)
    assert census.least == 3
    assert images(lab) == {"engine:1"}


@pytest.mark.parametrize("strategy", ["budgeted", "compatible"])
@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "None"])
async def test_no_group_that_serves_is_given_up_for_an_image_beyond_the_budget(
    lab: Lab, carrier: str, policy: str, strategy: str
):
    """The kubelet takes all groups down at once for such edits; the operator does not."""
    census = await bring_up(lab, carrier, policy, strategy)
    kubelet = next(runner for runner in lab.world.runners if runner.component.name == "kubelet")
    lab.hold_component(kubelet)
    for ordinal in range(4):
        await change_image(lab, f"x-{ordinal}")
    await lab.run(60)
    assert census.served_at_deletes == [4]
    lab.release_component(kubelet)
    await lab.run(10)
    await rest(lab)
    assert min(census.served_at_deletes) == 4
    assert images(lab) == {"engine:1"}


async def test_one_pod_with_a_foreign_image_costs_its_group_alone(lab: Lab, carrier: str):
    census = await bring_up(lab, carrier, "None")
    await change_image(lab, "x-1")
    await lab.run(10)
    await rest(lab)
    assert census.least == 3
    assert [census.made[f"x-{i}"] for i in range(4)] == [1, 2, 1, 1]


async def test_a_pod_that_is_replaced_before_the_status_may_be_written_is_named(
    lab: Lab, carrier: str
):
    """A status that was written a moment ago is not written again at once."""
    await bring_up(lab, carrier, "None")
    await lab.edit("x", {"op": "replace", "path": "/spec/replicas", "value": 5})
    await lab.run(0.1)
    await change_image(lab, "x-1")
    await lab.run(0.3)
    assert drift(lab) == ""
    await lab.run(5)
    said = "Pod x-1: kubectl-set set spec.containers[engine].image; its group is made anew"
    assert drift(lab) == said
    await rest(lab)
    events = [e["message"] for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert events == [said]


@pytest.mark.parametrize("value", ["other", None])
async def test_revisions_of_all_leaders_that_are_edited_roll_within_the_budget(
    lab: Lab, carrier: str, value: str | None
):
    census = await bring_up(lab, carrier)
    for ordinal in range(4):
        await change_label(lab, f"x-{ordinal}", template_revision_hash=value)
    await lab.run(10)
    await rest(lab)
    assert census.least is not None
    assert census.least >= 3


async def test_a_label_that_names_the_old_revision_in_a_rollout_releases_no_group(lab: Lab):
    census = await bring_up(lab, "pods")
    old = (lab.find(kinds.POD, "x-0") or {})["metadata"]["labels"][REVISION]
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
    await lab.edit("x", {"op": "replace", "path": path, "value": "engine:2"})

    def is_halfway() -> bool:
        pod = lab.find(kinds.POD, "x-1")
        return pod is not None and pod["metadata"]["labels"][REVISION] != old

    await lab.until(is_halfway)
    for ordinal in (1, 2, 3):
        if lab.find(kinds.POD, f"x-{ordinal}") is not None:
            await change_label(lab, f"x-{ordinal}", template_revision_hash=old)
    await lab.run(10)
    await rest(lab)
    assert census.least == 3
    assert images(lab) == {"engine:2"}


@pytest.mark.parametrize("value", ["7", None])
@pytest.mark.parametrize("pod", ["x-1", "x-1-1"])
@pytest.mark.parametrize("label", ["group_index", "worker_index"])
async def test_a_label_of_a_place_is_put_back_and_costs_no_pod(
    lab: Lab, carrier: str, pod: str, label: str, value: str | None
):
    census = await bring_up(lab, carrier)
    before = (lab.find(kinds.POD, pod) or {})["metadata"]["labels"]
    await change_label(lab, pod, **{label: value})
    await lab.run(2)
    assert (lab.find(kinds.POD, pod) or {})["metadata"]["labels"] == before
    assert f"Pod {pod}: another client changed" in drift(lab)
    await rest(lab)
    assert max(census.made.values()) == 1


@pytest.mark.parametrize("label", ["group_index", "worker_index"])
async def test_a_label_of_a_place_in_a_rollout_releases_no_group(
    lab: Lab, carrier: str, label: str
):
    """The group below the one that is made anew seems to be missing, and serves all the same."""
    census = await bring_up(lab, carrier)
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
    await lab.edit("x", {"op": "replace", "path": path, "value": "engine:2"})
    await lab.until(lambda: "engine:2" in images(lab))
    assert not is_serving(lab.find(kinds.POD, "x-3") or {})
    await change_label(lab, "x-2", **{label: "7"})
    await rest(lab)
    assert census.least == 3
    assert images(lab) == {"engine:2"}


@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "None"])
@pytest.mark.parametrize("pod", ["x-1", "x-1-1"])
async def test_a_pod_without_the_label_by_which_it_is_watched_is_not_lost_for_ever(
    lab: Lab, carrier: str, pod: str, policy: str
):
    """Its set lets it go and can make no other, since the name is taken."""
    census = await bring_up(lab, carrier, policy)
    await change_label(lab, pod, name=None)
    await lab.run(60)
    await rest(lab)
    assert len((lab.find(kinds.POD, pod) or {})["metadata"]["ownerReferences"]) == 1
    others = {name: count for name, count in census.made.items() if not name.startswith("x-1")}
    assert max(others.values()) == 1
    # A group misses a worker that it does not see, and is made anew once where it is asked to be.
    is_restarted = pod == "x-1-1" and policy != "None"
    assert census.made["x-1"] == (2 if is_restarted else 1)
    assert census.least == 3 or not is_restarted


async def test_a_pod_that_took_a_name_of_ours_without_our_labels_is_left_alone(lab: Lab):
    await bring_up(lab, "statefulsets")
    everything = {"group_key": None, "worker_index": None, "name": None}
    await change_label(lab, "x-1", **everything)
    before = lab.find(kinds.POD, "x-1")
    await lab.run(60)
    assert (lab.find(kinds.POD, "x-1") or {})["metadata"]["labels"] == (before or {})["metadata"][
        "labels"
    ]


async def test_an_edited_leader_that_the_partition_keeps_gets_its_workers(lab: Lab, carrier: str):
    notes = {"kohort.dev/carrier": carrier}
    more = {"startupPolicy": "LeaderReady"}
    template = {"restartPolicy": "None"}
    rollout = {"partition": 4}
    lws = make_lws(
        groups=2, size=2, annotations=notes, template=template, rollout=rollout, spec=more
    )
    await lab.apply(lws)
    await lab.until(lambda: lab.find(kinds.POD, "x-1") is not None)
    await change_image(lab, "x-1")
    assert lab.find(kinds.POD, "x-1-1") is None
    await lab.run(60)
    assert lab.find(kinds.POD, "x-1-1") is not None
