"""
A runtime's configuration with what the user wrote over it, as a strategic merge patch would.

Maps and objects merge member by member. Lists of things that have names merge by those names; all
other lists are replaced. Both sides are read as Go reads them first: a zero of a plain field says
nothing, and a zero of a pointer counts. New items of the user stand before those of the runtime.
An empty name of a runner means the runtime's name; upstream makes an invalid pod of it.
"""

from typing import Any

from kohort.apis.gojson import GoTypes, drop_nulls
from kohort.apis.inferenceservice.fields import without
from kohort.cluster.objects import Object

# By which field the entries of a list are told apart.
MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
    "volumes": "name",
    "resourceClaims": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "env": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
}
_POD = " core.PodSpec i"
_EXTENSION = [
    "minReplicas *number o",
    "maxReplicas number o",
    "scaleTarget *number o",
    "scaleMetric *string o",
    "containerConcurrency *number o",
    "timeoutSeconds *number o",
    "canaryTrafficPercent *number o",
    "labels {}string o",
    "annotations {}string o",
    "minAvailable raw z",
    "maxUnavailable raw z",
    "deploymentStrategy raw z",
    "kedaConfig raw z",
]
_TYPES = GoTypes(
    {
        "ome.Leader": [_POD, "runner *core.Container o"],
        "ome.Worker": [_POD, "size *number o", "runner *core.Container o"],
        "ome.Component": [
            _POD,
            *_EXTENSION,
            "runner *core.Container o",
            "leader *ome.Leader o",
            "worker *ome.Worker o",
            "config {}string o",
        ],
    },
    keeps_more=True,
)


def merge_component(runtime: Object | None, service: Object) -> Object:
    """A component: the user's fields over the runtime's."""
    own = _normalise(service)
    if runtime is None:
        return own
    base = _normalise(without(runtime, "acceleratorOverride"))
    return merge(base, own)


def _normalise(raw: Object) -> Object:
    written: Object = drop_nulls(_TYPES.write("ome.Component", raw))
    return _clean_runners(written)


def _clean_runners(component: Object) -> Object:
    """The component with runners whose name is empty left without one."""
    result = dict(component)
    for name in ("leader", "worker"):
        if isinstance(result.get(name), dict):
            result[name] = _clean_runners(result[name])
    runner = result.get("runner")
    if isinstance(runner, dict) and not runner.get("name"):
        result["runner"] = without(runner, "name")
    return result


def merge(base: Object, patch: Object) -> Object:
    """The base with every member of the patch merged in."""
    result = dict(base)
    for name, value in patch.items():
        result[name] = _merge_field(name, result.get(name), value)
    return result


def _merge_field(name: str, old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return merge(old, new)
    if isinstance(old, list) and isinstance(new, list):
        if not new:
            return old
        key = MERGE_KEYS.get(name)
        return merge_list(old, new, key) if key else new
    return new


def merge_list(old: list[Object], new: list[Object], key: str) -> list[Object]:
    """Two lists of things with names, in the order of a strategic merge patch."""
    places = {_key_of(entry, key): place for place, entry in reversed(list(enumerate(old)))}
    named = dict.fromkeys(_key_of(entry, key) for entry in new)
    merged: dict[str, Object] = {}
    for entry in new:
        found = _key_of(entry, key)
        before = merged.get(found) or (old[places[found]] if found in places else {})
        merged[found] = merge(before, entry)
    others = [entry for entry in old if _key_of(entry, key) not in named]
    result: list[Object] = []
    for found in named:
        while others and places[_key_of(others[0], key)] < places.get(found, -1):
            result.append(others.pop(0))
        result.append(merged[found])
    return [*result, *others]


def _key_of(entry: Object, key: str) -> str:
    return str(entry.get(key))


def merge_containers(container: Object, runner: Object) -> Object:
    """A container of a pod with its runner over it; arguments of both follow each other."""
    merged = merge(container, runner)
    args = [*(container.get("args") or ()), *(runner.get("args") or ())]
    return {**merged, "args": args} if args else merged
