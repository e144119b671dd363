"""The webhooks of OME's kinds as an API server asks them."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from isvc_builders import accelerator, model, runtime, service, weight
from isvc_site import OME, Site, open_site

from kohort.apis.api import DEFAULTS
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.webhooks import WEBHOOKS
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object, annotations_of, name_of
from kohort.cluster.port import Address
from kohort.controller.admission.answers import answer_review, find_beside
from kohort.controller.install.webhooks import Endpoint, write_configurations

API = "ome.io/v1beta1"
MODE = "ome.io/deploymentMode"
CHAT = Address(kinds.INFERENCE_SERVICE, "ml", "chat")


@pytest.fixture
async def site() -> Site:
    return await open_site()


def configuration(**keys: Object) -> Object:
    data = {key: orjson.dumps(value).decode() for key, value in keys.items()}
    metadata = {"name": "inferenceservice-config", "namespace": "ome"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def pod(**notes: str) -> Object:
    metadata = {"name": "p", "namespace": "ml", "labels": {"ome.io/inferenceservice": "chat"}}
    metadata["annotations"] = {key.replace("_", "/", 1): value for key, value in notes.items()}
    volumes: list[Object] = [
        {"name": name, "emptyDir": {}} for name in ("model-empty-dir", "model")
    ]
    spec = {"containers": [{"name": "ome-container", "image": "i"}], "volumes": volumes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def test_webhooks_bear_upstreams_names_and_lie_where_upstream_keeps_them():
    made = write_configurations([OME], Endpoint())
    found = {(each["kind"], name_of(each)): each["webhooks"] for each in made}
    names = {key: [hook["name"] for hook in hooks] for key, hooks in found.items()}
    assert names == {
        ("MutatingWebhookConfiguration", "inferenceservice.ome.io"): [
            "inferenceservice.ome-webhook-server.defaulter",
            "inferenceservice.ome-webhook-server.pod-mutator",
        ],
        ("ValidatingWebhookConfiguration", "inferenceservice.ome.io"): [
            "inferenceservice.ome-webhook-server.validator"
        ],
        ("ValidatingWebhookConfiguration", "servingruntime.ome.io"): [
            "servingruntime.ome-webhook-server.validator"
        ],
        ("ValidatingWebhookConfiguration", "clusterservingruntime.ome.io"): [
            "clusterservingruntime.ome-webhook-server.validator"
        ],
    }
    pods = found["MutatingWebhookConfiguration", "inferenceservice.ome.io"][1]
    assert pods["reinvocationPolicy"] == "IfNeeded"
    assert pods["namespaceSelector"]["matchExpressions"][0]["key"] == "control-plane"


def test_webhooks_have_upstreams_paths():
    assert [hook.path for hook in WEBHOOKS] == [
        "/mutate-ome-io-v1beta1-inferenceservice",
        "/mutate-pods",
        "/validate-ome-io-v1beta1-inferenceservice",
        "/validate-ome-io-v1beta1-servingruntime",
        "/validate-ome-io-v1beta1-clusterservingruntime",
    ]


async def test_a_service_gets_the_mode_of_the_configuration(site: Site):
    await site.put(model(), runtime())
    assert annotations_of(await site.put(service()))[MODE] == "RawDeployment"
    await site.put(configuration(deploy={"defaultDeploymentMode": "Serverless"}))
    assert MODE not in annotations_of(await site.put(service("other")))


async def test_no_replicas_are_written_so_that_a_runtime_may_set_them(site: Site):
    await site.put(model(), runtime())
    engine = (await site.put(service(decoder={}, router={})))["spec"]["engine"]
    assert not {"minReplicas", "maxReplicas"} & set(engine)


async def test_a_service_with_containers_of_its_own_needs_no_runtime(site: Site):
    await site.put(model())
    own = {"runner": {"name": "ome-container", "image": "i"}}
    assert name_of(await site.put(service(engine=own))) == "chat"


async def test_a_broken_configuration_is_named(site: Site):
    await site.put(configuration(deploy={"defaultDeploymentMode": "Sometimes"}))
    assert "defaultDeploymentMode" in await site.refuse(service())


async def test_pods_that_do_not_need_a_broken_key_are_made(site: Site):
    """A pod that is lost must come back, whatever else the administrator has mistyped."""
    held = configuration(ingress={"ingressGateway": 1})
    held["data"] |= {"modelInit": "{", "metricsAggregator": "{"}
    await site.put(held)
    assert name_of(await site.put(pod())) == "p"
    asking = pod(**{"ome.io_inject-model-init": "true"})
    assert "key modelInit of ConfigMap inferenceservice-config" in await site.refuse(asking)


@pytest.mark.parametrize(("namespace", "kind"), [("", "ClusterBaseModel"), ("ml", "BaseModel")])
async def test_the_former_form_finds_the_kind_of_its_model(site: Site, namespace: str, kind: str):
    await site.put(model(namespace=namespace), runtime())
    obj = service(predictor={"model": {"baseModel": "llama"}})
    del obj["spec"]["engine"], obj["spec"]["model"]
    assert (await site.put(obj))["spec"]["model"]["kind"] == kind


async def test_a_model_must_exist_and_a_runtime_must_fit(site: Site):
    assert "spec.model.name" in await site.refuse(service())
    await site.put(model())
    assert "spec.runtime" in await site.refuse(service())
    await site.put(runtime())
    await site.put(service())


async def test_a_runtime_of_another_namespace_does_not_count(site: Site):
    await site.put(model(), {**runtime(namespace="ome")})
    assert "spec.runtime" in await site.refuse(service())


async def test_a_service_whose_model_is_unread_waits_instead_of_being_refused(site: Site):
    await site.put(model(modelFormat=None))
    assert name_of(await site.put(service())) == "chat"


async def test_a_weight_is_served_on_the_model_that_it_was_tuned_from(site: Site):
    await site.put(model(), runtime(), {"apiVersion": API, **weight()})
    named = {"name": "tuned", "kind": "FineTunedWeight"}
    assert name_of(await site.put(service(model=named))) == "chat"


async def test_a_service_outlives_its_model(site: Site):
    await site.put(model(), runtime(), service())
    await site.delete(Address(kinds.CLUSTER_BASE_MODEL, "", "llama"))
    await site.patch(CHAT, {"spec": {"engine": {"minReplicas": 2}}})
    await site.patch(CHAT, {"metadata": {"finalizers": ["kohort.dev/test"]}})
    with pytest.raises(ClusterError, match=r"spec\.model\.name"):
        await site.patch(CHAT, {"spec": {"model": {"name": "gone"}}})
    await site.delete(CHAT)
    await site.patch(CHAT, {"metadata": {"finalizers": None}})
    with pytest.raises(ClusterError, match="not found"):
        await site.read(CHAT)


@pytest.mark.parametrize(
    "spec",
    [
        {"acceleratorSelector": {"acceleratorClass": "none"}},
        {"engine": {"acceleratorOverride": {"acceleratorClass": "none"}}},
    ],
)
async def test_an_accelerator_that_no_runtime_has_is_refused_in_an_edit(site: Site, spec: Object):
    await site.put(model(), runtime(), service())
    with pytest.raises(ClusterError, match=r"spec\.runtime"):
        await site.patch(CHAT, {"spec": spec})


def test_what_is_being_deleted_is_not_judged():
    bad = service(annotations={"ome.io/autoscalerClass": "vpa"})
    review = {"apiVersion": "admission.k8s.io/v1", "request": {"uid": "u", "object": bad}}
    assert not answer_review(WEBHOOKS[2], review, DEFAULTS)["response"]["allowed"]
    bad["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert answer_review(WEBHOOKS[2], review, DEFAULTS)["response"]["allowed"]


@pytest.mark.parametrize("namespace", ["", "ml"])
async def test_accelerators_of_a_runtime_must_exist(site: Site, namespace: str):
    needs = {"acceleratorClasses": ["h100"]}
    found = runtime(namespace=namespace, acceleratorRequirements=needs)
    assert "acceleratorClasses[0]: Not found" in await site.refuse(found)
    spec: dict[str, Any] = {"discovery": {}, "capabilities": {}}
    await site.put({"apiVersion": API, **accelerator("h100", **spec)}, found)


async def test_a_runtime_that_clashes_is_warned_of_and_admitted(site: Site):
    first, second = (runtime(name, protocolVersions=["openAI"]) for name in ("first", "second"))
    await site.put(first)
    review = {"apiVersion": "admission.k8s.io/v1", "request": {"uid": "u", "object": second}}
    settings = replace(DEFAULTS, beside=(first,))
    answer = answer_review(WEBHOOKS[4], review, settings)["response"]
    assert answer["allowed"]
    assert "ClusterServingRuntime first serves the same models" in answer["warnings"][0]
    await site.put(second)


async def test_a_pod_is_given_what_its_annotations_ask_for(site: Site):
    found = await site.put(pod(**{"rdma.ome.io_auto-inject": "true"}))
    assert "NCCL_IB_HCA" in [entry["name"] for entry in found["spec"]["containers"][0]["env"]]


async def test_a_pod_whose_container_is_not_configured_is_refused(site: Site):
    asked = pod(**{"ome.io_inject-model-init": "true"})
    assert "key modelInit of ConfigMap inferenceservice-config" in await site.refuse(asked)
    keys = {"image": "a", "compartmentId": "c", "authType": "x", "vaultId": "v"}
    await site.put(configuration(modelInit=keys))
    assert [c["name"] for c in (await site.put(asked))["spec"]["initContainers"]] == ["model-init"]


async def test_a_pod_with_an_adapter_needs_its_weight(site: Site):
    keys = {"image": "a", "compartmentId": "c", "authType": "x"}
    await site.put(configuration(fineTunedAdapter=keys))
    asked = pod(**{"ome.io_inject-fine-tuned-adapter": "tuned"})
    assert "there is no FineTunedWeight tuned" in await site.refuse(asked)
    found = await site.put({"apiVersion": API, **weight()}, asked)
    assert [c["name"] for c in found["spec"]["initContainers"]] == ["fine-tuned-adapter"]


async def test_other_pods_are_left_alone(site: Site):
    other = pod(**{"ome.io_inject-model-init": "true"})
    del other["metadata"]["labels"]
    assert "initContainers" not in (await site.put(other))["spec"]


@pytest.mark.parametrize("hook", WEBHOOKS, ids=lambda hook: hook.path)
@pytest.mark.parametrize("obj", [{}, {"spec": 1}, {"metadata": []}, {"metadata": {"labels": 3}}])
def test_no_question_is_too_strange(hook, obj: dict):
    review = {"apiVersion": "admission.k8s.io/v1", "request": {"uid": "u", "object": obj}}
    find_beside(hook, review, DEFAULTS)
    assert answer_review(hook, review, DEFAULTS)["response"]["uid"] == "u"
