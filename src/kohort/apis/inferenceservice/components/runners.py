"""
The runner, the container that serves the model: its variables, mounts, resources and arguments.

The order of variables and mounts is upstream's, so that pods which upstream made do not restart.
"""

from collections.abc import Mapping
from typing import Any

from kohort.apis.inferenceservice import labels, names
from kohort.apis.inferenceservice.components.arguments import (
    PIPELINE_FLAGS,
    TENSOR_FLAGS,
    merge_arguments,
    set_size,
)
from kohort.apis.inferenceservice.components.context import ComponentContext
from kohort.apis.inferenceservice.fields import read_object, read_text
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.cluster.objects import Object
from kohort.cluster.quantities import whole_units

_GPU = "nvidia.com/gpu"
MODEL_DIRECTORY = "/opt/ml/model"
TFEW_DIRECTORY = "/opt/ml/tfew"


def prepare_runner(runner: Object, context: ComponentContext) -> Object:
    """A runner with the settings that its model and its accelerator need."""
    runner = {**runner, "name": read_text(runner, "name") or names.MAIN_CONTAINER}
    runner = _add_variables(runner, context)
    runner = _add_mounts(runner, context)
    runner = _set_resources(runner, context)
    runner = _set_arguments(runner, context)
    return _set_parallelism(runner, context)


def set_variable(runner: Object, name: str, value: str, is_kept: bool = False) -> Object:
    """A container with a variable; an existing one is replaced in place, or kept (``is_kept``)."""
    env = list(runner.get("env") or ())
    place = next((i for i, entry in enumerate(env) if entry.get("name") == name), None)
    if place is None:
        env.append({"name": name, "value": value})
    elif not is_kept:
        env[place] = {"name": name, "value": value}
    return {**runner, "env": env}


def _add_variables(runner: Object, context: ComponentContext) -> Object:
    if context.weight is None:
        if context.mounts_model and context.model is not None:
            path = context.model.storage.path
            runner = set_variable(runner, labels.MODEL_PATH_VARIABLE, path, is_kept=True)
    else:
        runner = _add_tuning_variables(runner, context)
    for name, value in sorted(context.accelerator_config.env.items()):
        runner = set_variable(runner, name, value)
    return runner


def _add_tuning_variables(runner: Object, context: ComponentContext) -> Object:
    assert context.weight is not None
    vendor = context.model.vendor if context.model else ""
    if vendor == "meta":
        runner = set_variable(
            runner, labels.SERVED_MODEL_NAME_VARIABLE, f"/data/{context.weight.name}"
        )
        return set_variable(runner, labels.MODEL_PATH_VARIABLE, MODEL_DIRECTORY, is_kept=True)
    if context.uses_cohere_tfew:
        path = f"{TFEW_DIRECTORY}/fastertransformer/1"
        return set_variable(runner, labels.TFEW_PATH_VARIABLE, path)
    # Models of other vendors get a path here; upstream sets none.
    if context.is_merged or context.model is None or not context.model.storage.path:
        return set_variable(runner, labels.MODEL_PATH_VARIABLE, MODEL_DIRECTORY, is_kept=True)
    path = context.model.storage.path
    runner = set_variable(runner, labels.MODEL_PATH_VARIABLE, path, is_kept=True)
    return set_variable(runner, labels.ADAPTER_PATH_VARIABLE, MODEL_DIRECTORY, is_kept=True)


def _add_mounts(runner: Object, context: ComponentContext) -> Object:
    mounts: list[Object] = []
    if context.mounts_model and context.model is not None:
        name, path = names.volume_name(context.model.name), context.model.storage.path
        mounts.append({"name": name, "mountPath": path, "readOnly": True})
    if context.weight is not None or context.is_initialised:
        mounts += _tuning_mounts(context)
    held = list(runner.get("volumeMounts") or ())
    taken = {mount.get("mountPath") for mount in held}
    mounts = [mount for mount in mounts if mount["mountPath"] not in taken]
    return {**runner, "volumeMounts": [*held, *mounts]} if mounts else runner


def _tuning_mounts(context: ComponentContext) -> list[Object]:
    if not context.uses_cohere_tfew:
        return [{"name": names.EMPTY_DIR, "mountPath": MODEL_DIRECTORY}]
    form = context.model.format.name if context.model and context.model.format else ""
    base = {"mountPath": f"{MODEL_DIRECTORY}/{form}", "subPath": "base"}
    tuned = {"mountPath": f"{TFEW_DIRECTORY}/{form}", "subPath": "finetuned", "readOnly": True}
    return [{"name": names.EMPTY_DIR, **base}, {"name": names.EMPTY_DIR, **tuned}]


def _set_resources(runner: Object, context: ComponentContext) -> Object:
    own = context.own
    if own is None:
        return runner
    asked = read_object(own.runner or {}, "resources")
    if any(asked.get(name) for name in ("limits", "requests", "claims")):
        return runner
    resources: Object = dict(read_object(runner, "resources"))
    former = context.runtime.containers if context.runtime else ()
    same = next((each for each in former if each.get("name") == runner["name"]), {})
    selected = {} if context.selected is None else context.selected.accelerator.resources
    for word in ("requests", "limits"):
        amounts = {
            **read_object(read_object(same, "resources"), word),
            **read_object(resources, word),
            **selected,
        }
        if amounts:
            resources[word] = amounts
    return {**runner, "resources": resources} if resources else runner


def _set_arguments(runner: Object, context: ComponentContext) -> Object:
    config = context.accelerator_config
    args = merge_arguments(runner.get("args") or (), config.args)
    command = list(runner.get("command") or ())
    args, command = set_size(args, command, TENSOR_FLAGS, config.tensor_parallel)
    args, command = set_size(args, command, PIPELINE_FLAGS, config.pipeline_parallel)
    changed: dict[str, Any] = {}
    if args:
        changed["args"] = args
    if command:
        changed["command"] = command
    return {**runner, **changed}


def _set_parallelism(runner: Object, context: ComponentContext) -> Object:
    gpus = count_gpus(runner)
    if gpus <= 0 or context.selected is not None:
        return runner
    spec = context.spec
    leaders = 1
    if context.component is ComponentType.DECODER and spec.leader is None and spec.runner is None:
        leaders = 0
    workers = (spec.worker.size or 0) if spec.worker else 0
    return set_variable(runner, labels.PARALLELISM_VARIABLE, str(gpus * (leaders + workers)))


def count_gpus(container: Mapping[str, Any]) -> int:
    """The number of GPUs that a container requests."""
    resources = container.get("resources") or {}
    for word in ("limits", "requests"):
        amount = (resources.get(word) or {}).get(_GPU)
        if amount is not None:
            return whole_units(amount)
    return 0
