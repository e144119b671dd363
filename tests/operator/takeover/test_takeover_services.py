"""
What OME left of a service is taken over without a restart, and the check says exactly what changes.

The objects are written by hand. All strategies of workloads are installed, and none is named.
"""

import pytest
from takeover_lab import TakeoverLab

from kohort.apis.served import choose_apis
from kohort.cluster.objects import Object
from kohort.takeover.report import Report
from upstream_carriers import list_service_on_many_nodes
from upstream_service import list_multi_node, list_raw

STAMP = "metadata.annotations[kohort.dev/rendered-from]"
MANAGERS = "metadata.managedFields"
# Ours depends on every component; upstream's ignores decoder and router, and says so by Info.
SEVERITY = "status.conditions[RouterReady].severity"


async def open_lab(objects: list[Object]) -> TakeoverLab:
    beside = choose_apis(("lws", "rbg"))
    return await TakeoverLab(choose_apis(("isvc",)), beside=beside).open_with(objects)


def list_lines(report: Report) -> list[tuple[str, str]]:
    return [(write.object, change.path) for write in report.writes for change in write.changes]


def find(objects: list[Object], kind: str, name: str) -> Object:
    return next(o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name))


async def test_of_a_raw_service_at_rest_only_our_marks_and_a_severity_would_change():
    report = await (await open_lab(list_raw())).check()
    assert list_lines(report) == [
        ("Deployment chat/chat-engine", STAMP),
        ("Deployment chat/chat-router", STAMP),
        ("InferenceService chat/chat", SEVERITY),
    ]
    assert (report.pods, report.unreadable, report.notes) == ((), (), ())


async def test_a_check_of_one_namespace_reads_what_services_name_elsewhere():
    """Settings and reports about models are in the namespace of OME's controller."""
    lab = await open_lab(list_raw())
    assert list_lines(await lab.check("chat")) == list_lines(await lab.check())


async def test_of_a_multi_node_service_the_selectors_that_are_too_wide_would_change_as_well():
    report = await (await open_lab(list_multi_node())).check()
    selectors = [
        (f"Service pd/pd-{component}", path)
        for component in ("engine", "decoder")
        for path in (MANAGERS, "spec.selector[ome.io/inferenceservice]", "spec.selector.component")
    ]
    assert list_lines(report) == [
        ("Deployment pd/pd-router", STAMP),
        ("LeaderWorkerSet pd/lws-pd-engine", STAMP),
        ("LeaderWorkerSet pd/lws-pd-decoder", STAMP),
        *selectors,
        ("InferenceService pd/pd", "status.conditions[DecoderReady].severity"),
        ("InferenceService pd/pd", SEVERITY),
        ("InferenceService pd/pd", "status.modelStatus.modelCopies.totalCopies"),
    ]
    assert (report.pods, report.unreadable) == ((), ())


async def open_with_carriers(objects: list[Object]) -> TakeoverLab:
    """A cluster on which OME and LeaderWorkerSet's controller are taken over at once."""
    apis = choose_apis(("lws", "isvc"))
    return await TakeoverLab(apis, beside=choose_apis(("rbg",))).open_with(objects)


async def test_with_the_controller_of_its_sets_nothing_more_of_a_multi_node_service_would_change():
    alone = await (await open_lab(list_multi_node())).check()
    report = await (await open_with_carriers(list_service_on_many_nodes())).check()
    assert list_lines(report) == list_lines(alone)
    assert (report.pods, report.unreadable, report.outdated) == ((), (), ())


async def test_a_multi_node_service_and_its_sets_are_left_as_they_are_by_our_operator():
    lab = await open_with_carriers(list_service_on_many_nodes())
    kinds = ("Pod", "Deployment", "LeaderWorkerSet", "StatefulSet", "ControllerRevision")
    uids = {kind: sorted(lab.list_uids(kind)) for kind in kinds}
    before = {kind: lab.list_specs(kind) for kind in kinds[:4]}
    lab.start_operator()
    await lab.run(60)
    await lab.stop_operator()
    assert {kind: sorted(lab.list_uids(kind)) for kind in kinds} == uids
    assert {kind: lab.list_specs(kind) for kind in before} == before
    report = await lab.check()
    assert report.is_empty, list_lines(report)


async def test_of_removed_fields_only_those_are_listed_that_have_no_default_of_that_value():
    objects = list_multi_node()
    spec = find(objects, "Service", "pd-engine")["spec"]
    spec["sessionAffinity"] = "ClientIP"
    lines = list_lines(await (await open_lab(objects)).check())
    assert ("Service pd/pd-engine", "spec.sessionAffinity") in lines
    assert ("Service pd/pd-engine", "spec.internalTrafficPolicy") not in lines


@pytest.mark.parametrize(
    "notes",
    [
        {"ome.io/service-type": "ClusterIP"},
        {"ome.io/autoscalerClass": "hpa", "ome.io/targetUtilizationPercentage": "80"},
        {"ome.io/ingress-domain": "svc.cluster.local", "argocd.argoproj.io/tracking-id": "a"},
    ],
    ids=lambda notes: next(iter(notes)),
)
async def test_annotations_that_only_upstream_writes_on_pods_stay_there(notes: dict[str, str]):
    report = await (await open_lab(list_raw(**notes))).check()
    assert list_lines(report) == list_lines(await (await open_lab(list_raw())).check())
    assert report.pods == ()


async def test_a_workload_that_we_would_render_otherwise_keeps_its_spec():
    """Upstream does not follow an edit of a runtime, so the runtime may be newer than the pods."""
    objects = list_raw()
    runtime = find(objects, "ClusterServingRuntime", "srt")
    runtime["spec"]["engineConfig"]["runner"]["image"] = "engine:2"
    report = await (await open_lab(objects)).check()
    first, second, *rest = list_lines(report)
    assert first == ("Deployment chat/chat-engine", STAMP)
    assert second == ("InferenceService chat/chat", SEVERITY)
    assert all(path.startswith("status.conditions[UpdateHeld]") for _, path in rest)
    assert report.pods == ()


@pytest.mark.parametrize("objects", [list_raw(), list_multi_node()], ids=["raw", "multi-node"])
async def test_our_operator_leaves_pods_and_templates_as_they_are_and_comes_to_rest(
    objects: list[Object],
):
    lab = await open_lab(objects)
    before = {kind: lab.list_specs(kind) for kind in ("Pod", "Deployment", "LeaderWorkerSet")}
    lab.start_operator()
    await lab.run(60)
    await lab.stop_operator()
    assert {kind: lab.list_specs(kind) for kind in before} == before
    report = await lab.check()
    assert report.is_empty, list_lines(report)
