"""
From an InferenceService to the objects that should exist for it, and to the planner's model.

Resolution and strategy work on the caches alone. Other controllers run the workloads, so for the
planner a service is one group whose roles are its components: it gets the replicas of each, and
plans nothing for them. If a service cannot be resolved, the operator changes no existing object.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kohort.apis.api import Reading, Snapshot
from kohort.apis.inferenceservice.assembly import ServicePlan, plan_service
from kohort.apis.inferenceservice.children import ServicePod, find_existing
from kohort.apis.inferenceservice.entry_pods import changes_nodes, leave_out_workers
from kohort.apis.inferenceservice.handover import (
    Handover,
    carry_replicas,
    hold_services,
    plan_handover,
    turn_services,
)
from kohort.apis.inferenceservice.ray_repair import find_deadline
from kohort.apis.inferenceservice.references import (
    check_configuration,
    find_configuration,
    find_known,
    read_root,
)
from kohort.apis.inferenceservice.router_accounts import keep_accounts
from kohort.apis.inferenceservice.spec import ComponentType, InferenceService
from kohort.apis.inferenceservice.status.crashes import list_crash_ends
from kohort.apis.inferenceservice.status.readiness import (
    has_ready_pod,
    list_members,
    read_serving,
)
from kohort.apis.inferenceservice.status.status import list_pods
from kohort.apis.inferenceservice.strategies.registry import load_manager
from kohort.apis.inferenceservice.strategies.role_based_group import NAME as RBG
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.apis.inferenceservice.units import read_observed, read_workload
from kohort.apis.inferenceservice.updates import find_held, is_moved, stamp_workloads
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind, Object, is_leaving

NO_HANDOVER = Handover()


@dataclass(frozen=True, slots=True)
class Memory:
    """The objects that should exist for a service, and those that exist."""

    plan: ServicePlan
    existing: Existing = field(default_factory=dict)
    pods: tuple[Object, ...] = ()
    handover: Handover = NO_HANDOVER
    held: frozenset[tuple[Kind, str]] = frozenset()  # workloads that keep their old spec for now
    is_moved: bool = False  # a held workload is not in the plan: write nothing


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot as a plan of objects and as the planner's model; raises ServiceError."""
    service = read_root(snapshot.root)
    if is_leaving(snapshot.root):
        # The model or runtime of a service in deletion may be gone already.
        bare = ServicePlan(service, ())
        workload = read_workload(snapshot, bare, {})
        return Reading(workload, read_observed(workload, bare, {}, (), {}), Memory(bare))
    existing = find_existing(snapshot)
    plan = _plan(snapshot, service, existing)
    found: tuple[ServicePod, ...] = snapshot.all(POD)
    pods = tuple(pod.decode() for pod in found)
    is_serving = any(pod.is_ready and not pod.metadata.is_leaving for pod in found)
    held = find_held(plan, existing, is_serving)
    if is_moved(plan, held):
        resting = replace(plan, workload=None)
        workload = read_workload(snapshot, resting, existing)
        observed = read_observed(workload, resting, existing, found, {})
        return Reading(workload, observed, Memory(plan, existing, pods, held=held, is_moved=True))
    serves = find_serving(plan, existing, pods)
    plan = keep_accounts(leave_out_workers(plan, existing, pods), existing, pods)
    handover = plan_handover(plan, existing, serves)
    plan = hold_services(carry_replicas(plan, existing), handover)
    if held and handover.old and not handover.is_late:
        plan = turn_services(plan, existing)
    workload = read_workload(snapshot, plan, existing)
    observed = read_observed(workload, plan, existing, found, serves)
    seconds = find_configuration(snapshot).prober.unavailable_seconds
    deadline = find_deadline(plan, existing, seconds)
    due = (*((deadline,) if deadline is not None else ()), *_list_ends(plan, pods))
    return Reading(workload, observed, Memory(plan, existing, pods, handover, held), due)


def _list_ends(plan: ServicePlan, pods: Sequence[Object]) -> Iterator[float]:
    """When crashes of components may be over though nothing changes, in epoch seconds."""
    for config in plan.workload.configs.values() if plan.workload else ():
        yield from list_crash_ends(list_members(config, pods))


def _plan(snapshot: Snapshot, service: InferenceService, existing: Existing) -> ServicePlan:
    check_configuration(snapshot, service, existing)
    planned = plan_service(
        service,
        find_known(snapshot),
        find_configuration(snapshot),
        load_manager(),
        existing,
        snapshot.unserved,
    )
    return stamp_workloads(planned)


def find_serving(
    plan: ServicePlan, existing: Existing, pods: Sequence[Object]
) -> Mapping[ComponentType, bool]:
    """Whether each component serves from the workload that the plan wants."""
    if plan.workload is None:
        return {}
    workload, name = plan.workload, plan.service.name
    return {
        component: read_serving(
            config, workload, existing, list_pods(config, pods, existing), name
        ).is_true
        and has_ready_pod(config, workload, existing)
        and not (workload.strategy == RBG and changes_nodes(config, existing))
        for component, config in plan.workload.configs.items()
    }
