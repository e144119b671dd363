"""A set that a ModelServing carries waits while another controller of LeaderWorkerSets is there."""

from collections.abc import AsyncIterator

import pytest
from operator_lab import Lab, make_lws

from kohort.apis.bridges.carried_lws import carry_by_serving
from kohort.apis.home import is_own_holder, name_holder
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.cluster.errors import Forbidden
from kohort.cluster.objects import Kind, Object, find_condition

CARRIED = {"kohort.dev/carrier": "modelserving", "kohort.dev/force": "true"}
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
CONFIGURATION = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)
OURS = "lws-controller-manager-1_kohort-0f9f"
THEIRS = "lws-controller-manager-1_c1a0"


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    apis = (carry_by_serving(LEADER_WORKER_SET), MODEL_SERVING, FORMER_MODEL_SERVING)
    found = await Lab(apis=apis).open()
    yield found
    await found.close()


def lease_of(holder: str) -> Object:
    return {
        "apiVersion": LEASE.api_version,
        "kind": LEASE.name,
        "metadata": {"name": "b8b2488c.x-k8s.io"},
        "spec": {"holderIdentity": holder},
    }


def configuration_of(manager: str) -> Object:
    return {
        "apiVersion": CONFIGURATION.api_version,
        "kind": CONFIGURATION.name,
        "metadata": {
            "name": "lws-validating-webhook-configuration",
            "labels": {"app.kubernetes.io/managed-by": manager},
        },
        "webhooks": [],
    }


def stalled(lab: Lab) -> str:
    found = find_condition(lab.lws(), "Stalled") or {}
    is_so = (found.get("status"), found.get("reason")) == ("True", "AnotherController")
    return str(found["message"]) if is_so else ""


async def test_a_lease_that_another_controller_holds_keeps_the_set_waiting(lab: Lab):
    """By its holder, not by its name; and the set goes on as soon as the lease is free."""
    await lab.apply(lease_of(THEIRS))
    await lab.apply(make_lws(size=2, annotations=CARRIED))
    await lab.run(30)
    assert f"{THEIRS} holds the lease default/b8b2488c.x-k8s.io" in stalled(lab)
    assert lab.all(MODEL_SERVING.kind) == []
    free = {"op": "replace", "path": "/spec/holderIdentity", "value": ""}
    await lab.edit("b8b2488c.x-k8s.io", free, kind=LEASE)
    await lab.until(lab.is_available, 120)


async def test_a_webhook_configuration_of_another_manager_keeps_the_set_waiting(lab: Lab):
    await lab.apply(configuration_of("Helm"))
    await lab.apply(make_lws(size=2, annotations=CARRIED))
    await lab.run(30)
    assert "is managed by Helm, not by Kohort" in stalled(lab)
    assert lab.all(MODEL_SERVING.kind) == []


async def test_names_that_we_bear_ourselves_tell_nothing(lab: Lab):
    await lab.apply(lease_of(OURS))
    await lab.apply(configuration_of("kohort"))
    await lab.apply(make_lws(size=2, annotations=CARRIED))
    await lab.until(lab.is_available, 120)
    assert stalled(lab) == ""


async def test_an_operator_that_may_not_see_leases_calls_no_set_unserved(lab: Lab):
    await lab.apply(make_lws(size=2, annotations=CARRIED))
    await lab.until(lab.is_available, 120)
    controller = lab.operator.controllers[0]
    for _, cache in controller.references:
        lab.operator.informers.absent[cache.selection] = Forbidden("leases is forbidden")
    key = ("default", "x")
    root = controller.roots.find(key)
    assert root is not None
    assert controller.gather(key, root).absent == {}


async def test_other_sets_do_not_ask(lab: Lab):
    await lab.apply(lease_of(THEIRS))
    await lab.apply(make_lws(size=2))
    await lab.until(lab.is_available, 120)


def test_a_process_of_ours_says_so_in_its_lease():
    assert is_own_holder(name_holder("lws-controller-manager-1", "0f9f"))
    assert not is_own_holder(THEIRS)
