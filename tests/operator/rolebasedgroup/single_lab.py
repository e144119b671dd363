"""A laboratory with RoleInstanceSets and RoleInstances that a user makes by hand."""

from typing import Any

from group_lab import GroupLab, template
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE, ROLE_INSTANCE_SET
from kohort.cluster.objects import Object, is_true, name_of

SET, INSTANCE = labels.INSTANCE_SET, labels.INSTANCE
IMAGE = "/spec/roleInstanceTemplate/components/0/template/spec/containers/0/image"


def component(name: str = "engine", size: int = 1, **more: Any) -> Object:
    return {"name": name, "size": size, "template": template(), **more}


def instance_set(*components: Object, replicas: int = 2, **more: Any) -> Object:
    """A RoleInstanceSet; ``more`` may hold annotations, restart and fields of its spec."""
    notes, restart = more.pop("annotations", {}), more.pop("restart", None)
    inner: Object = {"components": list(components) or [component()]}
    if restart:
        inner["restartPolicyConfig"] = {
            "type": restart,
            "baseDelaySeconds": 0,
            "maxDelaySeconds": 0,
        }
    marks = {"app": "x"}
    return {
        "apiVersion": SET.api_version,
        "kind": SET.name,
        "metadata": {"name": "x", "namespace": "default", "labels": marks, "annotations": notes},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": marks},
            "roleInstanceTemplate": inner,
            **more,
        },
    }


def instance(*components: Object, **annotations: str) -> Object:
    return {
        "apiVersion": INSTANCE.api_version,
        "kind": INSTANCE.name,
        "metadata": {"name": "solo", "namespace": "default", "annotations": annotations},
        "spec": {"components": list(components) or [component("leader"), component("worker", 2)]},
    }


class SingleLab(GroupLab):
    """A cluster in which RoleBasedGroups are served, and their parts by themselves."""

    def __init__(self, **more: Any) -> None:
        apis = (ROLE_BASED_GROUP, ROLE_INSTANCE_SET, ROLE_INSTANCE)
        Lab.__init__(self, DEFAULTS, apis=apis, **more)

    def set(self) -> Object:
        found = self.find(SET, "x")
        assert found is not None
        return found

    def instances(self) -> dict[str, Object]:
        return {name_of(found): found for found in self.all(INSTANCE)}

    def instance_uids(self) -> dict[str, str]:
        return {name: found["metadata"]["uid"] for name, found in self.instances().items()}

    def is_set_done(self) -> bool:
        obj = self.set()
        status, wanted = obj.get("status") or {}, obj["spec"]["replicas"]
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        counts = [status.get(f"{key}eplicas") for key in ("r", "readyR", "updatedReadyR")]
        return is_seen and counts == [wanted] * 3 and len(self.instances()) == wanted

    def is_instance_ready(self) -> bool:
        obj = self.find(INSTANCE, "solo")
        assert obj is not None
        status = obj.get("status") or {}
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        return is_seen and is_true(obj, "RoleInstanceReady")

    async def change(self, path: str, value: Any, name: str = "x") -> None:
        kind = SET if name == "x" else INSTANCE
        await self.edit(name, {"op": "add", "path": path, "value": value}, kind=kind)


async def start_instances(lab: SingleLab, *components: Object, **more: Any) -> None:
    """Make a RoleInstanceSet, and let it become ready."""
    await lab.apply(instance_set(*components, **more))
    await lab.until(lab.is_set_done, 120)
