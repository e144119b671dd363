"""
The present operator, and one that might have been before it: it names revisions differently.

The operator that takes over finds its revisions and pods, and has to go on with them.
"""

from dataclasses import replace

from kohort.apis.api import DEFAULTS, Reading, Snapshot
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.modelserving.read import Memory
from kohort.simulation.simulated_api import OperatorVersion, OperatorVersions

EARLIER = "v0"


def _read_as_before(snapshot: Snapshot) -> Reading[Memory]:
    """The same reading, with revisions that are named as they were earlier."""
    reading: Reading[Memory] = MODEL_SERVING.read(snapshot)
    context = reading.memory.context
    target = context.target
    if target.is_stored or target.revision.startswith(EARLIER):
        return reading
    target = replace(target, revision=f"{EARLIER}{target.revision}")
    memory = replace(reading.memory, context=replace(context, target=target))
    return replace(
        reading, workload=replace(reading.workload, revision=target.revision), memory=memory
    )


_PRESENT = OperatorVersion(MODEL_SERVING, DEFAULTS)
VERSIONS = OperatorVersions(
    present=_PRESENT,
    before=OperatorVersion(replace(MODEL_SERVING, read=_read_as_before), DEFAULTS),
    after=_PRESENT,
)
