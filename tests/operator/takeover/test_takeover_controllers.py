"""Which Deployments and webhook configurations a takeover stops and removes, and which it notes."""

from kohort.apis.served import choose_apis
from kohort.cluster.objects import Object
from kohort.takeover.controllers import Installed, OtherControllers, find_controllers
from upstream_controllers import OTHERS, VALIDATING

APIS = choose_apis(("lws",))
LWS_GROUP = "leaderworkerset.x-k8s.io"


def deployment(name: str, namespace: str, labels: dict[str, str]) -> Object:
    template = {"metadata": {"labels": labels}}
    return {
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


def service(name: str, namespace: str, labels: dict[str, str]) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "Service", "metadata": metadata, "spec": {"selector": labels}}


def configuration(name: str, namespace: str, named: str, *groups: str) -> Object:
    config = {"service": {"namespace": namespace, "name": named}}
    hooks = [{"clientConfig": config, "rules": [{"apiGroups": [group]}]} for group in groups]
    return {"kind": VALIDATING, "metadata": {"name": name}, "webhooks": hooks}


def find_with(*objects: Object, named: tuple[tuple[str, str], ...] = ()) -> OtherControllers:
    """What is found among upstream's own objects and these."""
    found = [*OTHERS["lws"].list_objects(), *objects]
    kinds = ("Deployment", "WebhookConfiguration", "Service")
    sorted_out = [[o for o in found if o["kind"].endswith(kind)] for kind in kinds]
    return find_controllers(APIS, Installed(*sorted_out), named)


def names(found: OtherControllers) -> list[str]:
    return [other.name for other in found.deployments]


LABELS = {"app": "kueue"}
KUEUE = (
    deployment("kueue-controller-manager", "kueue-system", LABELS),
    service("kueue-webhook-service", "kueue-system", LABELS),
    configuration("kueue", "kueue-system", "kueue-webhook-service", "batch", LWS_GROUP),
)


def test_a_scheduler_with_a_webhook_about_the_api_is_noted_and_left_alone():
    found = find_with(*KUEUE)
    assert names(found) == ["lws-controller-manager"]
    assert {place.name for place in found.hooks} == {hook for _, hook, _ in OTHERS["lws"].hooks}
    assert len(found.notes) == 1
    assert "kueue leads to kueue-system/kueue-controller-manager" in found.notes[0]


def test_a_policy_engine_whose_only_policy_is_about_the_api_is_left_alone():
    labels = {"app": "policies"}
    found = find_with(
        deployment("policies", "policies", labels),
        service("policies", "policies", labels),
        configuration("policies", "policies", "policies", LWS_GROUP),
    )
    assert names(found) == ["lws-controller-manager"]
    assert len(found.notes) == 1


def test_a_neighbour_behind_the_same_service_is_not_stopped():
    """Selectors such as ``control-plane: controller-manager`` fit many controllers."""
    labels = dict(OTHERS["lws"].labels)
    found = find_with(
        deployment("neighbour", "lws-system", labels),
        configuration("neighbour", "lws-system", "lws-webhook-service", "batch"),
    )
    assert names(found) == ["lws-controller-manager"]
    assert "neighbour" not in {place.name for place in found.hooks}


def test_a_deployment_that_the_user_names_is_stopped_with_its_configurations():
    found = find_with(*KUEUE, named=(("kueue-system", "kueue-controller-manager"),))
    assert names(found) == ["lws-controller-manager", "kueue-controller-manager"]
    assert "kueue" in {place.name for place in found.hooks}
    assert found.notes == ()
