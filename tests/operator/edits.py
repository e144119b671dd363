"""Edits that another client makes of what the operator made, as kubectl sends them."""

from operator_lab import Lab

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType

RESTARTED = "kubectl.kubernetes.io/restartedAt"


async def edit_as(
    lab: Lab, manager: str, body: Object, name: str = "x", kind: Kind = kinds.STATEFUL_SET
) -> None:
    """A strategic merge patch by that manager."""
    target = lab.api.target(kind, lab.namespace, name)
    patch = PatchBody(PatchType.STRATEGIC, body)
    await lab.api.patch(target, patch, WriteOptions(manager=manager))


async def restart(lab: Lab, name: str = "x", stamp: str = "2026-01-01T10:00:00Z") -> None:
    """``kubectl rollout restart sts/NAME``."""
    metadata = {"annotations": {RESTARTED: stamp}}
    await edit_as(lab, "kubectl-rollout", {"spec": {"template": {"metadata": metadata}}}, name)


async def set_image(lab: Lab, image: str = "evil:1", name: str = "x") -> None:
    """``kubectl set image sts/NAME engine=IMAGE``."""
    body = container({"image": image})
    await edit_as(lab, "kubectl-set", body, name)


async def add_variable(lab: Lab, variable: str = "FOO", name: str = "x") -> None:
    """``kubectl set env sts/NAME FOO=bar``."""
    await edit_as(lab, "kubectl-set", container({"env": [{"name": variable, "value": "1"}]}), name)


def container(fields: Object) -> Object:
    """A patch of the one container of a set's template."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "engine", **fields}]}}}}
