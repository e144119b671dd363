"""Webhooks that judge an object beside others, and the configurations in which webhooks lie."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from gadget_api import GADGETS, PROFILE
from kohort.apis.api import DEFAULTS, AdmissionResult, Settings, Webhook
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import NAMESPACE
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address
from kohort.controller.admission.beside import read_beside
from kohort.controller.install.webhooks import Endpoint, write_configurations
from kohort.simulator.api_admission import ApiAdmission

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
ALL, ONE = Address(CONFIG_MAP, "lab", ""), Address(CONFIG_MAP, "lab", "one")
UNSERVED = Address(PROFILE, "", "")


def judge(obj: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    """Refuse whatever is judged, in a sentence that tells what lies beside."""
    found = settings.list_beside(CONFIG_MAP)
    return AdmissionResult(refusal=f"beside: {', '.join(map(name_of, found)) or 'nothing'}")


def make_cluster(*beside: Address, **hook: Any) -> InProcessCluster:
    """A cluster whose ConfigMaps called ``new`` are judged beside others."""
    server = ApiServer(
        Store(), Registry(builtin_resources()), lambda: datetime(2026, 1, 1, tzinfo=UTC), Random(1)
    )
    chosen = {"matchLabels": {"is": "new"}}
    webhook = Webhook("v.kohort.dev", "/v", CONFIG_MAP, ("CREATE",), judge, chosen, **hook)
    webhook = replace(webhook, find_beside=lambda obj, settings: beside)
    server.context.admission = ApiAdmission(
        [replace(GADGETS, webhooks=(webhook,))], DEFAULTS, find=server.context.find_objects
    )
    return InProcessCluster(server)


async def fill(cluster: InProcessCluster, *labelled: str) -> None:
    """Namespaces lab, with labels, and attic; two ConfigMaps in the one and one in the other."""
    labels = dict.fromkeys(labelled, "x")
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "lab", "labels": labels}})
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "attic"}})
    for namespace, name in (("lab", "one"), ("lab", "two"), ("attic", "three")):
        await cluster.create(CONFIG_MAP, namespace, {"metadata": {"name": name}})


async def ask(cluster: InProcessCluster) -> str:
    """What the webhook says to a new ConfigMap."""
    metadata = {"name": "new", "labels": {"is": "new"}}
    try:
        await cluster.create(CONFIG_MAP, "lab", {"metadata": metadata})
    except ClusterError as error:
        return str(error).partition("request: ")[2]
    return "allowed"


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        ((ONE,), "beside: one"),
        ((ALL,), "beside: one, two"),
        ((ONE, Address(CONFIG_MAP, "attic", "three")), "beside: one, three"),
        ((Address(CONFIG_MAP, "lab", "gone"),), "beside: nothing"),
        ((UNSERVED, ONE), "beside: one"),
        ((), "beside: nothing"),
    ],
)
async def test_an_object_is_judged_beside_what_its_webhook_asks_for(
    addresses: tuple[Address, ...], said: str
):
    cluster = make_cluster(*addresses)
    await fill(cluster)
    assert await ask(cluster) == said


async def test_a_webhook_is_not_asked_in_namespaces_that_it_does_not_select():
    without = {"matchExpressions": [{"key": "control-plane", "operator": "DoesNotExist"}]}
    cluster = make_cluster(namespaces=without)
    await fill(cluster, "control-plane")
    assert await ask(cluster) == "allowed"
    other = make_cluster(namespaces=without)
    await fill(other)
    assert await ask(other) == "beside: nothing"


@pytest.mark.parametrize(
    ("address", "names"),
    [
        (ONE, ["one"]),
        (ALL, ["one", "two"]),
        (Address(CONFIG_MAP, "lab", "gone"), []),
        (UNSERVED, []),
    ],
)
async def test_what_lies_beside_is_read_from_a_cluster(address: Address, names: list[str]):
    cluster = make_cluster()
    await fill(cluster)
    found = await read_beside(cluster, address)
    assert [name_of(obj) for obj in found] == names
    assert [obj["kind"] for obj in found] == ["ConfigMap"] * len(names)


def test_a_webhook_may_lie_in_a_configuration_of_its_own():
    usual = Webhook("a.kohort.dev", "/a", CONFIG_MAP, ("CREATE",), judge, mutates=True)
    apart = replace(usual, name="b.kohort.dev", path="/b", configuration="apart.kohort.dev")
    other = replace(apart, namespaces={"matchLabels": {"a": "b"}}, reinvocation="IfNeeded")
    made = write_configurations([replace(GADGETS, webhooks=(usual, other))], Endpoint())
    assert [name_of(found) for found in made] == [
        "gadget-mutating-webhook-configuration",
        "apart.kohort.dev",
    ]
    (hook,) = made[1]["webhooks"]
    assert hook["namespaceSelector"] == {"matchLabels": {"a": "b"}}
    assert (hook["name"], hook["reinvocationPolicy"]) == ("b.kohort.dev", "IfNeeded")
