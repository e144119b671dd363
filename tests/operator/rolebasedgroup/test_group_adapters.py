"""Scaling adapters: what an autoscaler writes and reads."""

from typing import Any

import pytest
from group_lab import KIND, GroupLab, group, leader_worker, standalone, start
from races import act_before_patch

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, PatchType

SCALED = {"scalingAdapter": {"enable": True}}


def adapter(lab: GroupLab, name: str = "x-router") -> Object:
    found = lab.find(labels.ADAPTER, name)
    assert found is not None
    return found


async def scale(lab: GroupLab, replicas: int, name: str = "x-router") -> None:
    """``kubectl scale``, or an autoscaler."""
    target = lab.api.target(labels.ADAPTER, lab.namespace, name, "scale")
    body = {"spec": {"replicas": replicas}}
    await lab.api.patch(
        target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="autoscaler")
    )


async def test_an_adapter_is_bound_and_selects_the_pods_of_its_role(lab: GroupLab):
    await start(lab, standalone("router", 3, **SCALED))
    await lab.until(lambda: adapter(lab).get("status", {}).get("readyReplicas") == 3)
    status = adapter(lab)["status"]
    assert (status["phase"], status["replicas"]) == ("Bound", 3)
    marks = dict(pair.split("=") for pair in status["selector"].split(","))
    found = [p for p in lab.pods().values() if marks.items() <= p["metadata"]["labels"].items()]
    assert len(found) == 3


async def test_an_adapter_of_leaders_and_workers_counts_leaders(lab: GroupLab):
    await start(lab, leader_worker(**SCALED))
    await lab.until(lambda: "selector" in adapter(lab, "x-engine").get("status", {}))
    selector = adapter(lab, "x-engine")["status"]["selector"]
    assert selector.endswith(f"{labels.COMPONENT_INDEX}=0")


async def test_what_an_autoscaler_asks_for_reaches_the_group_and_its_pods(lab: GroupLab):
    await start(lab, standalone("router", 2, **SCALED))
    revisions = len(lab.all(CONTROLLER_REVISION))
    before = lab.uids()
    await scale(lab, 4)
    await lab.until(lambda: len(lab.pods()) == 4 and lab.is_done())
    assert lab.group()["spec"]["roles"][0]["replicas"] == 4
    assert adapter(lab)["status"]["replicas"] == 4
    assert adapter(lab)["status"]["lastScaleTime"]
    assert before.items() <= lab.uids().items()
    assert len(lab.all(CONTROLLER_REVISION)) == revisions


async def test_scale_to_zero_and_back_works(lab: GroupLab):
    await start(lab, standalone("router", 2, **SCALED))
    await scale(lab, 0)
    await lab.until(lambda: not lab.pods() and lab.is_done())
    await scale(lab, 1)
    await lab.until(lambda: len(lab.pods()) == 1 and lab.is_done())


async def test_a_manifest_applied_again_does_not_reset_what_an_autoscaler_asked_for(lab: GroupLab):
    await start(lab, standalone("router", 1, **SCALED))
    await scale(lab, 3)
    await lab.until(lambda: len(lab.pods()) == 3 and lab.is_done())
    before = lab.uids()
    lab.remove_webhooks()
    await lab.set_field("/spec/roles/0/replicas", 1)
    await lab.until(lambda: lab.group()["spec"]["roles"][0]["replicas"] == 3)
    assert lab.uids() == before


async def test_replicas_that_an_adapter_holds_are_not_changed_in_the_group(lab: GroupLab):
    """E2E webhook_validation: a replicas change with an adapter."""
    await start(lab, standalone("router", 2, **SCALED), standalone("other", 1))
    await lab.until(lambda: adapter(lab).get("status", {}).get("phase") == "Bound")
    with pytest.raises(ClusterError, match="scaling adapter x-router holds 2 replicas"):
        await lab.set_field("/spec/roles/0/replicas", 5)
    await lab.set_field("/spec/roles/1/replicas", 2)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 4)
    await scale(lab, 3)
    await lab.until(lambda: lab.is_done() and len(lab.pods("router")) == 3)


ADAPTER = "/spec/roles/0/scalingAdapter"


@pytest.mark.parametrize(
    "change",
    [
        {"op": "replace", "path": f"{ADAPTER}/enable", "value": False},
        {"op": "remove", "path": f"{ADAPTER}/enable"},
        {"op": "remove", "path": ADAPTER},
    ],
    ids=["false", "not said", "removed"],
)
async def test_an_adapter_goes_when_its_role_wants_none(lab: GroupLab, change: Object):
    await start(lab, standalone("router", 1, **SCALED), standalone("other", 1, **SCALED))
    await lab.edit("x", change, kind=KIND)
    await lab.until(lambda: [a["metadata"]["name"] for a in lab.all(labels.ADAPTER)] == ["x-other"])
    await lab.edit("x", {"op": "remove", "path": "/spec/roles/1"}, kind=KIND)
    await lab.until(lambda: not lab.all(labels.ADAPTER))


def is_scaling(address: Address, body: Any) -> bool:
    return not address.part and isinstance(body, list)


async def test_a_number_reaches_its_role_though_a_user_moves_the_roles_meanwhile(lab: GroupLab):
    await start(lab, standalone("router", 1, **SCALED), standalone("other", 1))

    async def move() -> None:
        await lab.set_field("/spec/roles", lab.group()["spec"]["roles"][::-1])

    patches = act_before_patch(lab.cluster, KIND, move, is_scaling)
    await scale(lab, 3)
    await lab.until(lambda: lab.is_done() and len(lab.pods("router")) == 3)
    assert patches
    counts = {role["name"]: role["replicas"] for role in lab.group()["spec"]["roles"]}
    assert counts == {"other": 1, "router": 3}


async def test_a_group_that_is_made_anew_meanwhile_is_not_scaled(lab: GroupLab):
    await start(lab, standalone("router", 1, **SCALED))

    async def make_anew() -> None:
        await lab.delete(KIND, "x")
        await lab.apply(group(standalone("router", 1)))

    patches = act_before_patch(lab.cluster, KIND, make_anew, is_scaling)
    await scale(lab, 3)
    await lab.run(30)
    assert patches
    assert lab.group()["spec"]["roles"][0]["replicas"] == 1
