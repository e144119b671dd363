"""Engine runtime profiles: when their edits reach pods (RoleBasedGroup §3.9)."""

from group_lab import GroupLab, group, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object
from kohort.simulator import kinds

NAMED = {"engineRuntimes": [{"profileName": "p"}]}


def profile(image: str = "side:1", strategy: str = "") -> Object:
    spec: Object = {"containers": [{"name": "side", "image": image}]}
    if strategy:
        spec["updateStrategy"] = strategy
    kind = labels.PROFILE
    head = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "p"}}
    return {**head, "spec": spec}


def sides(lab: GroupLab) -> set[str]:
    """The images of containers that the profile brought."""
    listed = [c for pod in lab.pods().values() for c in pod["spec"]["containers"]]
    return {c["image"] for c in listed if c["name"] == "side"}


async def edit(lab: GroupLab, image: str) -> None:
    change = {"op": "replace", "path": "/spec/containers/0/image", "value": image}
    await lab.edit("p", change, kind=labels.PROFILE)


async def test_defect_21_an_edit_reaches_pods_when_their_role_changes(lab: GroupLab):
    await lab.apply(profile())
    await start(lab, standalone(**NAMED))
    before = lab.uids()
    await edit(lab, "side:2")
    await lab.run(60)
    assert sides(lab) == {"side:1"} and lab.uids() == before
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
    assert sides(lab) == {"side:2"}


async def test_defect_21_an_edit_rolls_pods_where_the_profile_says_so(lab: GroupLab):
    await lab.apply(profile(strategy="RollingUpdate"))
    await start(lab, standalone(**NAMED))
    await edit(lab, "side:2")
    await lab.until(lambda: lab.is_done() and sides(lab) == {"side:2"}, 120)


async def test_a_role_waits_for_a_profile_that_does_not_exist(lab: GroupLab):
    await lab.apply(group(standalone(**NAMED)))
    await lab.run(30)
    assert not lab.pods()
    conditions = {c["type"]: c for c in lab.status().get("conditions", ())}
    assert len([e for e in lab.all(kinds.EVENT) if e["type"] == "Warning"]) == 1
    assert any(
        "create the ClusterEngineRuntimeProfile" in c["message"] for c in conditions.values()
    )
    await lab.apply(profile())
    await lab.until(lambda: lab.is_done() and sides(lab) == {"side:1"}, 120)


async def test_a_group_outlives_its_profile(lab: GroupLab):
    await lab.apply(profile())
    await start(lab, standalone(**NAMED))
    before = lab.uids()
    lab.namespace = ""
    await lab.delete(labels.PROFILE, "p")
    lab.namespace = "default"
    await lab.set_field("/spec/roles/0/replicas", 3)
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 3)
    assert sides(lab) == {"side:1"} and before.items() <= lab.uids().items()
