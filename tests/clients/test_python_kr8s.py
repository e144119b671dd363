"""kr8s, which speaks to the server in its own way: list, watch, patch, wait."""

import kr8s
import pytest
from client_manifests import config_map, deployment, pod, widget
from kr8s.asyncio.objects import ConfigMap, Deployment, Pod, new_class

pytestmark = [
    pytest.mark.clients,
    # It names the versions that it was tested with.
    pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning"),
]


@pytest.fixture
async def api(kohort_cluster, kohort_namespace):
    """A connection whose default namespace is the test's."""
    made = await kr8s.asyncio.api(kubeconfig=str(kohort_cluster.kubeconfig))
    made.namespace = kohort_namespace
    return made


def placed(obj: dict, namespace: str) -> dict:
    obj["metadata"]["namespace"] = namespace
    return obj


async def test_objects_are_created_listed_patched_and_deleted(api, kohort_namespace):
    made = await ConfigMap(placed(config_map(a="1"), kohort_namespace), api=api)
    await made.create()
    await made.patch({"data": {"a": "2"}})
    fields = {"metadata.name": "settings"}
    listed = [item async for item in api.get("configmaps", field_selector=fields)]
    assert [item.raw["data"]["a"] for item in listed] == ["2"]
    await made.delete()
    assert not await made.exists()


async def test_the_nodes_are_listed(api):
    assert len([node async for node in api.get("nodes")]) == 8


async def test_a_json_patch_is_sent_as_one(api, kohort_namespace):
    made = await ConfigMap(placed(config_map(a="1"), kohort_namespace), api=api)
    await made.create()
    await made.patch([{"op": "replace", "path": "/data/a", "value": "9"}], type="json")
    assert made.raw["data"]["a"] == "9"


async def test_a_pod_is_waited_for_and_its_log_is_read(api, kohort_namespace):
    made = await Pod(placed(pod(), kohort_namespace), api=api)
    await made.create()
    await made.wait("condition=Ready", timeout=60)
    assert await made.ready()
    assert "container main started from image img:1" in [line async for line in made.logs()]
    await made.delete()
    await made.wait("delete", timeout=60)


async def test_a_deployment_is_scaled_and_waited_for(api, kohort_namespace):
    made = await Deployment(placed(deployment(replicas=1), kohort_namespace), api=api)
    await made.create()
    # The field that is waited for below exists from the first ready pod on.
    await made.wait("condition=Available", timeout=60)
    await made.scale(3)
    await made.wait("jsonpath='{.status.readyReplicas}'=3", timeout=60)
    assert len(await made.pods()) == 3


async def test_a_watch_tells_of_changes(api, kohort_namespace):
    made = await ConfigMap(placed(config_map(a="1"), kohort_namespace), api=api)
    await made.create()
    told = []
    async for kind, obj in api.watch("configmaps", field_selector="metadata.name=settings"):
        told.append((kind, obj.raw["data"]["a"]))
        if kind == "DELETED":
            break
        await (made.delete() if obj.raw["data"]["a"] == "2" else made.patch({"data": {"a": "2"}}))
    assert told == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


async def test_a_custom_kind_is_found_by_its_name(api, widgets, kohort_namespace):
    kind = new_class("Widget", "clients.kohort.dev/v1", asyncio=True, namespaced=True)
    made = kind(placed(widget(), kohort_namespace), api=api)
    await made.create()
    await made.patch({"status": {"replicas": 2}}, subresource="status")
    (found,) = [item async for item in api.get("widgets.clients.kohort.dev")]
    assert found.raw["status"] == {"replicas": 2}
