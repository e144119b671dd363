"""
From an InferenceService to what is to exist for it, and to the model.

The service is resolved and given to a strategy here; that is a function of what the caches hold.
The workloads that come of it are carried by others, so to the planner a service is one group
whose roles are its components: it is told how many units each has, and nothing is planned for
them. Where a service cannot be resolved, nothing that exists is touched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kohort.apis.api import Reading, Snapshot
from kohort.apis.inferenceservice.assembly import ServicePlan, plan_service
from kohort.apis.inferenceservice.children import POD, ServicePod, find_existing
from kohort.apis.inferenceservice.handover import Handover, hold_selectors, plan_handover
from kohort.apis.inferenceservice.references import find_configuration, find_known, read_root
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.status.readiness import read_readiness
from kohort.apis.inferenceservice.status.status import list_pods
from kohort.apis.inferenceservice.strategies.registry import load_manager
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.apis.inferenceservice.units import read_observed, read_workload
from kohort.apis.inferenceservice.updates import find_held, stamp_workloads
from kohort.cluster.objects import Kind, Object


@dataclass(frozen=True, slots=True)
class Memory:
    """What is to exist for a service, and what does."""

    plan: ServicePlan
    existing: Existing
    pods: tuple[Object, ...]
    handover: Handover
    held: frozenset[tuple[Kind, str]]  # workloads that do not follow an edit yet


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot as a plan of objects and in the words of the model; raises ServiceError."""
    service, existing = read_root(snapshot.root), find_existing(snapshot)
    found: tuple[ServicePod, ...] = snapshot.all(POD)
    plan = plan_service(
        service,
        find_known(snapshot),
        find_configuration(snapshot),
        load_manager(),
        existing,
        snapshot.unserved,
    )
    plan = stamp_workloads(plan)
    pods = tuple(pod.decode() for pod in found)
    is_ready = find_ready(plan, existing, pods)
    handover = plan_handover(plan, existing, is_ready)
    memory = Memory(
        plan=hold_selectors(plan, handover),
        existing=existing,
        pods=pods,
        handover=handover,
        held=find_held(plan, existing, is_serving=any(is_ready.values())),
    )
    workload = read_workload(snapshot, plan, existing)
    return Reading(workload, read_observed(workload, plan, existing, found, is_ready), memory)


def find_ready(
    plan: ServicePlan, existing: Existing, pods: Sequence[Object]
) -> Mapping[ComponentType, bool]:
    """Which components serve in the form that is wanted."""
    if plan.workload is None:
        return {}
    strategy, name = plan.workload.strategy, plan.service.name
    return {
        component: read_readiness(
            config, strategy, existing, list_pods(config, pods, existing), name
        ).is_true
        for component, config in plan.workload.configs.items()
    }
