"""
Migration of a service's former ``spec.predictor`` to engine, model and runtime.

The predictor stays in the spec, so that an older operator still finds it after a downgrade.
"""

from collections.abc import Callable

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.fields import (
    read_object,
    read_objects,
    read_text,
    read_texts,
    without,
)
from kohort.apis.inferenceservice.spec import EXTENSION_FIELDS
from kohort.cluster.objects import Object, annotations_of, metadata_of

WARNING = (
    "spec.predictor is deprecated: it was turned into spec.engine, spec.model and spec.runtime"
)
_POD_FIELDS = (
    "serviceAccountName",
    "containers",
    "volumes",
    "nodeSelector",
    "tolerations",
    "affinity",
    "workerSpec",
)
_MODEL_FIELDS = (
    "runtime",
    "baseModel",
    "fineTunedWeights",
    "storageUri",
    "runtimeVersion",
    "protocolVersion",
)


def needs_migration(obj: Object) -> bool:
    """Whether a service has a predictor, and neither an engine nor a model."""
    spec = read_object(obj, "spec")
    return _is_used(read_object(spec, "predictor")) and not (
        spec.get("engine") or spec.get("model")
    )


def _is_used(predictor: Object) -> bool:
    if read_text(read_object(predictor, "model"), "baseModel"):
        return True
    fields = ("minReplicas", "maxReplicas", *_POD_FIELDS)
    return any(predictor.get(name) not in (None, "", 0, [], {}) for name in fields)


def migrate(obj: Object, is_cluster_model: Callable[[str], bool] = lambda name: True) -> Object:
    """The service with engine, model and runtime; one that needs no migration is unchanged."""
    if not needs_migration(obj):
        return obj
    spec = read_object(obj, "spec")
    predictor = read_object(spec, "predictor")
    written = {"engine": _write_engine(predictor), **_write_references(predictor, is_cluster_model)}
    notes = {**annotations_of(obj), labels.DEPRECATION_WARNING: WARNING}
    metadata = {**metadata_of(obj), "annotations": notes}
    return {**obj, "metadata": metadata, "spec": {**spec, **written}}


def _write_references(predictor: Object, is_cluster_model: Callable[[str], bool]) -> Object:
    model = read_object(predictor, "model")
    found: Object = {}
    name, runtime = read_text(model, "baseModel"), read_text(model, "runtime")
    if name:
        kind = kinds.CLUSTER_BASE_MODEL if is_cluster_model(name) else kinds.BASE_MODEL
        found["model"] = {"name": name, "kind": kind.name, "apiGroup": kinds.GROUP}
        weights = read_texts(model, "fineTunedWeights")
        if weights:
            found["model"]["fineTunedWeights"] = list(weights)
    if runtime:
        kind = kinds.CLUSTER_SERVING_RUNTIME
        found["runtime"] = {"name": runtime, "kind": kind.name, "apiGroup": kinds.GROUP}
    return found


def _write_engine(predictor: Object) -> Object:
    model = read_object(predictor, "model")
    containers = list(read_objects(predictor, "containers"))
    runner = _find_runner(containers)
    if runner is not None:
        containers.remove(runner)
    elif read_text(model, "name"):
        runner = without(model, *_MODEL_FIELDS)
    engine = without(predictor, "model", "workerSpec", "containers")
    if containers:
        engine["containers"] = containers
    if runner is not None:
        engine["runner"] = _write_runner(runner, model)
    if isinstance(predictor.get("workerSpec"), dict):
        engine["worker"] = predictor["workerSpec"]
    return {name: value for name, value in engine.items() if value or name in EXTENSION_FIELDS}


def _find_runner(containers: list[Object]) -> Object | None:
    for container in containers:
        name = read_text(container, "name")
        if name == names.MAIN_CONTAINER or "ome" in name.lower():
            return container
    return containers[0] if containers else None


def _write_runner(runner: Object, model: Object) -> Object:
    own = [] if runner.get("env") is model.get("env") else list(read_objects(model, "env"))
    env = [*read_objects(runner, "env"), *own]
    for name, field in (("STORAGE_URI", "storageUri"), ("PROTOCOL_VERSION", "protocolVersion")):
        if read_text(model, field):
            env.append({"name": name, "value": read_text(model, field)})
    return {**runner, "env": env} if env else runner
