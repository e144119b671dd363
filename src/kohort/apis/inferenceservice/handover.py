"""
From one form of a service to another: the old workload stays until the new one serves.

A service changes its form when its strategy or the mode of a component changes. The old workload is
held, and Services go on selecting what they selected, until all components of the new form are
ready. Then Services select the new pods, and only when they are seen to do so does the old
workload go. So at every moment one of the two serves, whatever fails.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.fields import read_object
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.objects import Kind, Object, find_controller, is_leaving, name_of

# What runs pods. All else that is not wanted any more may go at once.
WORKLOADS = (
    kinds.DEPLOYMENT,
    kinds.LEADER_WORKER_SET,
    kinds.RAY_CLUSTER,
    kinds.KNATIVE_SERVICE,
    kinds.ROLE_BASED_GROUP,
)


@dataclass(frozen=True, slots=True)
class Handover:
    """What is held while a service changes its form, and on what that waits."""

    held: frozenset[tuple[Kind, str]] = frozenset()  # kind and name: not to be deleted yet
    selectors: Mapping[str, Object] = field(default_factory=dict)  # by Service: what it keeps
    waits_on: str = ""


def plan_handover(
    plan: ServicePlan, existing: Existing, is_ready: Mapping[ComponentType, bool]
) -> Handover:
    """What has to stay, and for how long."""
    old = frozenset(_find_old(plan, existing))
    if not old or plan.workload is None:
        return Handover()
    names = ", ".join(sorted(f"{kind.name} {name}" for kind, name in old))
    late = [each for each in plan.workload.configs if not is_ready.get(each)]
    if late:
        why = f"{names} stays until {', '.join(late)} is ready"
        return Handover(old, dict(_keep_selectors(plan, existing)), why)
    if any(_differs(plan, existing, name) for name in _wanted_services(plan)):
        return Handover(old, {}, f"{names} stays until Services select the new pods")
    return Handover()


def hold_selectors(plan: ServicePlan, handover: Handover) -> ServicePlan:
    """The plan with Services that go on selecting what they selected."""
    if not handover.selectors:
        return plan
    objects = tuple(
        replace(desired, objects=tuple(_hold(obj, handover) for obj in desired.objects))
        if desired.kind == kinds.SERVICE
        else desired
        for desired in plan.objects
    )
    return replace(plan, objects=objects)


def _hold(obj: Object, handover: Handover) -> Object:
    kept = handover.selectors.get(name_of(obj))
    return obj if kept is None else {**obj, "spec": {**obj["spec"], "selector": kept}}


def _find_old(plan: ServicePlan, existing: Existing) -> Iterator[tuple[Kind, str]]:
    """Workloads of this service that are not wanted any more; those of others never count."""
    for kind in WORKLOADS:
        for name, obj in (existing.get(kind) or {}).items():
            owner = find_controller(obj) or {}
            is_ours = bool(plan.service.uid) and owner.get("uid") == plan.service.uid
            if is_ours and not is_leaving(obj) and plan.find(kind, name) is None:
                yield kind, name


def _wanted_services(plan: ServicePlan) -> Iterator[str]:
    for desired in plan.objects:
        if desired.kind == kinds.SERVICE:
            yield from (name_of(obj) for obj in desired.objects)


def _differs(plan: ServicePlan, existing: Existing, name: str) -> bool:
    wanted, found = plan.find(kinds.SERVICE, name), _find_service(existing, name)
    return found is None or read_object(wanted or {}, "spec").get("selector") != (
        read_object(found, "spec").get("selector")
    )


def _keep_selectors(plan: ServicePlan, existing: Existing) -> Iterator[tuple[str, Object]]:
    for name in _wanted_services(plan):
        found = _find_service(existing, name)
        selector = read_object(read_object(found or {}, "spec"), "selector")
        if selector:
            yield name, selector


def _find_service(existing: Existing, name: str) -> Object | None:
    return (existing.get(kinds.SERVICE) or {}).get(name)
