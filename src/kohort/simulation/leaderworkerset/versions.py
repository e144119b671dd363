"""
Two versions of the operator: one that might have been before, and the present one.

The earlier version names revisions differently and knows other defaults. The present
version finds its revisions, StatefulSets and pods and has to go on with them: a name
that it would not have chosen itself is no reason to replace anything.
"""

from dataclasses import replace

from kohort.apis.api import DEFAULTS, Reading, Snapshot
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.simulation.leaderworkerset.labels import KEY
from kohort.simulation.scenario import PODS
from kohort.simulation.simulated_api import OperatorVersion, OperatorVersions

EARLIER = "v0-"


def _read_as_before(snapshot: Snapshot) -> Reading[object]:
    """The same reading, with revisions that are named as they were earlier."""
    reading = LEADER_WORKER_SET.read(snapshot)
    memory = reading.memory
    if memory.key.startswith(EARLIER):
        return reading
    key = f"{EARLIER}{memory.key}"
    held = [r for r in memory.revisions if r.metadata.labels.get(KEY) == key]
    memory = replace(memory, key=key, revision=held[-1] if held else None)
    return replace(reading, workload=replace(reading.workload, revision=key), memory=memory)


VERSIONS = OperatorVersions(
    present=OperatorVersion(LEADER_WORKER_SET, DEFAULTS),
    before=OperatorVersion(replace(LEADER_WORKER_SET, read=_read_as_before), DEFAULTS),
    # What takes over has another default for new workloads, which must not touch old ones.
    after=OperatorVersion(LEADER_WORKER_SET, replace(DEFAULTS, carrier=PODS)),
)
