"""
Every InferenceService that upstream ships, on the embedded cluster under both strategies.

One laboratory serves all of them, each in its turn: it is made with its model and its runtime,
becomes ready, rests without a write, and goes whole. Those that cannot be ready are listed here
with the reason that their status gives.
"""

import pytest
import pytest_asyncio
from service_lab import KIND, RBG, ServiceLab, kinds

from kohort.apis.inferenceservice.assembly import OWNED
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind, Object, find_condition, name_of
from kohort.cluster.port import PatchType
from ome_samples import SHARED, Sample, find_runtime, list_samples, stand_in

pytestmark = pytest.mark.asyncio(loop_scope="module")
MODEL = kinds.CLUSTER_BASE_MODEL
MACHINE = {"node.kubernetes.io/instance-type": "BM.GPU.H100.8"}  # that some runtimes ask for
SAMPLES = [each for each in list_samples() if each.has_engine]
# They are written in forms that the API does not have any more.
BARE = ("LGAI-EXAONE/exaone-3-5-7-8b-instruct-isvc", "zai-org/glm-4-5v")
# These need more machines, or greater ones: how many, and how many GPUs each has.
WIDE = {"moonshotai/kimi-k2-pd": (17, 8), "meta/llama-4-maverick-17b-128e-instruct": (2, 16)}
SCALED_TO_ZERO = (
    "mistralai/mistral-7b-instruct-v0-2",
    "mistralai/mistral-small-3-1-24b-instruct-2503",
    "mistralai/mixtral-8x7b-instruct-v0-1",
)
# Its only runtime says nothing of a decoder, which the service asks for.
WITHOUT_DECODER = "meta/llama3-3-70b-instruct"
# Of each mode: why a sample is not ready, and what its status says of it.
NOT_READY: dict[str, dict[str, tuple[str, str]]] = {
    "": {
        WITHOUT_DECODER: ("WorkloadReconcileFailed", "decoder"),
        **dict.fromkeys(SCALED_TO_ZERO, ("WorkloadReconcileFailed", "Knative")),
    },
    RBG: {
        WITHOUT_DECODER: ("WorkloadReconcileFailed", "decoder"),
        **dict.fromkeys(SCALED_TO_ZERO, ("InvalidDeploymentMode", "Serverless")),
    },
}
APART = {*WIDE, *NOT_READY[""], *NOT_READY[RBG]}


class Shelf(ServiceLab):
    """A laboratory for many services, which knows what was there before them."""

    before: frozenset[str] = frozenset()

    async def settle_in(self) -> None:
        """Mark the machines, and note what is there."""
        for node in self.all(builtin.NODE):
            target = self.api.target(builtin.NODE, "", name_of(node))
            body = {"metadata": {"labels": MACHINE}}
            await self.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())
        await self.run(1)
        self.before = self.list_left()

    def list_left(self) -> frozenset[str]:
        """What of a service is still there."""
        served = {resource.kind for resource in self.api.registry.resources()}
        held = [kind for kind in (*OWNED, KIND, MODEL, builtin.POD) if kind in served]
        found = frozenset(f"{kind.name} {name_of(obj)}" for kind in held for obj in self.all(kind))
        return found - self.before

    async def expect_nothing(self) -> None:
        for _ in range(60):
            if not self.list_left():
                return
            await self.run(2)
        assert not self.list_left()

    async def discard(self, kind: Kind) -> None:
        namespace = self.namespace if kind.namespaced else ""
        for obj in self.all(kind):
            await self.api.delete(self.api.target(kind, namespace, name_of(obj)), DeleteOptions())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf():
    opened = Shelf()
    await opened.open()
    await opened.settle_in()
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="module")
async def lab(shelf: Shelf):
    """The laboratory; what a test leaves goes with it."""
    yield shelf
    for kind in (KIND, MODEL, kinds.CLUSTER_SERVING_RUNTIME):
        await shelf.discard(kind)
    await shelf.expect_nothing()


def read_ready(lab: Shelf, sample: Sample) -> Object:
    return find_condition(lab.service(name_of(sample.obj)), "Ready") or {}


def read_id(sample: Sample) -> str:
    return sample.id


async def prove(lab: Shelf, sample: Sample, mode: str) -> None:
    """See that a service becomes ready, rests, and goes whole."""
    for obj in (find_runtime(sample), stand_in(sample), sample.write(mode)):
        await lab.apply(obj)
    await lab.until(lambda: read_ready(lab, sample).get("status") == "True", 120)
    await lab.run(5)
    before = dict(lab.cluster.tried)
    await lab.run(120)
    assert dict(lab.cluster.tried) == before
    await lab.delete(KIND, name_of(sample.obj))
    await lab.discard(MODEL)
    await lab.expect_nothing()


BOTH = pytest.mark.parametrize("mode", ["", RBG], ids=["apart", "group"])


@BOTH
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.id not in APART], ids=read_id)
async def test_a_sample_is_ready_rests_and_goes(lab: Shelf, sample: Sample, mode: str):
    await prove(lab, sample, mode)


@BOTH
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.id in WIDE], ids=read_id)
async def test_a_sample_for_greater_clusters_is_ready_on_one(sample: Sample, mode: str):
    wide = Shelf()
    await wide.open(*WIDE[sample.id])
    await wide.settle_in()
    await prove(wide, sample, mode)
    await wide.close()


@BOTH
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.id in NOT_READY[RBG]], ids=read_id)
async def test_a_sample_that_cannot_be_ready_says_why(lab: Shelf, sample: Sample, mode: str):
    for obj in (find_runtime(sample), stand_in(sample), sample.write(mode)):
        await lab.apply(obj)
    await lab.run(60)
    ready = read_ready(lab, sample)
    reason, word = NOT_READY[mode][sample.id]
    assert (ready["status"], ready["reason"]) == ("False", reason)
    assert word in ready["message"]


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@BOTH
async def test_the_one_runtime_without_a_decoder_is_refused_with_the_reason(lab: Shelf, mode: str):
    """Its service asks for one; what the runtime does not say, the operator does not invent."""
    [sample] = [each for each in SAMPLES if each.id == WITHOUT_DECODER]
    own = find_runtime(sample)
    assert name_of(own) == "srt-llama-3-3-70b-instruct"
    assert "decoderConfig" not in own["spec"]
    for obj in (own, stand_in(sample), sample.write(mode)):
        await lab.apply(obj)
    await lab.run(10)
    assert read_ready(lab, sample)["message"] == (
        "component decoder has no container: "
        "neither ClusterServingRuntime srt-llama-3-3-70b-instruct nor the service gives "
        "spec.decoder.runner"
    )


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
async def test_samples_of_former_forms_have_no_engine(lab: Shelf):
    bare = [each for each in list_samples() if not each.has_engine]
    assert ([each.id for each in bare], len(SAMPLES)) == (list(BARE), 146)
    former, older = bare
    with pytest.raises(ClusterError, match=r"spec\.model\.name is missing"):
        await lab.apply(former.write())
    await lab.apply(older.write())
    await lab.run(10)
    ready = read_ready(lab, older)
    assert (ready["status"], ready["reason"]) == ("False", "ModelReconcileError")
    assert ready["message"] == "the service names no model: write spec.model.name"
