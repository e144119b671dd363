"""Messages for waiting gangs, in events and conditions of pods and groups."""

from collections.abc import Iterable

from kohort.placement.fits import Fit
from kohort.placement.sentences import describe_fit
from kohort.simulator.scheduling.gangs.adapters import GROUPS
from kohort.simulator.scheduling.gangs.membership import SCHEDULERS
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec
from kohort.simulator.scheduling.gangs.roster import Gang

FITS_TOLD_MAX = 3


def describe_missing(key: GangKey, *, is_served: bool) -> str:
    """Why a pod waits whose gang does not exist."""
    groups = [group for (group, _), (dialect, _) in GROUPS.items() if dialect == key.dialect]
    if not is_served:
        return f"pod group {key.name} cannot exist: PodGroup of {groups[0]} is not served"
    return f'podgroup "{key.namespace}/{key.name}" not found'


def describe_absence(scheduler: str) -> str:
    """Why a pod waits whose scheduler this cluster does not simulate."""
    return f"no scheduler {scheduler} is here: the kinds of {SCHEDULERS[scheduler]} are not served"


def describe_failure(gang: Gang, spec: GangSpec, detail: str) -> str:
    """How far a gang is, and what it lacks."""
    waiting, total = len(gang.waiting), len(gang.waiting) + len(gang.placed) + len(gang.done)
    counts = [
        (waiting, "Pending"),
        (len(gang.placed) - len(gang.running), "Bound"),
        (len(gang.running), "Running"),
        (gang.succeeded(), "Succeeded"),
    ]
    shown = "".join(f", {count} {state}" for count, state in counts if count)
    return (
        f"{waiting}/{total} tasks in gang unschedulable: pod group is not ready{shown}, "
        f"{spec.minimum} minAvailable; {detail}"
    )


def describe_fits(fits: Iterable[Fit]) -> str:
    """What the best domain of each tier lacks, nearest tier first."""
    told = [describe_fit(fit, names=False) for fit in fits]
    return "; ".join(told[-FITS_TOLD_MAX:]) or "no domain has a tier as near as asked for"
