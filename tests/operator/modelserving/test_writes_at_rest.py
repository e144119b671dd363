"""What the operator writes and deletes beside a ModelServing that rests, and what it leaves."""

from copy import deepcopy
from dataclasses import replace

import orjson
import pytest
from serving_lab import KIND, ServingLab, start

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.modelserving.render import KEPT_MAX
from kohort.apis.modelserving.revision import make_revision
from kohort.cluster.actions import Action, Delete, Patch, kind_of
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object
from kohort.planning.plan import plan

NOW = 1_800_000_000.0


@pytest.fixture
async def seen(lab: ServingLab) -> Snapshot:
    """A ModelServing at rest, as the operator sees it."""
    await start(lab)
    controller = next(c for c in lab.operator.controllers if c.api.kind == KIND)
    root = controller.roots.find(("default", "x"))
    assert root is not None
    return controller.gather(("default", "x"), root)


def decide(snapshot: Snapshot) -> tuple[Action, ...]:
    reading = MODEL_SERVING.read(snapshot)
    decided = plan(reading.workload, reading.observed, NOW)
    return MODEL_SERVING.render(snapshot, reading, decided)


def pod_group(name: str, owner: str) -> Whole:
    reference = {"apiVersion": KIND.api_version, "kind": KIND.name, "name": "x", "uid": owner}
    body: Object = {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.name,
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": "of-the-gang",
            "labels": {"modelserving.volcano.sh/name": "x"},
            "ownerReferences": [{**reference, "controller": True}],
        },
        "spec": {"minMember": 1},
    }
    return Whole(orjson.dumps(body))


async def test_new_counts_are_written_to_the_pods_that_were_seen(seen: Snapshot):
    """A pod of that name may be another by now, with counts of its own."""
    root = {**seen.root, "spec": {**seen.root["spec"], "replicas": 3}}
    patches = [a for a in decide(replace(seen, root=root)) if isinstance(a, Patch)]
    uids = {pod.metadata.name: pod.metadata.uid for pod in seen.all(MODEL_SERVING.members)}
    told = {patch.address.name: patch.patch["metadata"].get("uid") for patch in patches}
    assert told == uids


@pytest.mark.parametrize(("is_ours", "goes"), [(True, True), (False, False)])
async def test_a_gang_that_no_group_needs_goes_if_it_is_ours(
    seen: Snapshot, is_ours: bool, goes: bool
):
    owner = seen.root["metadata"]["uid"] if is_ours else "another"
    children = {**seen.children, POD_GROUP: (pod_group("x-7", owner),)}
    found = [a for a in decide(replace(seen, children=children)) if kind_of(a) == POD_GROUP]
    assert [isinstance(action, Delete) for action in found] == [True] * goes


async def test_the_oldest_revisions_go_when_there_are_too_many(seen: Snapshot):
    """A user goes back to what served last, which is among the newest."""
    (current,) = seen.all(CONTROLLER_REVISION)
    old = []
    for number in range(KEPT_MAX + 2):
        root = deepcopy(seen.root)
        for role in root["spec"]["template"]["roles"]:
            role["entryTemplate"]["spec"]["containers"][0]["image"] = f"engine:old-{number}"
        stored = make_revision(root, f"old{number}", number - 100, {})
        stored["metadata"]["uid"] = f"uid-{number}"
        old.append(Whole(orjson.dumps(stored)))
    children = {**seen.children, CONTROLLER_REVISION: (*reversed(old), current)}
    gone = [a for a in decide(replace(seen, children=children)) if isinstance(a, Delete)]
    assert [action.name for action in gone] == ["x-old0", "x-old1"]
