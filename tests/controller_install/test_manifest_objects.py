"""Everything that a cluster needs: what is in it, and that a server takes it."""

import pytest
from install_world import Site

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cli.main import COMMANDS
from kohort.cli.table import Command
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.controller.install import ManifestOptions, write_manifests
from kohort.controller.process.configuration import Configuration, read_configuration

APIS = [LEADER_WORKER_SET]


def by_kind(options: ManifestOptions) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for obj in write_manifests(APIS, options):
        found.setdefault(obj["kind"], []).append(name_of(obj))
    return found


def find(kind: str, options: ManifestOptions) -> Object:
    return next(obj for obj in write_manifests(APIS, options) if obj["kind"] == kind)


WITH_IMAGE = ManifestOptions(image="kohort:1")


def test_names_are_those_that_clusters_know():
    assert by_kind(WITH_IMAGE) == {
        "Namespace": ["lws-system"],
        "CustomResourceDefinition": ["leaderworkersets.leaderworkerset.x-k8s.io"],
        "ServiceAccount": ["lws-controller-manager"],
        "ClusterRole": ["lws-manager-role", "lws-metrics-reader", "lws-proxy-role"],
        "ClusterRoleBinding": [
            "lws-manager-rolebinding",
            "lws-metrics-reader-rolebinding",
            "lws-proxy-rolebinding",
        ],
        "Role": ["lws-leader-election-role", "lws-webhook-certificate-role"],
        "RoleBinding": [
            "lws-leader-election-rolebinding",
            "lws-webhook-certificate-rolebinding",
        ],
        "Secret": ["lws-webhook-server-cert"],
        "ConfigMap": ["lws-manager-config"],
        "Service": ["lws-webhook-service", "lws-controller-manager-metrics-service"],
        "Deployment": ["lws-controller-manager"],
        "MutatingWebhookConfiguration": ["lws-mutating-webhook-configuration"],
        "ValidatingWebhookConfiguration": ["lws-validating-webhook-configuration"],
    }


def test_metrics_are_for_those_who_may_get_the_page_and_the_operator_may_ask_who_that_is():
    rules = {name_of(o): o["rules"] for o in write_manifests(APIS, WITH_IMAGE) if "rules" in o}
    assert rules["lws-metrics-reader"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    reviews = {
        "authentication.k8s.io": "tokenreviews",
        "authorization.k8s.io": "subjectaccessreviews",
    }
    assert rules["lws-proxy-role"] == [
        {"apiGroups": [group], "resources": [resource], "verbs": ["create"]}
        for group, resource in reviews.items()
    ]


def test_every_binding_binds_the_operator_to_the_role_that_it_is_named_for():
    bound = {
        name_of(obj): (obj["roleRef"]["name"], obj["subjects"][0]["name"])
        for obj in write_manifests(APIS, WITH_IMAGE)
        if "roleRef" in obj
    }
    account = "lws-controller-manager"
    assert bound["lws-proxy-rolebinding"] == ("lws-proxy-role", account)
    assert bound["lws-metrics-reader-rolebinding"] == ("lws-metrics-reader", account)


def test_without_an_image_nothing_runs():
    assert "Deployment" not in by_kind(ManifestOptions())


def test_with_a_url_there_is_no_service():
    options = ManifestOptions(webhook_url="https://10.0.0.7:9443/")
    assert "Service" not in by_kind(options)
    hooks = find("ValidatingWebhookConfiguration", options)["webhooks"]
    path = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
    assert hooks[0]["clientConfig"] == {"url": f"https://10.0.0.7:9443{path}"}


def test_everything_that_has_a_namespace_has_the_one_that_was_asked_for():
    objects = write_manifests(APIS, ManifestOptions("serving", "kohort:1"))
    assert {namespace_of(obj) for obj in objects} == {"", "serving"}
    binding = next(obj for obj in objects if obj["kind"] == "ClusterRoleBinding")
    assert binding["subjects"][0]["namespace"] == "serving"


def test_the_pod_webhook_is_called_for_our_pods_only_and_only_once_each():
    mutating = find("MutatingWebhookConfiguration", WITH_IMAGE)["webhooks"]
    pods = next(hook for hook in mutating if hook["name"] == "mpod.kb.io")
    assert pods["objectSelector"]["matchExpressions"][0]["operator"] == "Exists"
    validating = find("ValidatingWebhookConfiguration", WITH_IMAGE)["webhooks"]
    assert [hook["name"] for hook in validating] == ["vleaderworkerset.kb.io"]


def test_the_operators_pods_are_restricted():
    pod = find("Deployment", WITH_IMAGE)["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_the_operator_can_read_its_configuration_and_its_flags():
    text = find("ConfigMap", WITH_IMAGE)["data"]["controller_manager_config.yaml"]
    assert read_configuration(text) == Configuration()
    (container,) = find("Deployment", WITH_IMAGE)["spec"]["template"]["spec"]["containers"]
    command = COMMANDS.entries[container["args"][0]].load()
    assert isinstance(command, Command)
    parsed = command.make_parser("kohort controller").read(container["args"][1:])
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(parsed.config) in mounts


@pytest.mark.parametrize(
    "options", [WITH_IMAGE, ManifestOptions(webhook_url="https://10.0.0.7:9443")]
)
async def test_a_server_takes_them_in_their_order(options: ManifestOptions):
    site = Site()
    for obj in write_manifests(APIS, options):
        group, _, version = obj["apiVersion"].rpartition("/")
        resource = next(
            r
            for r in site.api.registry.resources()
            if (r.kind.group, r.kind.version, r.kind.name) == (group, version, obj["kind"])
        )
        stored = await site.create(resource.kind, namespace_of(obj), obj)
        assert stored.get("webhooks") == obj.get("webhooks")


def test_gangs_are_configured_and_allowed_where_they_are_asked_for():
    plain, gang = ManifestOptions(), ManifestOptions(gang="volcano")
    (text,) = find("ConfigMap", gang)["data"].values()
    assert read_configuration(text).scheduler == "volcano"
    more = [
        rule
        for rule in find("ClusterRole", gang)["rules"]
        if rule not in find("ClusterRole", plain)["rules"]
    ]
    seen = ["podgroups.scheduling.volcano.sh", "hypernodes.topology.volcano.sh"]
    assert more == [
        {
            "apiGroups": ["apiextensions.k8s.io"],
            "resources": ["customresourcedefinitions"],
            "resourceNames": ["leaderworkersets.leaderworkerset.x-k8s.io", *seen],
            "verbs": ["list", "watch"],
        },
        {
            "apiGroups": ["scheduling.volcano.sh"],
            "resources": ["podgroups"],
            "verbs": ["get", "list", "watch", "create", "patch"],
        },
        {
            "apiGroups": ["topology.volcano.sh"],
            "resources": ["hypernodes"],
            "verbs": ["list", "watch"],
        },
    ]
