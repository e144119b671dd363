"""Whatever the port is asked, it answers with a review: a verdict, or a sentence and a code."""

from datetime import UTC, datetime
from typing import Any

import aiohttp
import orjson
import pytest
from certificate_world import trust
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.api import DEFAULTS, AdmissionResult, Webhook
from kohort.apis.served import APIS
from kohort.cluster.objects import Kind
from kohort.controller.admission.answers import DEPTH_MAX, answer_review, collect_webhooks
from kohort.controller.admission.server import AdmissionServer
from kohort.controller.certificates.issue import renew_material
from kohort.controller.certificates.live import LiveContext
from spoiled_objects import VALUES, spoiled

HOOKS = collect_webhooks(APIS)
LWS = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
MUTATE, VALIDATE, POD = f"/mutate-{LWS}", f"/validate-{LWS}", "/mutate--v1-pod"
SIZE = "leaderworkerset.sigs.k8s.io/size"
NAME = "leaderworkerset.sigs.k8s.io/name"
INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


def review(obj, old=None, **request):
    asked = {"uid": "u1", "object": obj, "oldObject": old, **request}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


def ask(path, obj, old=None):
    return answer_review(HOOKS[path], review(obj, old), DEFAULTS)["response"]


def lws(**spec):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    whole = {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}, **spec}
    return {"metadata": {"name": "x", "namespace": "lab"}, "spec": whole}


def pod(size="2", tpus="", index="0"):
    limits = {"limits": {"google.com/tpu": tpus}} if tpus else {}
    spec = {"containers": [{"name": "c", "image": "i", "resources": limits}]}
    metadata = {"name": "x-0", "labels": {NAME: "x", INDEX: index}, "annotations": {SIZE: size}}
    return {"metadata": metadata, "spec": spec}


def nest(depth):
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.fixture
async def place():
    material = renew_material(None, ["127.0.0.1"], datetime.now(UTC))
    live = LiveContext()
    live.show(material.certificate, material.key)
    server = AdmissionServer(APIS, DEFAULTS)
    await server.start(live.context, "127.0.0.1")
    yield server, f"https://127.0.0.1:{server.port}", trust(material.ca)
    await server.stop()


async def post(place, path, body):
    _, url, context = place
    session = aiohttp.ClientSession()
    headers = {"Content-Type": "application/json"}
    async with session, session.post(url + path, ssl=context, data=body, headers=headers) as answer:
        return answer.status, orjson.loads(await answer.read())["response"]


def deep_body():
    """900 levels: more than can be written by what reads them."""
    inner = b'{"a":' * 900 + b"1" + b"}" * 900
    return orjson.dumps(review({"spec": "DEEP"})).replace(b'"DEEP"', inner)


@pytest.mark.parametrize("path", [MUTATE, VALIDATE, POD])
async def test_an_object_of_900_levels_is_refused_with_a_sentence(place, path):
    status, answer = await post(place, path, deep_body())
    assert (status, answer["uid"], answer["allowed"]) == (200, "u1", False)
    assert answer["status"]["code"] == 400
    assert answer["status"]["message"] == "the object is nested more than 200 levels deep"


async def test_a_size_of_5000_digits_is_refused_with_a_short_sentence(place):
    status, answer = await post(place, POD, orjson.dumps(review(pod("9" * 5000))))
    assert (status, answer["uid"], answer["allowed"]) == (200, "u1", False)
    message = answer["status"]["message"]
    assert message.startswith("the size annotation of pod x-0 is not a number: '999")
    assert len(message) < 200


@pytest.mark.parametrize("size", ["5000000000", "9999999999"])
def test_tpus_in_a_group_of_billions_are_refused_before_hosts_are_listed(size):
    answer = ask(POD, pod(size, tpus="4"))
    assert answer["allowed"] is False
    assert "at most 10000 hosts can be listed" in answer["status"]["message"]


def test_a_percentage_of_5000_digits_is_more_than_all():
    rolling = {"rollingUpdateConfiguration": {"maxUnavailable": "9" * 5000 + "%"}}
    answer = ask(VALIDATE, lws(rolloutStrategy=rolling))
    assert answer["allowed"] is False
    assert "must not be greater than 100%" in answer["status"]["message"]


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        ({"metadata": {"name": "x"}}, "spec is missing"),
        ({"metadata": {"name": "x"}, "spec": 7}, "spec must be a mapping, not 7"),
        ({"metadata": 5, "spec": {}}, "metadata must be a mapping, not 5"),
        (lws(replicas="three"), 'spec.replicas must be a whole number, not "three"'),
        (
            lws(leaderWorkerTemplate={"workerTemplate": {"spec": {"containers": [3]}}}),
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0] must be a mapping, not 3",
        ),
    ],
)
def test_a_malformed_object_is_denied_with_the_field(obj, why):
    answer = ask(VALIDATE, obj)
    assert (answer["allowed"], answer["status"]["message"]) == (False, why)


def test_a_malformed_pod_is_denied_with_the_field():
    answer = ask(POD, {"metadata": {"name": "p", "labels": {"a": 1}}})
    assert answer["status"]["message"] == "metadata.labels.a must be a text, not 1"


def test_an_update_that_mends_a_malformed_object_is_allowed():
    assert ask(VALIDATE, lws(), old={"metadata": {"name": "x"}, "spec": [1]})["allowed"] is True


def _fail(obj, old, settings):
    raise KeyError("spec")


async def test_a_mistake_of_ours_is_answered_with_a_review_and_logged_once(place, caplog):
    kind = Kind("example.com", "v1", "Thing", "things")
    place[0]._webhooks["/w"] = Webhook("w.kb.io", "/w", kind, (), _fail)
    for _ in range(2):
        status, answer = await post(place, "/w", orjson.dumps(review({"a": 1})))
    assert (status, answer["uid"], answer["allowed"]) == (200, "u1", False)
    assert answer["status"]["code"] == 500
    assert "cannot judge this object" in answer["status"]["message"]
    assert sum(record.exc_info is not None for record in caplog.records) == 1


RICH = lws(
    rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": "50%"}},
    networkConfig={"subdomainPolicy": "Shared"},
    networkTopology={"mode": "hard", "highestTierAllowed": 1},
    startupPolicy="LeaderReady",
)
RICH["metadata"]["annotations"] = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"}
RICH["spec"]["leaderWorkerTemplate"] |= {
    "subGroupPolicy": {"subGroupPolicyType": "LeaderWorker", "subGroupSize": 2},
    "volumeClaimTemplates": [{"metadata": {"name": "w"}, "spec": {"resources": {}}}],
}


@given(st.sampled_from([MUTATE, VALIDATE]), spoiled(RICH), spoiled(RICH) | st.none())
def test_any_spoiled_workload_gets_a_verdict(path, obj, old):
    answer = ask(path, obj, old)
    assert answer["status"]["code"] in (200, 400, 403)


@given(spoiled(pod("4", tpus="4")) | spoiled(pod("4", index="2")))
def test_any_spoiled_pod_gets_a_verdict(obj):
    assert ask(POD, obj)["status"]["code"] in (200, 400, 403)


@given(VALUES)
def test_any_body_gets_a_review(body):
    answer = answer_review(HOOKS[VALIDATE], body, DEFAULTS)
    assert (answer["kind"], answer["response"]["allowed"]) == ("AdmissionReview", False)


def test_depth_is_counted_and_not_size():
    hook = Webhook("w", "/w", Kind("", "v1", "T", "ts"), (), lambda *given: AdmissionResult())
    fits = {**nest(DEPTH_MAX - 2), "many": [{"a": {}}] * 1000}
    assert answer_review(hook, review(fits), DEFAULTS)["response"]["allowed"] is True
    assert answer_review(hook, review(nest(DEPTH_MAX)), DEFAULTS)["response"]["allowed"] is False
