"""Requests that once met a traceback. What a real server says to them is in tests/conformance."""

import pytest
from robust_cluster import CONFIG_MAPS, CRDS, FREE, THINGS, Cluster, config_map, thing

DIGITS = "9" * 5_000
YAML = "application/yaml"
PODS = "/api/v1/namespaces/default/pods"
REVIEWS = "/apis/authorization.k8s.io/v1"
TOKENS = "/api/v1/namespaces/default/serviceaccounts/default/token"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
HUGE = 2**63 - 1


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b"[1\xc2\xb2]", "application/json"),
        (b'{"a":' + DIGITS.encode() + b"}", "application/json"),
        (b'{"a":1e400}', "application/json"),
        (b'{"a":"\xff', "application/json"),
        (b"metadata: {name: !!int abc}", YAML),
        (b"&a [*a]", YAML),
        (b"*a", YAML),
        (b"a: " + DIGITS.encode() + b"\n? []\n: b", YAML),
        (b"\x00", YAML),
    ],
)
@pytest.mark.parametrize("path", [CONFIG_MAPS, CRDS])
async def test_a_body_that_is_none_is_a_bad_request(cluster: Cluster, body, media, path):
    code, answer = await cluster.ask("POST", path, body, media=media)
    assert (code, answer["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize("text", [DIGITS, "1²", "²", "-" + DIGITS])
@pytest.mark.parametrize(
    "query", ["limit", "resourceVersion", "timeoutSeconds", "labelSelector=a>1,b%3E"]
)
async def test_a_number_in_a_query_that_is_none_is_a_bad_request(cluster: Cluster, query, text):
    joint = "" if "Selector" in query else "="
    code, answer = await cluster.ask("GET", f"{CONFIG_MAPS}?{query}{joint}{text}")
    assert (code, answer["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize("text", [DIGITS, "1²"])
async def test_an_index_of_a_patch_that_is_none_is_refused(cluster: Cluster, text):
    await cluster.ask("POST", CONFIG_MAPS, config_map("a"))
    patch = [{"op": "remove", "path": f"/metadata/managedFields/{text}"}]
    assert (await cluster.patch(f"{CONFIG_MAPS}/a", patch, "json"))[0] == 422


async def test_a_grace_period_longer_than_time_is_taken(cluster: Cluster):
    spec = {"containers": [{"name": "a", "image": "a"}], "nodeName": "sim-node-0"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    await cluster.ask("POST", PODS, pod)
    code, answer = await cluster.ask("DELETE", f"{PODS}/a", {"gracePeriodSeconds": HUGE})
    assert (code, answer["metadata"]["deletionGracePeriodSeconds"]) == (200, HUGE)
    assert (await cluster.ask("POST", PODS, {**pod, "metadata": {"name": "b"}}))[0] == 201
    assert cluster.is_alive


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (f"{REVIEWS}/selfsubjectaccessreviews", {"spec": "x"}, 400),
        (f"{REVIEWS}/selfsubjectrulesreviews", {"spec": "x"}, 400),
        (f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": []}}, 400),
        (TOKENS, {"spec": {"expirationSeconds": 2**62}}, 422),
        (TOKENS, {"spec": {"expirationSeconds": "x"}}, 400),
        (TOKENS, {"spec": "x"}, 400),
        (f"{PODS}/a/binding", {"metadata": {"name": "a"}, "target": "x"}, 400),
        (f"{PODS}/a/eviction", {"metadata": {"name": "a"}, "deleteOptions": "x"}, 400),
    ],
)
async def test_what_is_asked_in_a_wrong_form_is_refused(cluster: Cluster, path, body, code):
    assert (await cluster.ask("POST", path, body))[0] == code


@pytest.mark.parametrize(
    ("patch", "form"),
    [
        ({"spec": "x"}, "merge"),
        ({"metadata": "x"}, "merge"),
        ({"spec": {"replicas": "1"}}, "merge"),
        ([{"op": "replace", "path": "/spec", "value": [1]}], "json"),
    ],
)
async def test_a_scale_that_is_patched_into_none_is_refused(cluster: Cluster, patch, form):
    labels = {"app": "a"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}
    assert (await cluster.ask("POST", DEPLOYMENTS, body))[0] == 201
    assert (await cluster.patch(f"{DEPLOYMENTS}/a/scale", patch, form))[0] == 422


@pytest.mark.parametrize("form", ["merge", "json"])
async def test_metadata_that_is_patched_away_is_a_bad_request(cluster: Cluster, form):
    await cluster.define(FREE)
    await cluster.ask("POST", THINGS, thing("a"))
    patch = {"metadata": None} if form == "merge" else [{"op": "remove", "path": "/metadata"}]
    assert (await cluster.patch(f"{THINGS}/a", patch, form))[0] == 400
