"""A check lists what our operator would change of another's objects, and writes nothing."""

from dataclasses import replace

import pytest
from takeover_lab import TakeoverLab

from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.objects import Object
from kohort.takeover.report import ObjectCount
from recorded_servings import needs_recording, recordings
from upstream_group import list_objects
from upstream_objects import Upstream, read_vector

# A template that overwrites the label of its group: upstream's gang has a name of its own there.
ODD = "kthena-router/ModelServing-ds1.5b-pd-disaggregation.yaml"


def upstream() -> list[Object]:
    return Upstream(read_vector("11_lws")).at_rest()


async def open_lws(objects: list[Object]) -> TakeoverLab:
    return await TakeoverLab([LEADER_WORKER_SET]).open_with(objects)


def find(objects: list[Object], kind: str, name: str = "") -> Object:
    return next(o for o in objects if o["kind"] == kind and o["metadata"]["name"].endswith(name))


async def test_of_lws_at_rest_nothing_would_change():
    lab = await open_lws(upstream())
    report = await lab.check()
    assert report.is_empty, report
    assert report.counts == (ObjectCount("LeaderWorkerSet", 1, 1),)
    assert report.pods == ()


async def test_of_rbg_at_rest_nothing_would_change():
    lab = await TakeoverLab([ROLE_BASED_GROUP]).open_with(list_objects())
    report = await lab.check()
    assert report.is_empty, report
    assert report.counts == (ObjectCount("RoleBasedGroup", 1, 1),)


@needs_recording
@pytest.mark.parametrize("number", range(3))
async def test_of_kthena_at_rest_only_metadata_of_pods_would_change(number: int):
    case = [c for c in recordings() if c.when == "at_rest" and c.source != ODD][number]
    lab = await TakeoverLab([MODEL_SERVING]).open_with(case.objects)
    writes = (await lab.check()).writes
    assert {(w.verb, w.kind) for w in writes if w.kind != "ModelServing"} == {("patch", "Pod")}
    paths = [change.path for write in writes for change in write.changes]
    assert all(path.startswith(("metadata.", "status.")) for path in paths), paths
    assert not any(write.pods for write in writes)


async def test_each_difference_names_the_object_and_the_field():
    objects = upstream()
    find(objects, "StatefulSet")["spec"]["replicas"] = 7
    lab = await open_lws(objects)
    (write,) = (await lab.check()).writes
    assert write.object == "StatefulSet default/leaderworkerset-sample"
    assert [(c.path, c.old, c.new) for c in write.changes] == [("spec.replicas", "7", "3")]


async def test_a_template_that_differs_names_the_pods_that_would_restart():
    objects = upstream()
    lws = find(objects, "LeaderWorkerSet")
    pod = lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["containers"][0]["image"] = "engine:2"
    lws["metadata"]["generation"] = 2
    lab = await open_lws(objects)
    report = await lab.check()
    assert not report.is_empty
    assert "default/leaderworkerset-sample-0" in report.pods
    assert "default/leaderworkerset-sample-0-1" in report.pods


async def test_an_object_that_cannot_be_planned_is_named_with_the_reason():
    objects = upstream()
    find(objects, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["size"] = -1
    lab = await open_lws(objects)
    report = await lab.check()
    assert report.counts == (ObjectCount("LeaderWorkerSet", 1, 0),)
    (note,) = report.unreadable
    assert note.object == "LeaderWorkerSet default/leaderworkerset-sample"
    assert "size" in note.text
    assert report.writes == ()


async def test_a_deprecated_field_is_a_note_and_no_difference():
    objects = upstream()
    find(objects, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["restartPolicy"] = "Default"
    lab = await open_lws(objects)
    notes = (await lab.check()).notes
    assert [n.object for n in notes] == ["default/leaderworkerset-sample"]
    assert "Default" in notes[0].text


async def test_a_namespace_limits_what_is_read():
    lab = await open_lws(upstream())
    assert (await lab.check("default")).counts[0].objects == 1
    assert (await lab.check("kube-system")).counts[0].objects == 0


async def test_settings_of_the_operator_decide():
    lab = await open_lws(upstream())
    (write,) = (await lab.check(settings=replace(DEFAULTS, strategy="compatible"))).writes
    (change,) = write.changes
    assert change.path.startswith("metadata.annotations[")
    assert (change.old, change.new) == ("", "compatible")
    assert write.pods == ()
