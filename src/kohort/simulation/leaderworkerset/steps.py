"""
The policy of a LeaderWorkerSet, and how far its rollout has come by the state of its carrier.
"""

import orjson

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of
from kohort.simulation.checkers.truth import Truth
from kohort.simulation.leaderworkerset.labels import LABELS
from kohort.simulation.scenario import PODS
from kohort.simulation.simulated_api import Policy, Step, read_budget

MIN_READY = "kohort.dev/min-ready-seconds"
_NOTE = "kohort.dev/progress"


def read_policy(workload: Object) -> Policy:
    """The policy of a workload."""
    spec = workload["spec"]
    wanted = spec.get("replicas", 1)
    rolling = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    return Policy(wanted, *read_budget(rolling, wanted), rolling.get("partition") or 0)


def find_min_ready(workload: Object) -> int:
    """How long a group must be ready before it counts."""
    return int(annotations_of(workload).get(MIN_READY, "0"))


def read_step(truth: Truth, carrier: str) -> Step | None:
    """How far the rollout has come, as the carrier remembers it."""
    if carrier != PODS:
        return _step_of(truth.leader_set)
    note, target = _find_note(truth)
    return None if note is None else (note["boundary"], note["count"], target)


def has_gone_back(truth: Truth, carrier: str) -> bool:
    """Whether groups come back on the target wherever the boundary stands."""
    if carrier == PODS:
        note, target = _find_note(truth)
        return note is not None and note["base"] == target
    status = (truth.leader_set or {}).get("status") or {}
    return bool(status.get("currentRevision") == status.get("updateRevision"))


def _find_note(truth: Truth) -> tuple[Object | None, str]:
    """The newest note of the rollout, and the revision that it stands on."""
    notes = []
    for revision in truth.objects[kinds.CONTROLLER_REVISION].values():
        text, key = annotations_of(revision).get(_NOTE), LABELS.revision_of(revision)
        if text and key:
            note = orjson.loads(text)
            notes.append((note["turn"], note["boundary"], note["count"], key, note))
    if not notes:
        return None, ""
    *_, key, note = max(notes, key=lambda entry: entry[:4])
    return note, key


def _step_of(leader_set: Object | None) -> Step | None:
    if leader_set is None:
        return None
    spec = leader_set["spec"]
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling.get("partition") or 0, spec["replicas"], LABELS.revision_of(leader_set)
