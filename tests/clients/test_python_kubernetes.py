"""The official Python client: typed and dynamic, with watches and server-side apply."""

import pytest
from client_manifests import config_map, deployment, pod, widget
from kubernetes import client, config, dynamic, watch

pytestmark = pytest.mark.clients

APPLY = "application/apply-patch+yaml"


@pytest.fixture(scope="module")
def api(kohort_cluster):
    """A connection to the cluster."""
    made = config.new_client_from_config(str(kohort_cluster.kubeconfig))
    with made:
        yield made


@pytest.fixture
def core(api):
    """The typed client of the core group."""
    return client.CoreV1Api(api)


@pytest.fixture
def dynamics(api, widgets):
    """The client that discovers what is served."""
    return dynamic.DynamicClient(api)


def test_objects_are_created_read_listed_and_deleted(core, kohort_namespace):
    made = core.create_namespaced_config_map(kohort_namespace, config_map(a="1"))
    assert made.metadata.uid
    read = core.read_namespaced_config_map("settings", kohort_namespace)
    assert read.data == {"a": "1"}
    listed = core.list_namespaced_config_map(
        kohort_namespace, field_selector="metadata.name=settings"
    )
    assert [item.metadata.uid for item in listed.items] == [made.metadata.uid]
    core.delete_namespaced_config_map("settings", kohort_namespace)
    with pytest.raises(client.ApiException) as caught:
        core.read_namespaced_config_map("settings", kohort_namespace)
    assert (caught.value.status, caught.value.reason) == (404, "Not Found")


def test_nodes_are_typed_values(core):
    nodes = core.list_node().items
    assert {node.status.allocatable["nvidia.com/gpu"] for node in nodes} == {"8"}
    assert all(node.metadata.creation_timestamp.tzinfo for node in nodes)


def test_lists_come_in_pages(core, kohort_namespace):
    for name in "abc":
        core.create_namespaced_config_map(kohort_namespace, config_map(name))
    first = core.list_namespaced_config_map(kohort_namespace, limit=2)
    rest = core.list_namespaced_config_map(kohort_namespace, _continue=first.metadata._continue)
    names = [item.metadata.name for page in (first, rest) for item in page.items]
    assert names == ["a", "b", "c", "kube-root-ca.crt"][: len(names)]
    assert first.metadata.remaining_item_count == len(rest.items)


def test_a_patch_changes_one_field(core, kohort_namespace):
    core.create_namespaced_config_map(kohort_namespace, config_map(a="1", b="2"))
    patched = core.patch_namespaced_config_map(
        "settings", kohort_namespace, {"data": {"a": None, "c": "3"}}
    )
    assert patched.data == {"b": "2", "c": "3"}


def test_an_update_from_an_old_version_is_a_conflict(core, kohort_namespace):
    made = core.create_namespaced_config_map(kohort_namespace, config_map(a="1"))
    core.patch_namespaced_config_map("settings", kohort_namespace, {"data": {"a": "2"}})
    made.data = {"a": "3"}
    with pytest.raises(client.ApiException) as caught:
        core.replace_namespaced_config_map("settings", kohort_namespace, made)
    assert caught.value.status == 409


def test_a_watch_tells_the_life_of_a_pod(core, kohort_namespace):
    version = core.list_namespaced_pod(kohort_namespace).metadata.resource_version
    core.create_namespaced_pod(kohort_namespace, pod())
    phases, types = [], []
    stream = watch.Watch()
    for event in stream.stream(
        core.list_namespaced_pod, kohort_namespace, resource_version=version, timeout_seconds=60
    ):
        types.append(event["type"])
        phases.append(event["object"].status.phase)
        if phases[-1] == "Running" and phases.count("Running") == 1:
            core.delete_namespaced_pod("one", kohort_namespace)
        if types[-1] == "DELETED":
            stream.stop()
    assert types[0] == "ADDED"
    assert types[-1] == "DELETED"
    assert phases.index("Pending") < phases.index("Running")


def test_logs_are_read(core, kohort_namespace):
    core.create_namespaced_pod(kohort_namespace, pod())
    stream = watch.Watch()
    for event in stream.stream(core.list_namespaced_pod, kohort_namespace, timeout_seconds=60):
        if event["object"].status.phase == "Running":
            break
    assert "container main started" in core.read_namespaced_pod_log("one", kohort_namespace)


def test_a_deployment_is_scaled_through_its_subresource(api, kohort_namespace):
    apps = client.AppsV1Api(api)
    apps.create_namespaced_deployment(kohort_namespace, deployment(replicas=1))
    scale = apps.patch_namespaced_deployment_scale(
        "web", kohort_namespace, {"spec": {"replicas": 3}}
    )
    assert scale.spec.replicas == 3
    assert apps.read_namespaced_deployment("web", kohort_namespace).spec.replicas == 3


def test_custom_objects_are_plain_dictionaries(api, widgets, kohort_namespace):
    customs = client.CustomObjectsApi(api)
    where = ("clients.kohort.dev", "v1", kohort_namespace, "widgets")
    customs.create_namespaced_custom_object(*where, widget())
    customs.patch_namespaced_custom_object(*where, "w", {"spec": {"replicas": 4}})
    assert customs.get_namespaced_custom_object(*where, "w")["spec"]["replicas"] == 4
    with pytest.raises(client.ApiException) as caught:
        customs.create_namespaced_custom_object(*where, widget("x", colour="blue"))
    assert caught.value.status == 422


def test_the_dynamic_client_applies_on_the_server(dynamics, kohort_namespace):
    kind = dynamics.resources.get(api_version="clients.kohort.dev/v1", kind="Widget")
    made = kind.server_side_apply(
        body=widget(replicas=2), namespace=kohort_namespace, field_manager="first"
    )
    assert made.metadata.managedFields[0].manager == "first"
    with pytest.raises(dynamic.exceptions.ConflictError):
        kind.server_side_apply(
            body=widget(replicas=3), namespace=kohort_namespace, field_manager="second"
        )
    forced = kind.server_side_apply(
        body=widget(replicas=3),
        namespace=kohort_namespace,
        field_manager="second",
        force_conflicts=True,
    )
    assert forced.spec.replicas == 3


def test_the_dynamic_client_lists_patches_and_watches(dynamics, kohort_namespace):
    kind = dynamics.resources.get(api_version="v1", kind="ConfigMap")
    kind.create(body=config_map(a="1"), namespace=kohort_namespace)
    patch = {"data": {"a": "2"}}
    kind.patch(
        body=patch,
        name="settings",
        namespace=kohort_namespace,
        content_type="application/merge-patch+json",
    )
    listed = kind.get(namespace=kohort_namespace, field_selector="metadata.name=settings")
    assert [item.data.a for item in listed.items] == ["2"]
    events = kind.watch(namespace=kohort_namespace, name="settings", timeout=60)
    assert next(events)["object"].data.a == "2"
