"""
The RoleBasedGroup of a service: one role for each component, in the order engine, decoder, router.

A role keeps its current replicas, since its scaling adapter owns that number. Leaders and workers
have the variables and labels that images for LeaderWorkerSet read. The template of a role is the
leader's; the worker's patch replaces the pod spec whole, so that it has no field of the leader.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.components.metadata import pod_annotations, scheduling_labels
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects, read_text
from kohort.apis.inferenceservice.objects.deployments import app_of
from kohort.apis.inferenceservice.objects.group_annotations import (
    find_skew,
    read_ratio,
    read_update_type,
)
from kohort.apis.inferenceservice.objects.owned import make_object, make_template
from kohort.apis.inferenceservice.objects.pod_defaults import fill_pod
from kohort.apis.inferenceservice.objects.services import LEADER
from kohort.apis.inferenceservice.spec import ComponentType, InferenceService
from kohort.cluster.objects import Object, encode_json

_RECREATE = "RecreateRoleInstanceOnPodRestart"
_LEADER_LABELS = {**LEADER, labels.WORKER_INDEX: "0"}
_HASH_LENGTH = 8
_POLICY = "rollout"


def render_group(
    configs: Iterable[ComponentConfig], service: InferenceService, live: Object | None
) -> Object:
    """The RoleBasedGroup of a service, with the current replicas of its roles."""
    held = live_replicas(live)
    order = {component: place for place, component in enumerate(ComponentType)}
    roles = [
        build_role(config, held.get(config.component_type), service)
        for config in sorted(configs, key=lambda each: order[each.component_type])
    ]
    notes = {k: v for k, v in service.annotations.items() if k.startswith(labels.GROUP_PREFIX)}
    marks = {labels.SERVICE_NAME: service.name}
    obj = make_object(kinds.ROLE_BASED_GROUP, service, service.name, marks, notes)
    return {**obj, "spec": {"roles": roles}}


def live_replicas(live: Object | None) -> dict[str, int]:
    """The replicas of each role in an existing group."""
    roles = read_objects(read_object(live or {}, "spec"), "roles")
    counts = {read_text(role, "name"): find_number(role, "replicas") for role in roles}
    return {name: count for name, count in counts.items() if count is not None}


def first_replicas(config: ComponentConfig) -> int:
    """The replicas of a new role."""
    least = config.component_extension.min_replicas
    return least if least is not None and least > 0 else 1


def role_labels(config: ComponentConfig) -> dict[str, str]:
    """The labels of a role's workload."""
    return {
        **config.labels,
        **scheduling_labels(config.annotations),
        labels.APP: app_of(config),
    }


def build_role(config: ComponentConfig, replicas: int | None, service: InferenceService) -> Object:
    """The role for one component."""
    pattern = _write_leader_worker(config) if config.is_multi_node else _write_standalone(config)
    return {
        "name": config.component_type.value,
        "labels": role_labels(config),
        "annotations": pod_annotations(config.annotations),
        "replicas": first_replicas(config) if replicas is None else replicas,
        "scalingAdapter": {"enable": True},
        "rolloutStrategy": _write_rollout(config, service),
        **pattern,
    }


def _write_rollout(config: ComponentConfig, service: InferenceService) -> Object:
    """Update in place if possible, with the limits of the component's deployment strategy."""
    rolling: Object = {"type": read_update_type(service.annotations)}
    given = read_object(config.component_extension.deployment_strategy or {}, "rollingUpdate")
    for name in ("maxUnavailable", "maxSurge"):
        if given.get(name) is not None:
            rolling[name] = given[name]
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


def _write_standalone(config: ComponentConfig) -> Object:
    notes = pod_annotations(config.annotations)
    template = make_template(role_labels(config), notes, fill_pod(config.pod_spec))
    return {"standalonePattern": {"template": template}}


def _write_leader_worker(config: ComponentConfig) -> Object:
    marks = {**config.labels, **scheduling_labels(config.annotations)}
    notes = pod_annotations(config.annotations)
    pod = _add_aliases(fill_pod(config.pod_spec, has_probe=False), config.main_container)
    leader = {labels.APP: app_of(config), **_LEADER_LABELS}
    pattern: Object = {
        "size": 1,
        "template": make_template(marks, notes, pod),
        "leaderTemplatePatch": {"metadata": {"labels": leader}},
        "restartPolicyConfig": {"type": _RECREATE},
    }
    if config.worker_pod_spec is not None:
        worker = fill_pod(config.worker_pod_spec, has_probe=False)
        worker = _add_aliases(worker, config.main_container)
        pattern["size"] = config.worker_size + 1
        pattern["workerTemplatePatch"] = _write_worker_patch(worker, notes)
    return {"leaderWorkerPattern": pattern}


def _write_worker_patch(pod: Object, notes: Mapping[str, str]) -> Object:
    patch: Object = {"spec": {"$patch": "replace", **pod}}
    dropped = {key: None for key in labels.SCRAPE_KEYS if key in notes}
    return {"metadata": {"annotations": dropped}, **patch} if dropped else patch


def _add_aliases(pod: Object, name: str) -> Object:
    """Put LeaderWorkerSet's variables first in the runner, as later variables may use them.

    Where no container has the name of the leader's runner, any may be the one of a worker.
    """
    held: list[Object] = pod["containers"]
    named = [each for each in held if each.get("name") == name] or held
    containers = [_name_variables(each) if each in named else each for each in held]
    return {**pod, "containers": containers}


def _name_variables(container: Object) -> Object:
    env = list(container.get("env") or ())
    taken = {entry.get("name") for entry in env}
    aliases = [
        {"name": alias, "value": f"$({source})"}
        for alias, source in labels.VARIABLE_ALIASES.items()
        if alias not in taken
    ]
    return {**container, "env": [*aliases, *env]}


def render_coordination(
    configs: Iterable[ComponentConfig], service: InferenceService
) -> Object | None:
    """The CoordinatedPolicy, if the user sets a maximal skew or a ratio of roles."""
    skew = find_skew(service.annotations)
    roles = [config.component_type.value for config in configs]
    ratio = read_ratio(service.annotations.get(labels.COORDINATION_RATIO, ""), roles)
    if len(roles) < 2 or (skew is None and not ratio):
        return None
    marks = {labels.SERVICE_NAME: service.name}
    text = encode_json({_POLICY: ratio}, sort=True).decode()
    notes = {labels.POLICY_RATIO: text} if ratio else {}
    obj = make_object(kinds.COORDINATED_POLICY, service, service.name, marks, notes)
    strategy: Object = {"scaling": {"maxSkew": "100%"}} if ratio else {}
    if skew is not None:
        strategy["rollingUpdate"] = {"maxSkew": skew}
    return {**obj, "spec": {"policies": [{"name": _POLICY, "roles": roles, "strategy": strategy}]}}


def render_warm_up(configs: Iterable[ComponentConfig], service: InferenceService) -> Object | None:
    """The warm-up that pulls the images of all roles before pods roll, if the user enables it.

    A warm-up runs once, so each set of images has its own, with a hash in its name.
    """
    if service.annotations.get(labels.IMAGE_PRELOAD) != "true":
        return None
    images = {each.component_type.value: _list_images(each) for each in configs}
    text = repr(sorted(images.items()))
    digest = sha256(text.encode()).hexdigest()[:_HASH_LENGTH]
    marks = {labels.SERVICE_NAME: service.name}
    obj = make_object(kinds.WARM_UP, service, f"{service.name}-{digest}", marks)
    actions = {role: {"imagePreload": {"images": list(found)}} for role, found in images.items()}
    return {**obj, "spec": {"targetRoleBasedGroup": {"name": service.name, "roles": actions}}}


def _list_images(config: ComponentConfig) -> tuple[str, ...]:
    pods = [config.pod_spec, config.worker_pod_spec or {}]
    containers = [each for pod in pods for each in pod.get("containers") or ()]
    return tuple(dict.fromkeys(str(each["image"]) for each in containers if each.get("image")))
