"""
What is done about an AcceleratorClass: nothing, but to let it go.

Upstream holds each class by a finalizer, and does nothing before it is removed. We write none, so
that a class can be deleted while no operator runs, and remove the one that upstream wrote.
"""

from kohort.apis.api import Reading, Snapshot
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.accelerator_class.read import Memory
from kohort.apis.inferenceservice.base_model.render import render_release
from kohort.cluster.actions import Action
from kohort.model.plans import Plan


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """What to do about a class."""
    if not reading.workload.is_leaving:
        return ()
    return tuple(render_release(kinds.ACCELERATOR_CLASS, snapshot.root))
