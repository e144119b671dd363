"""Objects that a client writes in v1alpha1 are judged as those of v1alpha2, as on a real server."""

from typing import Any

import pytest
from group_lab import GroupLab, group, standalone, template

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind, Object

OLD = Kind(labels.GROUP, labels.OLD_VERSION, labels.KIND.name, labels.KIND.plural)
SCALE = {"op": "add", "path": "/spec/roles/0/replicas", "value": 3}


def role(name: str, **more: Any) -> Object:
    carrier = {"apiVersion": labels.KIND.api_version, "kind": "RoleInstanceSet"}
    return {"name": name, "replicas": 1, "workload": carrier, "template": template(), **more}


def old_group(*roles: Object) -> Object:
    return {**group(), "apiVersion": OLD.api_version, "spec": {"roles": list(roles)}}


async def test_a_cycle_of_dependencies_is_refused(lab: GroupLab):
    roles = role("a", dependencies=["b"]), role("b", dependencies=["a"])
    with pytest.raises(ClusterError, match="cycle"):
        await lab.apply(old_group(*roles))


async def test_replicas_that_an_adapter_holds_are_refused(lab: GroupLab):
    await lab.apply(old_group(role("a", scalingAdapter={"enable": True})))
    await lab.until(lab.is_done, 60)
    with pytest.raises(ClusterError, match="adapter"):
        await lab.edit("x", SCALE, kind=OLD)
    assert lab.group()["spec"]["roles"][0]["replicas"] == 1


async def test_what_breaks_no_rule_is_let_in(lab: GroupLab):
    await lab.apply(group(standalone("a")))
    await lab.edit("x", SCALE, kind=OLD)
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 3, 60)
