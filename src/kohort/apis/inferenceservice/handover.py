"""
Handover from a service's old workloads to new ones: the old stay until the new ones serve.

A service needs new workloads when its strategy or the mode of a component changes. The operator
keeps the old workload and the Services as they are until all components of the new form are ready.
Then it points the Services at the new pods, and only when the cache shows that does it delete the
old workload and the objects around it. So one of the two always serves, whatever fails. A router
that the user adds is handled alike: it gets traffic when it is ready.

Workers of several nodes may be ready while the model loads. So a Service that selects all pods of
a component also asks for the label ``app`` meanwhile, which such workers do not have. A role of a
group may change between one node and several while the group stays: by that label its Services
select the units of both forms.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kohort.apis.carriers.desired import list_owners
from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.entry_pods import select_entries
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects, read_text
from kohort.apis.inferenceservice.kinds import WORKLOADS
from kohort.apis.inferenceservice.objects.deployments import app_of
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER, FORMER_MANAGERS
from kohort.apis.inferenceservice.objects.services import LEADER, select_pods
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.kinds import AUTOSCALER, BUDGET, DEPLOYMENT, INGRESS, SERVICE
from kohort.cluster.objects import (
    Kind,
    Object,
    find_controller,
    is_leaving,
    labels_of,
    name_of,
)

# Kinds that route traffic to a workload or scale it: they change when the new form serves.
_FRONT = (
    INGRESS,
    kinds.HTTP_ROUTE,
    kinds.VIRTUAL_SERVICE,
    AUTOSCALER,
    kinds.SCALED_OBJECT,
    BUDGET,
)
# The managers whose fields of a Service go with an apply that lacks them.
_APPLIERS = frozenset((FIELD_MANAGER, *FORMER_MANAGERS))


@dataclass(frozen=True, slots=True)
class Handover:
    """The objects that stay while a service changes its workloads, and what that waits for."""

    held: frozenset[tuple[Kind, str]] = frozenset()  # workloads of the old form
    services: Mapping[str, Object] = field(default_factory=dict)  # specs to keep, by name
    waits_on: str = ""
    is_late: bool = False  # the new workloads do not serve yet
    frees_names: bool = False  # Knative creates Services with names that ours have
    old: frozenset[tuple[Kind, str]] = frozenset()  # workloads of the old form that exist

    def defers_change(self, kind: Kind) -> bool:
        """Whether the operator must not change objects of a kind yet."""
        return self.is_late and kind in _FRONT

    def defers_end(self, kind: Kind) -> bool:
        """Whether the operator must not delete unneeded objects of a kind yet."""
        return bool(self.waits_on) and not (self.frees_names and kind == SERVICE)


def plan_handover(
    plan: ServicePlan, existing: Existing, is_ready: Mapping[ComponentType, bool]
) -> Handover:
    """Find the objects that must stay until the new workloads serve."""
    old = frozenset(_find_old(plan, existing))
    if plan.workload is None:
        return Handover()
    frees = any(d.kind == kinds.KNATIVE_SERVICE and d.objects for d in plan.objects)
    stays = ", ".join(sorted(f"{kind.name} {name}" for kind, name in old)) + " stays until"
    late = [each for each in plan.workload.configs if not is_ready.get(each)]
    if old and late:
        why = f"{stays} {', '.join(late)} is ready"
        kept = {
            name: _narrow(plan, existing, spec) for name, spec in _keep_services(plan, existing)
        }
        return Handover(old, kept, why, is_late=True, frees_names=frees, old=old)
    if old and any(_differs(plan, existing, name) for name in _wanted_services(plan)):
        why = f"{stays} Services select the new pods"
        return Handover(old, {}, why, frees_names=frees, old=old)
    turned = {
        name: _narrow(plan, existing, spec)
        for name, spec in _keep_services(plan, existing)
        if _differs(plan, existing, name)
        and _find_front(plan, name) in late
        and not _joins(plan, spec, name)
    }
    if not old and turned:
        fronts = ", ".join(sorted({_find_front(plan, name) for name in turned}))
        why = f"Service {', '.join(sorted(turned))} keeps its pods until {fronts} is ready"
        return Handover(frozenset(), turned, why, is_late=True)
    return Handover(old=old)


def _narrow(plan: ServicePlan, existing: Existing, spec: Object) -> Object:
    """The spec of a Service to keep, without the new workers of a component on several nodes."""
    selector = read_object(spec, "selector")
    for config in plan.workload.configs.values() if plan.workload else ():
        if config.is_multi_node and selector == select_pods(config):
            found = list(_list_templates(existing, config.component_type))
            # Pods that a former controller made may lack the label.
            mark = app_of(config)
            if found and all(each.get(labels.APP) == mark for each in found):
                return {**spec, "selector": {**selector, labels.APP: mark}}
    return spec


def _joins(plan: ServicePlan, spec: Object, name: str) -> bool:
    """Whether a Service of leaders is to select the single pods that replace them, too."""
    wanted = read_object(read_object(plan.find(SERVICE, name) or {}, "spec"), "selector")
    return any(
        wanted == select_entries(config)
        and read_object(spec, "selector") == {**select_pods(config), **LEADER}
        for config in (plan.workload.configs.values() if plan.workload else ())
    )


def _list_templates(existing: Existing, component: ComponentType) -> Iterator[Object]:
    """The labels of a component's pods in its Deployments and in its role of a group."""
    for obj in (existing.get(DEPLOYMENT) or {}).values():
        if labels_of(obj).get(labels.COMPONENT) == component and not _is_prober(obj):
            yield _read_marks(read_object(read_object(obj, "spec"), "template"))
    for obj in (existing.get(kinds.ROLE_BASED_GROUP) or {}).values():
        for role in read_objects(read_object(obj, "spec"), "roles"):
            if role.get("name") == component:
                yield _read_marks(read_object(read_object(role, "standalonePattern"), "template"))


def _read_marks(template: Object) -> Object:
    return read_object(read_object(template, "metadata"), "labels")


def _is_prober(obj: Object) -> bool:
    """Whether a Deployment probes a Ray cluster, and serves nothing itself."""
    pod = read_object(read_object(read_object(obj, "spec"), "template"), "spec")
    return any(each.get("name") == names.PROBER for each in read_objects(pod, "containers"))


def carry_replicas(plan: ServicePlan, existing: Existing) -> ServicePlan:
    """The plan, with at least as many replicas in new workloads as the old ones have."""
    counts = dict(_count_units(existing))
    objects = tuple(
        replace(
            desired,
            objects=tuple(
                obj if name_of(obj) in (existing.get(desired.kind) or {}) else _carry(obj, counts)
                for obj in desired.objects
            ),
        )
        if desired.kind in WORKLOADS
        else desired
        for desired in plan.objects
    )
    return replace(plan, objects=objects)


def _count_units(existing: Existing) -> Iterator[tuple[str, int]]:
    for kind in (DEPLOYMENT, kinds.LEADER_WORKER_SET):
        for obj in (existing.get(kind) or {}).values():
            if _is_prober(obj):
                continue
            component = labels_of(obj).get(labels.COMPONENT, "")
            yield component, find_number(read_object(obj, "spec"), "replicas") or 0
    for obj in (existing.get(kinds.ROLE_BASED_GROUP) or {}).values():
        for role in read_objects(read_object(obj, "spec"), "roles"):
            yield read_text(role, "name"), find_number(role, "replicas") or 0


def list_deployed(existing: Existing) -> frozenset[str]:
    """The components in the existing workloads of a service."""
    found = (obj for kind in WORKLOADS for obj in (existing.get(kind) or {}).values())
    roles = [
        read_text(role, "name")
        for obj in (existing.get(kinds.ROLE_BASED_GROUP) or {}).values()
        for role in read_objects(read_object(obj, "spec"), "roles")
    ]
    return frozenset((*roles, *(labels_of(obj).get(labels.COMPONENT, "") for obj in found)))


def _carry(obj: Object, counts: Mapping[str, int]) -> Object:
    spec = read_object(obj, "spec")
    if "replicas" in spec and not _is_prober(obj):
        held = counts.get(labels_of(obj).get(labels.COMPONENT, ""), 0)
        return {**obj, "spec": {**spec, "replicas": max(spec["replicas"], held)}}
    if "roles" in spec:
        roles = [
            {**role, "replicas": max(role["replicas"], counts.get(role["name"], 0))}
            for role in spec["roles"]
        ]
        return {**obj, "spec": {**spec, "roles": roles}}
    return obj


def _find_front(plan: ServicePlan, name: str) -> str:
    """The component that a Service of the plan selects."""
    wanted = read_object(read_object(plan.find(SERVICE, name) or {}, "spec"), "selector")
    return str(wanted.get(labels.COMPONENT, ""))


def hold_services(plan: ServicePlan, handover: Handover) -> ServicePlan:
    """The plan, with the existing specs for Services that must not change yet."""
    if not handover.services:
        return plan
    return _change_services(plan, lambda obj: _hold(obj, handover))


def turn_services(plan: ServicePlan, existing: Existing) -> ServicePlan:
    """The plan, with Services that change nothing but the pods that they select."""
    return _change_services(plan, lambda obj: _turn(obj, existing))


def _change_services(plan: ServicePlan, change: Callable[[Object], Object]) -> ServicePlan:
    objects = tuple(
        replace(desired, objects=tuple(change(obj) for obj in desired.objects))
        if desired.kind == SERVICE
        else desired
        for desired in plan.objects
    )
    return replace(plan, objects=objects)


def _turn(obj: Object, existing: Existing) -> Object:
    held, spec = read_object(_find_service(existing, name_of(obj)) or {}, "spec"), obj["spec"]
    kept = {key: held.get(key, value) for key, value in spec.items() if key != "selector"}
    return {**obj, "spec": {**kept, "selector": spec["selector"]}} if "selector" in spec else obj


def _hold(obj: Object, handover: Handover) -> Object:
    kept = handover.services.get(name_of(obj))
    return obj if kept is None else {**obj, "spec": kept}


def _find_old(plan: ServicePlan, existing: Existing) -> Iterator[tuple[Kind, str]]:
    """Workloads that this service owns and that are not in the plan any more."""
    for kind in WORKLOADS:
        for name, obj in (existing.get(kind) or {}).items():
            owner = find_controller(obj) or {}
            is_ours = bool(plan.service.uid) and owner.get("uid") == plan.service.uid
            if is_ours and not is_leaving(obj) and plan.find(kind, name) is None:
                yield kind, name


def _wanted_services(plan: ServicePlan) -> Iterator[str]:
    for desired in plan.objects:
        if desired.kind == SERVICE:
            yield from (name_of(obj) for obj in desired.objects)


def _differs(plan: ServicePlan, existing: Existing, name: str) -> bool:
    wanted, found = plan.find(SERVICE, name), _find_service(existing, name)
    return found is None or read_object(wanted or {}, "spec").get("selector") != (
        read_object(found, "spec").get("selector")
    )


def _keep_services(plan: ServicePlan, existing: Existing) -> Iterator[tuple[str, Object]]:
    """The specs of existing Services, without what the API server and other clients set."""
    for name in _wanted_services(plan):
        found, wanted = _find_service(existing, name) or {}, plan.find(SERVICE, name) or {}
        spec = {
            key: value
            for key, value in read_object(found, "spec").items()
            if key in read_object(wanted, "spec")
            or _APPLIERS.intersection(list_owners(found, "spec", key))
        }
        if spec:
            yield name, spec


def _find_service(existing: Existing, name: str) -> Object | None:
    return (existing.get(SERVICE) or {}).get(name)
