"""The CRDs of RoleBasedGroup's group on our own server: what they fill in and refuse."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.definition import DEFINITIONS
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import Invalid
from kohort.cluster.kinds import DEFINITION, NAMESPACE
from kohort.cluster.objects import Kind, Object

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POD: Object = {"spec": {"containers": [{"name": "c", "image": "engine:1"}]}}


@pytest.fixture
async def cluster() -> AsyncIterator[InProcessCluster]:
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "lab"}})
    for define in DEFINITIONS:
        await cluster.create(DEFINITION, "", define())
    yield cluster


async def make(cluster: InProcessCluster, kind: Kind, spec: Object) -> Object:
    whole = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "x"}}
    return await cluster.create(kind, "lab" if kind.namespaced else "", {**whole, "spec": spec})


def role(**fields) -> Object:
    return {"name": "a", "standalonePattern": {"template": POD}, **fields}


async def test_what_is_not_said_of_a_group_is_filled_in(cluster: InProcessCluster):
    strategy: dict[str, Any] = {"rollingUpdate": {}}
    made = await make(cluster, labels.KIND, {"roles": [role(rolloutStrategy=strategy)]})
    (only,) = made["spec"]["roles"]
    assert (only["replicas"], only["podManagementPolicy"]) == (1, "Parallel")
    assert only["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1, "partition": 0},
    }


REFUSED = [
    (labels.KIND, {"roles": []}, "should have at least 1 items"),
    (
        labels.KIND,
        {"roles": [role(leaderWorkerPattern={"template": POD})]},
        "standalonePattern and leaderWorkerPattern are mutually exclusive",
    ),
    (
        labels.KIND,
        {"roles": [role(standalonePattern={"template": POD, "templateRef": {"name": "t"}})]},
        "template and templateRef are mutually exclusive",
    ),
    (
        labels.KIND,
        {
            "roles": [
                {
                    "name": "a",
                    "leaderWorkerPattern": {
                        "template": POD,
                        "restartPolicyConfig": {"baseDelaySeconds": 9, "maxDelaySeconds": 1},
                    },
                }
            ]
        },
        "maxDelaySeconds must be greater than or equal to baseDelaySeconds",
    ),
    (labels.POLICY, {"policies": []}, "should have at least 1 items"),
    (labels.WARMUP, {}, "either targetNodes or targetRoleBasedGroup must be specified"),
    (
        labels.WARMUP,
        {"targetNodes": {"nodeNames": ["n"]}},
        "at least one of imagePreload or customizedAction must be specified",
    ),
]


@pytest.mark.parametrize(
    ("kind", "spec", "said"), REFUSED, ids=lambda v: v if isinstance(v, str) else ""
)
async def test_what_upstream_refuses_is_refused(
    cluster: InProcessCluster, kind: Kind, spec: Object, said: str
):
    with pytest.raises(Invalid, match=said):
        await make(cluster, kind, spec)


async def test_patches_and_components_are_kept_whole(cluster: InProcessCluster):
    patch = {"spec": {"containers": [{"name": "c", "$patch": "delete"}]}, "more": {"x": [1]}}
    pattern = {"template": POD, "workerTemplatePatch": patch}
    part = {"name": "p", "template": {"anything": {"goes": True}}}
    roles = [
        {"name": "a", "leaderWorkerPattern": pattern},
        {"name": "b", "customComponentsPattern": {"components": [part]}},
    ]
    made = await make(cluster, labels.KIND, {"roles": roles})
    first, second = made["spec"]["roles"]
    assert first["leaderWorkerPattern"]["workerTemplatePatch"] == patch
    assert second["customComponentsPattern"]["components"] == [part]


async def test_ratios_and_orders_of_a_policy_are_kept(cluster: InProcessCluster):
    strategy = {
        "rollingUpdate": {"maxSkew": 1, "updateOrder": ["a", "b"]},
        "scaling": {"maxSkew": "10%", "ratio": {"a": 2, "b": 1}},
    }
    rule = {"name": "r", "roles": ["a", "b"], "strategy": strategy}
    made = await make(cluster, labels.POLICY, {"policies": [rule]})
    assert made["spec"]["policies"] == [rule]
