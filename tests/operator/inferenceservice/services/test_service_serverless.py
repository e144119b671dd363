"""
Components that scale to zero, on an embedded cluster with a stand-in for Knative's controllers.

The stand-in does what Knative Serving does as far as a service sees it: it runs the revision on one
pod first, reports Ready when that pod serves, takes the pod away when there is no traffic, and
goes on reporting Ready. It routes nothing and activates nothing: no request is tried here.
"""

import pytest
from service_lab import KIND, RBG, ServiceLab, kinds
from test_refused_changes import define
from test_service_samples import MODEL, SAMPLES, SCALED_TO_ZERO, Shelf, read_id, read_ready

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.objects import Object, labels_of, name_of, owner_reference
from kohort.cluster.port import PatchType
from ome_samples import Sample, find_runtime, stand_in

KNATIVE = kinds.KNATIVE_SERVICE
TRUE = tuple(
    {"type": name, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    for name in ("ConfigurationsReady", "Ready", "RoutesReady")
)
# Upstream's samples are there only with KOHORT_SHARED.
ZEROS = [each for each in SAMPLES if each.id in SCALED_TO_ZERO]


class Knative:
    """A stand-in for Knative Serving on one Knative Service."""

    def __init__(self, lab: ServiceLab, name: str) -> None:
        self.lab, self.name, self.revision = lab, name, f"{name}-00001"

    async def run_revision(self) -> None:
        """Make the Deployment of the first revision, with one pod."""
        held = self.lab.find(KNATIVE, self.name)
        assert held is not None
        template = held["spec"]["template"]
        marks = {"serving.knative.dev/revision": self.revision}
        metadata = {"labels": {**labels_of(template), **marks}}
        metadata["annotations"] = template["metadata"]["annotations"]
        deployment = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": f"{self.revision}-deployment",
                "ownerReferences": [owner_reference(held)],
            },
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": marks},
                "template": {"metadata": metadata, "spec": template["spec"]},
            },
        }
        await self.lab.apply(deployment)
        await self.lab.until(self.has_ready_pod, 60)

    def has_ready_pod(self) -> bool:
        found = self.lab.find(builtin.DEPLOYMENT, f"{self.revision}-deployment") or {}
        return (found.get("status") or {}).get("readyReplicas") == 1

    async def report_ready(self) -> None:
        """The status of a Knative Service whose revision was ready once; it stays so at zero."""
        held = self.lab.find(KNATIVE, self.name)
        assert held is not None
        host = f"http://{self.name}.{self.lab.namespace}.svc.cluster.local"
        status = {
            "observedGeneration": held["metadata"]["generation"],
            "conditions": list(TRUE),
            "url": host,
            "address": {"url": host},
            "latestCreatedRevisionName": self.revision,
            "latestReadyRevisionName": self.revision,
            "traffic": [{"latestRevision": True, "percent": 100, "revisionName": self.revision}],
        }
        await self._patch(KNATIVE, self.name, "status", {"status": status})

    async def scale_to_zero(self) -> None:
        """Without traffic, the autoscaler takes the last pod away."""
        name = f"{self.revision}-deployment"
        await self._patch(builtin.DEPLOYMENT, name, "scale", {"spec": {"replicas": 0}})

    async def _patch(self, kind, name: str, part: str, body: Object) -> None:
        target = self.lab.api.target(kind, self.lab.namespace, name, part)
        options = WriteOptions(manager="knative")
        await self.lab.api.patch(target, PatchBody(PatchType.MERGE, body), options)


@pytest.fixture
async def shelf():
    opened = Shelf()
    await opened.open()
    await opened.api.create(opened.api.target(builtin.DEFINITION), define(KNATIVE), WriteOptions())
    await opened.settle_in()
    yield opened
    await opened.close()


async def bring(lab: Shelf, sample: Sample, mode: str = "") -> None:
    for obj in (find_runtime(sample), stand_in(sample), sample.write(mode)):
        await lab.apply(obj)


def engines(lab: Shelf) -> list[Object]:
    pods = lab.all(builtin.POD)
    return [pod for pod in pods if labels_of(pod).get(labels.COMPONENT) == "engine"]


@pytest.mark.parametrize("sample", ZEROS, ids=read_id)
async def test_a_sample_that_scales_to_zero_is_ready_at_zero_rests_and_goes(
    shelf: Shelf, sample: Sample
):
    await bring(shelf, sample)
    name = f"{name_of(sample.obj)}-engine"
    await shelf.until(lambda: shelf.find(KNATIVE, name) is not None, 60)
    knative = Knative(shelf, name)
    await knative.run_revision()
    assert read_ready(shelf, sample)["status"] != "True", "Knative has not reported yet"
    await knative.report_ready()
    await shelf.until(lambda: read_ready(shelf, sample).get("status") == "True", 60)
    assert len(engines(shelf)) == 1
    await knative.scale_to_zero()
    await shelf.until(lambda: not engines(shelf), 120)
    await shelf.run(10)
    before = dict(shelf.cluster.tried)
    await shelf.run(120)
    assert dict(shelf.cluster.tried) == before
    assert read_ready(shelf, sample)["status"] == "True"
    await shelf.delete(KIND, name_of(sample.obj))
    await shelf.discard(MODEL)
    await shelf.expect_nothing()


@pytest.mark.parametrize("sample", ZEROS[:1], ids=read_id)
async def test_scaling_to_zero_is_refused_under_a_group_though_knative_is_there(
    shelf: Shelf, sample: Sample
):
    """A role has no activator that would hold requests while it has no instance."""
    await bring(shelf, sample, RBG)
    await shelf.run(10)
    ready = read_ready(shelf, sample)
    assert (ready["status"], ready["reason"]) == ("False", "InvalidDeploymentMode")
    assert ready["message"] == (
        "strategy RBG cannot deploy component engine with deployment mode Serverless: it supports "
        "RawDeployment, MultiNode; minReplicas: 0 makes a component Serverless, so set it to 1 or "
        "more"
    )
    assert not shelf.all(KNATIVE) and not engines(shelf)
