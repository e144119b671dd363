"""
Pod specs of a component: the merged parts with runner, model, nodes and accelerator put in.

A node selector ties pods to nodes with the model, by a label of the model agent. A user whose nodes
come and go may turn this off with an annotation.
"""

from kohort.apis.inferenceservice import labels, names, reasons
from kohort.apis.inferenceservice.components.context import ComponentContext
from kohort.apis.inferenceservice.components.metadata import template_values
from kohort.apis.inferenceservice.components.runners import prepare_runner, set_variable
from kohort.apis.inferenceservice.fields import read_map, read_text, without
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.merge import merge_containers, write_go
from kohort.apis.inferenceservice.spec import PodPart
from kohort.apis.inferenceservice.templates import render_value
from kohort.cluster.objects import Object


def write_serving_pod(part: PodPart, context: ComponentContext) -> Object:
    """The pod spec of an engine or decoder: for the only pod, the leader, or a worker."""
    runner = None if part.runner is None else prepare_runner(part.runner, context)
    pod = put_runner(part.pod, runner, context)
    pod = _add_volumes(pod, context)
    pod = _set_nodes(pod, context)
    return write_go("core.PodSpec", _set_affinity(pod, context))


def write_router_pod(part: PodPart, context: ComponentContext, account: str) -> Object:
    """The pod spec of a router, with its config as variables and its service account."""
    runner = part.runner
    if runner is not None:
        name = read_text(runner, "name") or names.MAIN_CONTAINER
        runner = {**runner, "name": name}
        for key, value in sorted(context.spec.config.items()):
            runner = set_variable(runner, key, value)
    # The API server sets the former field of the account to the value of the new one.
    bare = without(part.pod, "serviceAccount")
    pod = _add_volumes(put_runner(bare, runner, context), context)
    return write_go("core.PodSpec", {**pod, "serviceAccountName": account})


def _name_runtime(context: ComponentContext) -> str:
    found = context.runtime
    return "the runtime" if found is None else f"{found.kind} {found.name}"


def put_runner(pod: Object, runner: Object | None, context: ComponentContext) -> Object:
    """The pod with its runner merged over the container of that name, or appended."""
    containers = list(pod.get("containers") or ())
    if runner is None:
        if not containers:
            raise ServiceError(
                reasons.WORKLOAD,
                f"component {context.component} has no container: neither {_name_runtime(context)} "
                f"nor the service gives spec.{context.component}.runner",
            )
        return {**pod, "containers": containers}
    name = runner["name"]
    place = next((i for i, each in enumerate(containers) if each.get("name") == name), None)
    if place is None:
        place = len(containers)
        containers.append({})
    merged = {**merge_containers(containers[place], runner), "name": name}
    containers[place] = render_value(merged, template_values(context.service))
    return {**pod, "containers": containers}


def _add_volumes(pod: Object, context: ComponentContext) -> Object:
    volumes: list[Object] = list(pod.get("volumes") or ())
    taken = {volume.get("name") for volume in volumes}
    model, added = context.model, []
    if model is not None and model.storage.path:
        name = names.volume_name(model.name)
        added.append({"name": name, "hostPath": {"path": model.storage.path}})
    if context.is_initialised or context.weight is not None:
        added.append({"name": names.EMPTY_DIR, "emptyDir": {"medium": "Memory"}})
    volumes += [volume for volume in added if volume["name"] not in taken]
    return {**pod, "volumes": volumes} if volumes else pod


def _set_nodes(pod: Object, context: ComponentContext) -> Object:
    model = context.model
    if model is None or context.is_merged:
        return pod
    selector = read_map(pod, "nodeSelector")
    if context.service.annotations.get(labels.SKIP_MODEL_READY) != "true":
        selector.setdefault(names.model_ready_label(model.name, model.namespace), "Ready")
    if context.runtime is not None:
        selector |= context.runtime.node_selector
    if context.selected is not None:
        selector |= context.selected.accelerator.node_selector
    if context.own is not None:
        selector |= read_map(context.own.raw, "nodeSelector")
    return {**pod, "nodeSelector": selector} if selector else pod


def _set_affinity(pod: Object, context: ComponentContext) -> Object:
    own = context.own
    if context.selected is None or (own is not None and own.raw.get("affinity")):
        return pod
    affinity = context.selected.accelerator.affinity
    return pod if affinity is None else {**pod, "affinity": affinity}
