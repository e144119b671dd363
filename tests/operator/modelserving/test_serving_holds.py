"""A revision that does not last holds the rollout of its role, or of its groups."""

from serving_lab import KIND, ServingLab, role, serving

from kohort.cluster import kinds
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES

ENTRY = "/spec/template/roles/0/entryTemplate"
# Long enough to be counted on, and too short to be trusted after a failure.
CRASHING = {"annotations": {CRASH_AFTER: "6s"}}


async def test_an_instance_that_crashed_holds_the_rollout_of_its_role(lab: ServingLab):
    more = {"recoveryPolicy": "RoleRecreate", "rolloutStrategy": {"type": "RoleRollingUpdate"}}
    await lab.apply(serving(role("decode", 6, workers=0), replicas=1, **more))
    await lab.until(lab.is_done)
    image = {"op": "replace", "path": f"{ENTRY}/spec/containers/0/image", "value": "engine:2"}
    await lab.edit(
        "x", image, {"op": "add", "path": f"{ENTRY}/metadata", "value": CRASHING}, kind=KIND
    )
    await lab.run(180)
    images = [pod["spec"]["containers"][0]["image"] for pod in lab.pods().values()]
    assert images.count("engine:1") >= 3, images


async def test_an_instance_that_crashed_holds_the_rollout_of_its_groups(lab: ServingLab):
    """With the recovery policy that is the default, a failed instance is made anew alone."""
    await lab.apply(serving(role("decode", workers=0), replicas=6))
    await lab.until(lab.is_done)
    image = {"op": "replace", "path": f"{ENTRY}/spec/containers/0/image", "value": "engine:2"}
    await lab.edit(
        "x", image, {"op": "add", "path": f"{ENTRY}/metadata", "value": CRASHING}, kind=KIND
    )
    await lab.run(180)
    images = [pod["spec"]["containers"][0]["image"] for pod in lab.pods().values()]
    assert images.count("engine:1") >= 3, images
    conditions = {c["type"]: c for c in lab.status()["conditions"]}
    assert conditions["Available"]["status"] == "False"


async def test_failures_stand_on_the_revision_in_force_alone(lab: ServingLab):
    """A revision that comes into force again would bring failures of long ago back."""
    await lab.apply(serving(role("decode", workers=0), replicas=2))
    await lab.until(lab.is_done)
    pod = sorted(lab.pods())[0]
    notes = {**lab.pods()[pod]["metadata"].get("annotations", {}), CRASH_AFTER: "1s"}
    change = {"op": "add", "path": "/metadata/annotations", "value": {**notes, CRASH_TIMES: "1"}}
    await lab.edit(pod, change, kind=kinds.POD)
    await lab.until(lambda: list_noted(lab) == [1])
    image = {"op": "replace", "path": f"{ENTRY}/spec/containers/0/image", "value": "engine:2"}
    await lab.edit(
        "x", image, {"op": "add", "path": f"{ENTRY}/metadata", "value": CRASHING}, kind=KIND
    )
    await lab.until(lambda: list_noted(lab) == [2])


def list_noted(lab: ServingLab) -> list[int]:
    """The numbers of the revisions that have records of failures."""
    found = lab.all(kinds.CONTROLLER_REVISION)
    noted = (r for r in found if "kohort.dev/restarts" in r["metadata"].get("annotations", {}))
    return sorted(revision["revision"] for revision in noted)
