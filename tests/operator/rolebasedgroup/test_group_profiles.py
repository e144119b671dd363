"""Engine runtime profiles: when their edits reach pods."""

import pytest
from group_lab import GroupLab, group, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, find_condition

KINDS = ("", "apps/v1/StatefulSet", "apps/v1/Deployment")
NAMED = {"engineRuntimes": [{"profileName": "p"}]}


def profile(image: str = "side:1", strategy: str = "") -> Object:
    spec: Object = {"containers": [{"name": "side", "image": image}]}
    if strategy:
        spec["updateStrategy"] = strategy
    kind = labels.PROFILE
    head = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "p"}}
    return {**head, "spec": spec}


def carried_by(kind: str) -> Object:
    """A role that names the profile; an instance set carries it if ``kind`` is empty."""
    annotations = {labels.WORKLOAD_TYPE: kind} if kind else {}
    return standalone(annotations=annotations, **NAMED)


def sides(lab: GroupLab) -> set[str]:
    """The images of containers that the profile brought."""
    listed = [c for pod in lab.pods().values() for c in pod["spec"]["containers"]]
    return {c["image"] for c in listed if c["name"] == "side"}


async def edit(lab: GroupLab, image: str) -> None:
    change = {"op": "replace", "path": "/spec/containers/0/image", "value": image}
    await lab.edit("p", change, kind=labels.PROFILE)


@pytest.mark.parametrize("kind", KINDS)
async def test_defect_21_an_edit_reaches_pods_when_their_role_changes(lab: GroupLab, kind: str):
    await lab.apply(profile())
    await start(lab, carried_by(kind))
    before = lab.uids()
    await edit(lab, "side:2")
    await lab.run(60)
    assert sides(lab) == {"side:1"} and lab.uids() == before
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
    assert sides(lab) == {"side:2"}


@pytest.mark.parametrize("kind", (STATEFUL_SET, DEPLOYMENT), ids=lambda kind: kind.name)
async def test_what_another_client_changes_beside_a_kept_profile_is_put_back(
    lab: GroupLab, kind: Kind
):
    await lab.apply(profile())
    override = {"name": "side", "env": [{"name": "LEVEL", "value": "debug"}], "args": ["-v"]}
    runtime = {"profileName": "p", "containers": [override]}
    role = carried_by(f"{kind.api_version}/{kind.name}")
    await start(lab, {**role, "engineRuntimes": [runtime]})
    await edit(lab, "side:2")
    await lab.run(30)
    written = lab.cluster.tried["patch", kind.name]
    await lab.run(60)
    assert lab.cluster.tried["patch", kind.name] == written
    path = "/spec/template/spec/containers/0/image"
    change = {"op": "replace", "path": path, "value": "foreign:1"}
    await lab.edit("x-router", change, kind=kind)
    await lab.run(60)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:1"}, 240)
    assert sides(lab) == {"side:1"}


@pytest.mark.parametrize("kind", KINDS)
async def test_defect_21_an_edit_rolls_pods_where_the_profile_says_so(lab: GroupLab, kind: str):
    await lab.apply(profile(strategy="RollingUpdate"))
    await start(lab, carried_by(kind))
    await edit(lab, "side:2")
    await lab.until(lambda: lab.is_done() and sides(lab) == {"side:2"}, 120)


def waiting(lab: GroupLab) -> tuple[str, str]:
    """The status and the reason of the condition that says what a role waits for."""
    found = find_condition(lab.group(), "RoleWaiting") or {}
    return found.get("status", ""), found.get("reason", "")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_role_alone_waits_for_a_profile_that_does_not_exist(lab: GroupLab, kind: str):
    annotations = {labels.WORKLOAD_TYPE: kind} if kind else {}
    await lab.apply(group(standalone("a", 1, annotations=annotations, **NAMED), standalone("b", 1)))
    await lab.until(lambda: len(lab.pods("b")) == 1)
    await lab.run(30)
    assert not lab.pods("a") and not lab.is_ready()
    assert waiting(lab) == ("True", "WaitingForProfile")
    (event,) = [e for e in lab.all(kinds.EVENT) if e["type"] == "Warning"]
    assert "create the ClusterEngineRuntimeProfile" in event["message"]
    await lab.apply(profile())
    await lab.until(lambda: lab.is_done() and sides(lab) == {"side:1"}, 120)
    assert waiting(lab) == ("False", "NothingWaits")


@pytest.mark.parametrize("kind", ("", "apps/v1/StatefulSet"))
async def test_a_role_is_scaled_but_not_updated_while_its_profile_is_missing(
    lab: GroupLab, kind: str
):
    annotations = {labels.WORKLOAD_TYPE: kind} if kind else {}
    await start(lab, standalone("a", 2, annotations=annotations))
    before = lab.uids()
    await lab.set_field("/spec/roles/0/engineRuntimes", NAMED["engineRuntimes"])
    await lab.set_image("engine:2")
    await lab.set_field("/spec/roles/0/replicas", 3)
    await lab.until(lambda: len(lab.pods()) == 3)
    await lab.run(60)
    assert lab.images() == {"engine:1"} and before.items() <= lab.uids().items()
    assert waiting(lab) == ("True", "WaitingForProfile") and not lab.is_done()
    await lab.apply(profile())
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 200)
    assert sides(lab) == {"side:1"}


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
