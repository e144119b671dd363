"""A laboratory with RoleBasedGroup in it, and short words for its objects."""

from typing import Any

from operator_lab import Lab

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import PatchType
from kohort.simulator.embedded.bootstrap import list_prerequisites

KIND = ROLE_BASED_GROUP.kind


def template(image: str = "engine:1", **spec: Any) -> Object:
    return {"spec": {"containers": [{"name": "engine", "image": image}], **spec}}


def standalone(name: str = "router", replicas: int = 2, **more: Any) -> Object:
    pattern = {"standalonePattern": {"template": template()}}
    return {"name": name, "replicas": replicas, **pattern, **more}


def leader_worker(name: str = "engine", replicas: int = 2, size: int = 2, **more: Any) -> Object:
    pattern = {"leaderWorkerPattern": {"size": size, "template": template()}}
    return {"name": name, "replicas": replicas, **pattern, **more}


def group(*roles: Object, **annotations: str) -> Object:
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": "x", "namespace": "default", "annotations": annotations},
        "spec": {"roles": list(roles) or [leader_worker(), standalone()]},
    }


class GroupLab(Lab):
    """A cluster with RoleBasedGroups."""

    def __init__(self, settings: Settings = DEFAULTS, **more: Any) -> None:
        super().__init__(settings, apis=(ROLE_BASED_GROUP,), **more)

    def group(self, name: str = "x") -> Object:
        found = self.find(KIND, name)
        assert found is not None
        return found

    def status(self, name: str = "x") -> Object:
        found: Object = self.group(name).get("status") or {}
        return found

    def is_ready(self) -> bool:
        obj, status = self.group(), self.status()
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        ready = [c["status"] for c in status.get("conditions", ()) if c["type"] == "Ready"]
        return is_seen and ready == ["True"]

    def is_done(self) -> bool:
        counts = self.status().get("roleStatuses", ())
        return self.is_ready() and all(r["updatedReplicas"] == r["replicas"] for r in counts)

    def pods(self, role: str = "") -> dict[str, Object]:
        found = self.all(kinds.POD)
        return {
            name_of(pod): pod
            for pod in found
            if not role or labels_of(pod).get(labels.ROLE_NAME) == role
        }

    def uids(self, role: str = "") -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.pods(role).items()}

    def images(self, role: str = "") -> set[str]:
        return {pod["spec"]["containers"][0]["image"] for pod in self.pods(role).values()}

    async def set_field(self, path: str, value: Any) -> None:
        await self.edit("x", {"op": "add", "path": path, "value": value}, kind=KIND)

    async def fail_pod(self, name: str) -> None:
        """The node says that all containers of a pod have ended."""
        target = self.api.target(kinds.POD, self.namespace, name, "status")
        body = {"status": {"phase": "Failed"}}
        await self.api.patch(
            target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="kubelet")
        )

    async def set_image(
        self, image: str, index: int = 0, pattern: str = "standalonePattern"
    ) -> None:
        path = f"/spec/roles/{index}/{pattern}/template/spec/containers/0/image"
        await self.set_field(path, image)


async def install(lab: Lab, gang: str) -> None:
    """Let the cluster have a gang scheduler, with all that comes along with it."""
    for definition in definitions_of(gang):
        await lab.api.create(lab.api.target(kinds.DEFINITION), definition, WriteOptions())
    for kind, body in list_prerequisites(gang):
        await lab.api.create(lab.api.target(kind), body, WriteOptions())


async def start(lab: GroupLab, *roles: Object, **annotations: str) -> None:
    """Make a RoleBasedGroup, and let it become ready."""
    await lab.apply(group(*roles, **annotations))
    await lab.until(lab.is_done, 120)


async def begin(lab: GroupLab, *roles: Object, **annotations: str) -> None:
    """Make a RoleBasedGroup, and let it come to rest."""
    await start(lab, *roles, **annotations)
    await lab.run(5)
