"""
Which pods of a component take requests: its single pods and its leaders, but no workers.

Both have the label ``app``; workers of several nodes have not, and may be ready without a probe
while the model loads. A Service that selects all pods of a component therefore also asks for that
label while the component has workers of a form that it leaves: until their workload and they
themselves have gone. Afterwards the Service is as upstream writes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.fields import read_object, read_objects
from kohort.apis.inferenceservice.objects.deployments import app_of
from kohort.apis.inferenceservice.objects.services import LEADER, select_pods
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object, is_leaving, labels_of


def select_entries(config: ComponentConfig) -> dict[str, str]:
    """The labels that the pods of a component have which take requests, in every form."""
    return {**select_pods(config), labels.APP: app_of(config)}


def leave_out_workers(plan: ServicePlan, existing: Existing, pods: Sequence[Object]) -> ServicePlan:
    """The plan, with Services that select no workers of a form that a component leaves."""
    configs = plan.workload.configs.values() if plan.workload else ()
    left = [each for each in configs if _leaves_workers(each, existing, pods)]
    objects = tuple(
        replace(desired, objects=tuple(_leave_out(obj, left) for obj in desired.objects))
        if desired.kind == SERVICE and left
        else desired
        for desired in plan.objects
    )
    return replace(plan, objects=objects)


def _leave_out(obj: Object, left: Sequence[ComponentConfig]) -> Object:
    selector = read_object(read_object(obj, "spec"), "selector")
    for config in left:
        if selector == select_pods(config):
            return {**obj, "spec": {**obj["spec"], "selector": select_entries(config)}}
    return obj


def _leaves_workers(config: ComponentConfig, existing: Existing, pods: Sequence[Object]) -> bool:
    if config.is_multi_node:
        return False
    if _has_groups(config, existing):
        return True
    mine = [pod for pod in pods if select_pods(config).items() <= labels_of(pod).items()]
    has_leaders = any(LEADER.items() <= labels_of(pod).items() for pod in mine)
    services = (existing.get(SERVICE) or {}).values()
    selectors = (read_object(read_object(each, "spec"), "selector") for each in services)
    was_known = has_leaders or select_entries(config) in selectors
    return was_known and any(
        labels_of(pod).get(labels.APP) != app_of(config) for pod in mine if not is_leaving(pod)
    )


def _has_groups(config: ComponentConfig, existing: Existing) -> bool:
    """Whether a workload of several nodes exists for a component."""
    name = config.component_type.value
    for kind in (kinds.LEADER_WORKER_SET, kinds.RAY_CLUSTER):
        found = (existing.get(kind) or {}).values()
        if any(labels_of(obj).get(labels.COMPONENT) == name for obj in found):
            return True
    return any(_is_several(role) for role in _list_roles(config, existing))


def changes_nodes(config: ComponentConfig, existing: Existing) -> bool:
    """Whether the role of a component in a group has yet to change between one node and several."""
    roles = _list_roles(config, existing)
    return any(_is_several(role) != config.is_multi_node for role in roles)


def _list_roles(config: ComponentConfig, existing: Existing) -> Iterator[Object]:
    for obj in (existing.get(kinds.ROLE_BASED_GROUP) or {}).values():
        for role in read_objects(read_object(obj, "spec"), "roles"):
            if role.get("name") == config.component_type:
                yield role


def _is_several(role: Object) -> bool:
    return bool(read_object(role, "leaderWorkerPattern"))
