"""Pods of a ModelServing as they are created, for tests that look at them."""

from typing import Any

from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.objects.pods import Joining, PodMaker
from kohort.apis.modelserving.plugins.chain import PluginFailure, build_chain
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.plugins.plugin import Registry
from kohort.apis.modelserving.spec import read_spec
from kohort.cluster.objects import Object

REVISION, ROLE_HASH = "67b8d4b8c7", "c778d6bc5"


def place(serving: Object, role: str = "serve", group: int = 0, instance: int = 0) -> InstancePlace:
    """The place of an instance."""
    found = read_spec(serving).find_role(role)
    assert found is not None
    return InstancePlace(group, found, instance)


def maker(
    serving: Object, *, gang: bool = True, registry: Registry = BUILT_INS, **marks: Any
) -> PodMaker:
    """What makes the pods of a ModelServing at the golden revision."""
    spec = read_spec(serving)
    hashes = {role.name: ROLE_HASH for role in spec.roles}
    chain = build_chain(spec.plugins, registry)
    joining = Joining(VOLCANO) if gang else None
    return PodMaker(
        serving,
        marks.get("revision", REVISION),
        marks.get("role_hashes", hashes),
        chain,
        joining,
    )


def try_pod(serving: Object, index: int = 0, **where: Any) -> Object | PluginFailure:
    """A pod, or why there is none; arguments name its place."""
    registry = where.pop("registry", BUILT_INS)
    gang = where.pop("gang", True)
    return maker(serving, gang=gang, registry=registry).make(place(serving, **where), index)


def pod(serving: Object, index: int = 0, **where: Any) -> Object:
    """A pod of a ModelServing whose plugins work."""
    made = try_pod(serving, index, **where)
    assert not isinstance(made, PluginFailure), str(made)
    return made


def variables_of(found: Object, container: int = 0, field: str = "containers") -> list[Any]:
    """The variables of a container as pairs, in order."""
    env = found["spec"][field][container].get("env") or []
    return [(variable["name"], variable.get("value")) for variable in env]
