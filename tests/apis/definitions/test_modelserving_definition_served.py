"""The CRDs of ModelServing on our own server: what they keep, fill in and refuse."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.definition import define_alias, define_model_serving
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import Invalid
from kohort.cluster.kinds import DEFINITION, NAMESPACE
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POD: Object = {"spec": {"containers": [{"name": "c", "image": "engine:1"}]}}


@pytest.fixture
async def cluster() -> AsyncIterator[InProcessCluster]:
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "lab"}})
    for definition in (define_model_serving(), define_alias()):
        await cluster.create(DEFINITION, "", definition)
    yield cluster


def role(name: str = "serve", **fields: Any) -> Object:
    return {"name": name, "workerReplicas": 0, "entryTemplate": POD, **fields}


def workload(*roles: Object, group: Object | None = None, **spec: Any) -> Object:
    template = {"roles": list(roles or [role()]), **(group or {})}
    return {"metadata": {"name": "x"}, "spec": {"template": template, **spec}}


async def make(cluster: InProcessCluster, obj: Object, kind: Kind = labels.KIND) -> Object:
    whole = {"apiVersion": kind.api_version, "kind": kind.name, **obj}
    return await cluster.create(kind, "lab", whole)


@pytest.mark.parametrize("kind", labels.KINDS, ids=lambda kind: kind.group)
async def test_what_is_not_said_of_a_model_serving_is_filled_in(
    cluster: InProcessCluster, kind: Kind
):
    strategy: dict[str, Any] = {"rollingUpdateConfiguration": {}}
    made = await make(cluster, workload(rolloutStrategy=strategy), kind)
    spec = made["spec"]
    (only,) = spec["template"]["roles"]
    assert (spec["replicas"], spec["schedulerName"]) == (1, "volcano")
    assert spec["recoveryPolicy"] == "RoleRecreate"
    assert spec["template"]["restartGracePeriodSeconds"] == 0
    assert (only["replicas"], only["maxUnavailable"]) == (1, 1)
    assert spec["rolloutStrategy"] == {
        "type": "ServingGroupRollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 1},
    }


async def test_a_plugin_without_a_type_is_built_in_and_keeps_its_config(cluster: InProcessCluster):
    config = {"anything": {"goes": [1, "x"]}}
    made = await make(cluster, workload(plugins=[{"name": "lws", "config": config}]))
    assert made["spec"]["plugins"] == [{"name": "lws", "type": "BuiltIn", "config": config}]


async def test_two_aliases_of_one_address_are_kept(cluster: InProcessCluster):
    aliases = [{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}]
    pod = {"spec": {**POD["spec"], "hostAliases": aliases}}
    made = await make(cluster, workload(role(entryTemplate=pod)))
    kept = made["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]["hostAliases"]
    assert kept == aliases


BAD: list[tuple[Object, str]] = [
    (workload(role(), role()), "roles name must be unique"),
    (workload(role("thirteen-long")), "Too long: may not be more than 12"),
    (workload(role("-a")), "spec.template.roles[0].name"),
    (workload(*(role(name) for name in "abcde")), "must have at most 4 items"),
    (workload(group={"roles": []}), "should have at least 1 items"),
    (workload(recoveryPolicy="Never"), '"ServingGroupRecreate", "RoleRecreate", "None"'),
    (workload(plugins=[{"name": "x", "type": "Webhook"}]), 'supported values: "BuiltIn"'),
    (workload({"name": "a", "entryTemplate": POD}), "workerReplicas: Required value"),
    (workload({"name": "a", "workerReplicas": 0}), "entryTemplate: Required value"),
    (
        workload(group={"networkTopology": {"groupPolicy": {"highestTierAllowed": -1}}}),
        "highestTierAllowed",
    ),
]


@pytest.mark.parametrize(("obj", "words"), BAD, ids=[words[:40] for _, words in BAD])
async def test_a_wrong_model_serving_is_refused(cluster: InProcessCluster, obj: Object, words: str):
    with pytest.raises(Invalid) as refusal:
        await make(cluster, obj)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (None, "gangPolicy is required once set"),
        ({"minRoleReplicas": {"serve": 0}}, "minRoleReplicas is immutable"),
    ],
)
async def test_a_gang_policy_stays(cluster: InProcessCluster, after: Object | None, words: str):
    policy = {"gangPolicy": {"minRoleReplicas": {"serve": 1}}}
    made = await make(cluster, workload(group=policy))
    made["spec"]["template"] |= {"gangPolicy": after}
    with pytest.raises(Invalid, match=words):
        await cluster.update(Address(labels.KIND, "lab", "x"), made)
