"""A laboratory with ModelServing in it, and short words for its pods."""

from collections.abc import Callable
from typing import Any

from operator_lab import Lab

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.requests import Target
from kohort.cluster import kinds
from kohort.cluster.errors import InternalError
from kohort.cluster.objects import Kind, Object, labels_of, name_of

KIND = MODEL_SERVING.kind


class Refusing(NoAdmission):
    """A webhook that answers one operation on one kind with an error."""

    def __init__(self, operation: str, kind: Kind) -> None:
        self._refused = operation, kind

    def concerns(self, operation: str, target: Target) -> bool:
        return (operation, target.resource.kind) == self._refused

    async def validate(self, review: Review) -> None:
        raise InternalError('failed calling webhook "other.example.com": connection refused')


def role(name: str = "decode", replicas: int = 1, workers: int = 1, **more: Any) -> Object:
    template = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    found = {
        "name": name,
        "replicas": replicas,
        "workerReplicas": workers,
        "entryTemplate": template,
    }
    if workers:
        found["workerTemplate"] = template
    return {**found, **more}


def serving(*roles: Object, replicas: int = 2, **spec: Any) -> Object:
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "schedulerName": "default-scheduler",
            "template": {"roles": list(roles) or [role("prefill"), role("decode")]},
            **spec,
        },
    }


class ServingLab(Lab):
    """A cluster with ModelServings."""

    def __init__(self, settings: Settings = DEFAULTS, **more: Any) -> None:
        super().__init__(settings, apis=(MODEL_SERVING, FORMER_MODEL_SERVING), **more)

    def serving(self, name: str = "x") -> Object:
        found = self.find(KIND, name)
        assert found is not None
        return found

    def status(self, name: str = "x") -> Object:
        found: Object = self.serving(name).get("status") or {}
        return found

    def is_done(self) -> bool:
        obj, status = self.serving(), self.status()
        wanted = obj["spec"]["replicas"]
        counts = [status.get(key) for key in ("replicas", "availableReplicas", "updatedReplicas")]
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        return is_seen and counts == [wanted] * 3 and len(self.pods()) == self.expected()

    def expected(self) -> int:
        spec = self.serving()["spec"]
        roles = spec["template"]["roles"]
        return spec["replicas"] * sum(r["replicas"] * (1 + r["workerReplicas"]) for r in roles)

    def pods(self, where: Callable[[Object], bool] = lambda pod: True) -> dict[str, Object]:
        return {name_of(pod): pod for pod in self.all(kinds.POD) if where(pod)}

    def uids(self, **marks: str) -> dict[str, str]:
        found = self.pods(lambda pod: has_marks(pod, marks))
        return {name: pod["metadata"]["uid"] for name, pod in found.items()}

    def images(self) -> set[str]:
        return {pod["spec"]["containers"][0]["image"] for pod in self.pods().values()}

    async def set_image(
        self,
        image: str,
        index: int = 0,
        parts: tuple[str, ...] = ("entryTemplate", "workerTemplate"),
    ) -> None:
        path = f"/spec/template/roles/{index}"
        operations = [
            {"op": "replace", "path": f"{path}/{part}/spec/containers/0/image", "value": image}
            for part in parts
        ]
        await self.edit("x", *operations, kind=KIND)

    async def delete_group(self, ordinal: int) -> None:
        """Delete all pods of a group at once."""
        for name in self.pods(lambda pod: has_marks(pod, {"group_index": str(ordinal)})):
            await self.delete(kinds.POD, name)

    async def set_field(self, path: str, value: Any) -> None:
        await self.edit("x", {"op": "add", "path": path, "value": value}, kind=KIND)


async def start(lab: ServingLab, *roles: Object, **spec: Any) -> None:
    """Make a ModelServing, and let it become ready."""
    await lab.apply(serving(*roles, **spec))
    await lab.until(lab.is_done, 120)


def has_marks(pod: Object, marks: dict[str, str]) -> bool:
    held = labels_of(pod)
    return all(
        held.get(f"modelserving.volcano.sh/{key.replace('_', '-')}") == value
        for key, value in marks.items()
    )
