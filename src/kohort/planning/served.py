"""
Which revision has served: the revision that an undo goes back to.

A revision has served if all groups that it was meant for were ready on it at one
moment. The operator checks that when the user sets another revision, since it writes nothing
at rest: by then the carrier still records the last target, and the groups still have it.
"""

from kohort.model.observed import Observed
from kohort.model.units import Phase
from kohort.model.workload import Workload


def find_served(workload: Workload, observed: Observed) -> str:
    """The revision that serves now and is about to be replaced; empty if there is none."""
    progress = observed.progress
    if progress is None or progress.target in ("", workload.revision):
        return ""
    meant = range(workload.rollout.partition, progress.noted)
    ready = {
        group.ordinal
        for group in observed.groups
        if group.phase is Phase.READY and group.revision == progress.target
    }
    return progress.target if len(meant) > 0 and ready.issuperset(meant) else ""
