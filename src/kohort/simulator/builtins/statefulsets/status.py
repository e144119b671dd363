"""The status of a StatefulSet: counts of pods, and the progress of an update."""

from collections.abc import Sequence

from kohort.cluster.objects import Object
from kohort.simulator.builtins.statefulsets.revisions import History
from kohort.simulator.builtins.statefulsets.spec import Member, SetSpec


def count_status(
    spec: SetSpec, members: Sequence[Member], history: History, replaced: int
) -> Object:
    """The status to report; zero counts are left out where the API leaves them out."""
    staying = [member.revision for member in members if not member.is_leaving]
    ready = [member for member in members if member.is_ready]
    current = max(0, staying.count(history.current) - replaced)
    updated = staying.count(history.update)
    current_revision = history.current
    if spec.is_rolling and updated == len(ready) == len(members) == spec.replicas:
        current, current_revision = updated, history.update
    counts = {
        "observedGeneration": spec.entry.facts.metadata.generation,
        "readyReplicas": len(ready),
        "currentReplicas": current,
        "updatedReplicas": updated,
    }
    return {
        "replicas": len(members),
        "availableReplicas": sum(member.seconds_left == 0.0 for member in ready),
        **{name: count for name, count in counts.items() if count},
        "currentRevision": current_revision,
        "updateRevision": history.update,
        "collisionCount": history.collisions,
    }
