"""What kthena's controller left is taken over: at rest, and in a rollout, within its budget."""

import orjson
import pytest
from serving_lab import KIND, ServingLab

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of, uid_of
from kohort.cluster.port import PatchType
from recorded_servings import Recorded, name_case, needs_recording, recordings

pytestmark = needs_recording
GROUP, REVISION = "modelserving.volcano.sh/group-name", "modelserving.volcano.sh/revision"
INDEX = "modelserving.volcano.sh/group-index"
UNDER_WAY = [
    case
    for case in recordings()
    if any("deletionTimestamp" in pod["metadata"] for pod in case.all("Pod"))
]


def bare(obj: Object, owner: str = "") -> Object:
    """An object as a client makes it, in our namespace and with the owner of now."""
    kept = ("name", "labels", "annotations", "ownerReferences")
    found: Object = orjson.loads(orjson.dumps(obj))
    metadata = {key: found["metadata"][key] for key in kept if key in found["metadata"]}
    for reference in metadata.get("ownerReferences", ()):
        reference["uid"] = owner
    found["metadata"] = {**metadata, "namespace": "default"}
    if obj["kind"] == "Service":
        found["spec"] = {k: v for k, v in found["spec"].items() if k != "clusterIPs"}
    return {key: value for key, value in found.items() if key != "status"}


async def leave(lab: ServingLab, case: Recorded) -> None:
    """Put a recording into the cluster, as its controller would have left it."""
    made = await lab.apply(bare(case.serving))
    status = {**case.serving["status"], "observedGeneration": made["metadata"]["generation"]}
    target = lab.api.target(KIND, "default", name_of(made), "status")
    await lab.api.patch(target, PatchBody(PatchType.MERGE, {"status": status}), WriteOptions())
    nodes = sorted(map(name_of, lab.all(kinds.NODE)))
    for kind in ("ControllerRevision", "Service", "Pod"):
        for place, obj in enumerate(case.all(kind)):
            child = bare(obj, uid_of(made))
            if kind == "Pod" and "nodeName" in child["spec"]:
                # They were placed by Volcano, which this cluster does not have.
                child["spec"]["nodeName"] = nodes[place]
            await lab.apply(child)
    await lab.until(lambda: all(map(is_ready, lab.pods(is_placed).values())), 120)
    for pod in case.all("Pod"):
        if "deletionTimestamp" in pod["metadata"]:
            await lab.delete(kinds.POD, name_of(pod))


def is_placed(pod: Object) -> bool:
    return "nodeName" in pod["spec"]


def is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    is_true = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return is_true and "deletionTimestamp" not in pod["metadata"]


def count_serving(lab: ServingLab, size: int) -> int:
    """The groups of which every pod serves."""
    ready = [labels_of(pod)[GROUP] for pod in lab.pods().values() if is_ready(pod)]
    return sum(ready.count(group) == size for group in set(ready))


@pytest.mark.parametrize("case", UNDER_WAY, ids=name_case)
async def test_a_rollout_under_way_is_finished_within_its_budget(case: Recorded):
    lab = ServingLab()
    await lab.open(nodes=24, operator=False)
    await leave(lab, case)
    spec, name = case.serving["spec"], name_of(case.serving)
    strategy = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    roles, wanted = spec["template"]["roles"], spec["replicas"]
    size = sum(role["replicas"] * (1 + role["workerReplicas"]) for role in roles)
    least = wanted - strategy.get("maxUnavailable", 1)
    revision, seen = case.serving["status"]["updateRevision"], []

    def is_over() -> bool:
        seen.append(count_serving(lab, size))
        held = {labels_of(pod)[REVISION] for pod in lab.pods().values()}
        return held == {revision} and seen[-1] == wanted

    lab.start_operator()
    await lab.until(is_over, 300)
    assert min(seen) >= least, seen
    await lab.until(lambda: lab.status(name).get("updatedReplicas") == wanted)
    await lab.close()


@pytest.mark.parametrize("case", [c for c in recordings() if c.when == "at_rest"], ids=name_case)
async def test_at_rest_every_pod_stays_and_gets_what_upstream_does_not_write(case: Recorded):
    lab = ServingLab()
    await lab.open(nodes=24, operator=False)
    await leave(lab, case)
    before, spec = lab.uids(), case.serving["spec"]
    lab.start_operator()
    await lab.run(300)
    assert lab.uids() == before and len(before) == len(case.all("Pod"))
    indexes = {labels_of(pod)[INDEX] for pod in lab.pods().values()}
    assert indexes == {str(number) for number in range(spec["replicas"])}
    status = lab.status(name_of(case.serving))
    assert status["updatedReplicas"] == spec["replicas"]
    # Two could not be placed, for want of devices; they wait on.
    assert status.get("availableReplicas", 0) == case.serving["status"].get("availableReplicas", 0)
    await lab.close()
