"""
Writes to an AcceleratorClass: only the removal of upstream's finalizer.

Upstream puts a finalizer on each class, for no cleanup. We write none, so that users can delete a
class while no operator runs, and remove the one that upstream wrote.
"""

from kohort.apis.api import Reading, Snapshot
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.accelerator_class.read import Memory
from kohort.apis.inferenceservice.base_model.render import render_release
from kohort.cluster.actions import Action
from kohort.model.plans import Plan


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """Remove upstream's finalizer from a class that is being deleted."""
    if not reading.workload.is_leaving:
        return ()
    return tuple(render_release(kinds.ACCELERATOR_CLASS, snapshot.root))
