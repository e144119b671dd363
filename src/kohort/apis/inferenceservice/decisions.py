"""
The operator's decisions about a service, for users who ask why: strategy, runtime, accelerator.

Each runtime and strategy that was not chosen is listed with the reason, so that users need not
guess. Conditions of workloads are quoted, too: the cause may lie in a workload, not in the service.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.fields import read_object, read_objects, read_text
from kohort.apis.inferenceservice.kinds import WORKLOADS
from kohort.apis.inferenceservice.read import Memory
from kohort.cluster.kinds import DEPLOYMENT

_PASSED_OVER_MAX = 5
# Condition types that report a problem when true, and those that do when false.
_BAD, _GOOD = ("Stalled", "Blocked", "ReplicaFailure"), ("Ready", "Available")


def name_strategy(reading: Reading[Memory]) -> str:
    """The strategy that runs a service; empty if none does."""
    workload = reading.memory.plan.workload
    return workload.strategy if workload else ""


def list_decisions(reading: Reading[Memory]) -> tuple[str, ...]:
    """A sentence for each decision about a service."""
    memory = reading.memory
    return (
        *_list_strategies(memory.plan),
        *_list_runtimes(memory.plan),
        *_list_accelerators(memory.plan),
        *(f"warning: {text}" for text in memory.plan.warnings),
        *_list_waits(memory),
        *_list_layers(memory),
    )


def _list_strategies(plan: ServicePlan) -> Iterator[str]:
    for each in plan.strategies:
        word = "is used" if each.is_chosen else "is not used"
        yield f"workload strategy {each.name} {word}: {each.reason}"


def _list_runtimes(plan: ServicePlan) -> Iterator[str]:
    selection = plan.resolution.selection if plan.resolution else None
    if selection is None:
        return
    chosen, how = selection.chosen, f"the best of all that fit (score {selection.score})"
    how = "the service names it" if selection.is_named else how
    yield f"{chosen.kind} {chosen.name} is used: {how}"
    for candidate in selection.passed_over[:_PASSED_OVER_MAX]:
        yield f"passed over: {candidate}"
    more = len(selection.passed_over) - _PASSED_OVER_MAX
    if more > 0:
        yield f"passed over: {more} more runtimes"


def _list_accelerators(plan: ServicePlan) -> Iterator[str]:
    for component, selected in (plan.resolution.accelerators if plan.resolution else {}).items():
        yield f"{component} uses accelerator {selected.accelerator.name}: {selected.reason}"


def _list_waits(memory: Memory) -> Iterator[str]:
    if memory.handover.waits_on:
        yield f"the service changes its form: {memory.handover.waits_on}"
    for kind, name in sorted(memory.held, key=str):
        yield f"{kind.name} {name} does not follow an edit of what it was rendered from"


def _list_layers(memory: Memory) -> Iterator[str]:
    for kind in WORKLOADS:
        # At rest, a Deployment progresses, and a LeaderWorkerSet does not.
        good = (*_GOOD, "Progressing") if kind == DEPLOYMENT else _GOOD
        for name, obj in (memory.existing.get(kind) or {}).items():
            for condition in read_objects(read_object(obj, "status"), "conditions"):
                kind_of, status = read_text(condition, "type"), read_text(condition, "status")
                if (kind_of in _BAD and status == "True") or (
                    kind_of in good and status == "False"
                ):
                    why = read_text(condition, "message") or read_text(condition, "reason")
                    yield f"{kind.name} {name} says {kind_of}={status}: {why}"
