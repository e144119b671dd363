"""Another client changes the hash of a pod while the user changes the template."""

from typing import Any

import pytest
from group_lab import GroupLab
from single_lab import INSTANCE, SingleLab, component, instance

from kohort.apis.rolebasedgroup import labels
from kohort.apis.user_edits import RESTARTED
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, labels_of
from kohort.cluster.port import PatchType

LAB = SingleLab
POD = "solo-worker-0"
METADATA = "/spec/components/1/template/metadata"
CONTAINER = "/spec/components/1/template/spec/containers/0"
MODE = {"name": "MODE", "value": "1"}


async def patch_pod(lab: GroupLab, body: Object) -> None:
    target = lab.api.target(kinds.POD, lab.namespace, POD)
    await lab.api.patch(
        target, PatchBody(PatchType.STRATEGIC, body), WriteOptions(manager="kubectl")
    )


async def start_one(lab: SingleLab, *, notes: Object | None = None, **container: Any) -> None:
    """Make a RoleInstance by hand, and let it become ready; the rest is of its worker."""
    worker = component("worker")
    worker["template"]["metadata"] = {"annotations": notes or {}}
    worker["template"]["spec"]["containers"][0].update(container)
    await lab.apply(instance(component("leader"), worker))
    await lab.until(lab.is_instance_ready, 60)


@pytest.mark.parametrize("value", ["foreign", None])
async def test_a_pod_with_a_wrong_hash_gets_new_labels_and_annotations_as_it_runs(
    lab: SingleLab, value: str | None
):
    await start_one(lab)
    before = lab.uids()
    await lab.change(METADATA, {"labels": {"tier": "2"}, "annotations": {"note": "2"}}, "solo")
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: value}}})
    await lab.run(60)
    assert lab.is_instance_ready()
    assert lab.uids() == before
    pod, other = lab.pods()[POD], lab.pods()["solo-leader-0"]
    assert (annotations_of(pod).get("note"), labels_of(pod).get("tier")) == ("2", "2")
    assert labels_of(pod)[labels.REVISION] == labels_of(other)[labels.REVISION]


async def test_a_foreign_image_goes_while_a_pod_with_a_wrong_hash_gets_new_annotations(
    lab: SingleLab,
):
    await start_one(lab)
    before = lab.uids()
    await lab.change(METADATA, {"annotations": {"note": "2"}}, "solo")
    image = {"containers": [{"name": "engine", "image": "foreign:1"}]}
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: "foreign"}}, "spec": image})
    await lab.run(60)
    assert lab.is_instance_ready()
    assert (lab.uids(), lab.images()) == (before, {"engine:1"})
    assert annotations_of(lab.pods()[POD]).get("note") == "2"


async def test_a_pod_with_a_wrong_hash_is_restarted_where_the_user_asks_for_it(lab: SingleLab):
    await start_one(lab)
    before = lab.uids()
    await lab.change(METADATA, {"annotations": {RESTARTED: "2026-01-01T00:00:00Z"}}, "solo")
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: "foreign"}}})
    await lab.run(60)
    assert lab.is_instance_ready()
    assert lab.uids()[POD] != before[POD]
    assert lab.find(INSTANCE, "solo") is not None


def make_limits(memory: str) -> Object:
    return {"limits": {"memory": memory}}


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("env", [MODE], []),
        ("env", [MODE], [{"name": "OTHER", "value": "1"}]),
        ("args", ["--all"], []),
        ("resources", make_limits("1Gi"), make_limits("2Gi")),
    ],
)
async def test_a_pod_with_a_wrong_hash_that_has_what_the_user_took_away_is_made_anew(
    lab: SingleLab, key: str, before: Any, after: Any
):
    await start_one(lab, **{key: before})
    uid = lab.uids()[POD]
    await lab.change(f"{CONTAINER}/{key}", after, "solo")
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: "foreign"}}})
    await lab.run(60)
    assert lab.is_instance_ready()
    container = lab.pods()[POD]["spec"]["containers"][0]
    assert lab.uids()[POD] != uid
    assert [v for v in container.get("env", ()) if v in before] == []
    assert key != "resources" or container["resources"]["limits"] == after["limits"]
    assert key != "args" or not container.get("args")


async def test_a_pod_with_a_wrong_hash_loses_an_annotation_that_the_user_took_away_as_it_runs(
    lab: SingleLab,
):
    await start_one(lab, notes={"note": "1"})
    before = lab.uids()
    await lab.change(f"{METADATA}/annotations", {"other": "1"}, "solo")
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: "foreign"}}})
    await lab.run(60)
    assert lab.is_instance_ready()
    assert lab.uids() == before
    notes = annotations_of(lab.pods()[POD])
    assert (notes.get("note"), notes.get("other")) == (None, "1")


async def test_a_pod_with_a_wrong_hash_gets_the_new_image_as_it_runs(lab: SingleLab):
    await start_one(lab)
    before = lab.uids()
    await lab.change(f"{CONTAINER}/image", "engine:2", "solo")
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: "foreign"}}})
    await lab.run(60)
    assert lab.is_instance_ready()
    assert (lab.uids(), lab.images()) == (before, {"engine:1", "engine:2"})


async def test_a_pod_of_the_new_template_runs_on_when_its_hash_is_changed_later(lab: SingleLab):
    await start_one(lab, env=[MODE])
    await lab.change(f"{CONTAINER}/env", [], "solo")
    await lab.run(60)
    assert lab.is_instance_ready()
    before = lab.uids()
    await patch_pod(lab, {"metadata": {"labels": {labels.REVISION: "foreign"}}})
    await lab.run(60)
    assert lab.is_instance_ready()
    assert lab.uids() == before
    assert labels_of(lab.pods()[POD])[labels.REVISION] != "foreign"
