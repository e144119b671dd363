"""
Merges the user's component over the runtime's, as a strategic merge patch would.

Maps and objects merge key by key. Lists of named objects merge by name; all other lists are
replaced. Both sides are first read as Go reads them: a zero in a plain field is unset, a zero in a
pointer field counts. New items of the user come before those of the runtime. A runner with an empty
name gets the runtime's name, and of fields that exclude each other the user's stays; upstream makes
an invalid pod of both.
"""

from kohort.apis.gojson import GoTypes, drop_nulls
from kohort.apis.inferenceservice import reasons
from kohort.apis.inferenceservice.fields import read_objects, without
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.alternatives import (
    give_way,
    give_way_in_container,
)
from kohort.apis.pod_templates import CONTAINER, POD
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object
from kohort.cluster.strategic_merge import MergeType, apply_strategic_patch

_PART = MergeType(fields={**POD.fields, "runner": CONTAINER})
COMPONENT = MergeType(fields={**_PART.fields, "leader": _PART, "worker": _PART})
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
    """A component with the user's fields merged over the runtime's."""
    own = _normalise(service)
    if runtime is None:
        return own
    base = _normalise(without(runtime, "acceleratorOverride"))
    return _merge(give_way(base, own), own, COMPONENT)


def _merge(base: Object, own: Object, shape: MergeType) -> Object:
    """One over the other; raises ServiceError for an entry that does not say which one it is."""
    try:
        return apply_strategic_patch(base, own, shape)
    except KohortError as error:
        raise ServiceError(
            reasons.MERGE, f"a list of the service cannot be merged with the runtime's: {error}"
        ) from error


def _normalise(raw: Object) -> Object:
    return _clean(write_go("ome.Component", raw))


def write_go(name: str, raw: Object) -> Object:
    """A value as Go would write it after reading it; raises ServiceError if Go could not."""
    try:
        written: Object = drop_nulls(_TYPES.write(name, raw))
    except (AttributeError, TypeError, ValueError) as error:
        raise ServiceError(
            reasons.MERGE, f"a field of the service or of its runtime cannot be read: {error}"
        ) from error
    return written


def _clean(component: Object) -> Object:
    """The component without empty names in its runners, and without secrets that have no name."""
    result = dict(component)
    for name in ("leader", "worker"):
        if isinstance(result.get(name), dict):
            result[name] = _clean(result[name])
    if result.get("imagePullSecrets"):
        secrets = read_objects(result, "imagePullSecrets")
        result["imagePullSecrets"] = [each for each in secrets if each.get("name")]
    runner = result.get("runner")
    if isinstance(runner, dict) and not runner.get("name"):
        result["runner"] = without(runner, "name")
    return result


def merge_containers(container: Object, runner: Object) -> Object:
    """A pod's container with the runner merged over it, and the arguments of both in a row."""
    merged = _merge(give_way_in_container(container, runner), runner, CONTAINER)
    args = [*(container.get("args") or ()), *(runner.get("args") or ())]
    return {**merged, "args": args} if args else merged
