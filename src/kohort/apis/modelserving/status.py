"""
The status of a ModelServing, in upstream's shape, with the truth where upstream's is stale.

Conditions name groups by their ordinals, are written afresh whenever what they say has changed, and
bear the generation they were made from. A group is ready only if all instances of all its roles are
there and ready; a missing group is progressing. The selector finds the entry of the first instance
of the first role, one pod for each group, in upstream's own order of keys: autoscalers store it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.plugins.chain import PluginFailure
from kohort.apis.modelserving.spec import ServingSpec
from kohort.cluster.objects import Object, metadata_of, name_of

AVAILABLE, PROGRESSING, UPDATING = "Available", "Progressing", "UpdateInProgress"
PLUGINS_FAILED = "PluginsFailed"
_REASONS = {
    AVAILABLE: "AllGroupsReady",
    PROGRESSING: "GroupProgressing",
    UPDATING: "GroupsUpdating",
}
_ALL_READY = "All Serving groups are ready"
# What is no longer true when a condition becomes so.
_ENDS = {AVAILABLE: (PROGRESSING, UPDATING), PROGRESSING: (AVAILABLE, UPDATING)}
_MESSAGE_MAX = 32_768


@dataclass(frozen=True, slots=True)
class GroupState:
    """One group as it stands."""

    ordinal: int
    revision: str
    is_ready: bool = False
    is_leaving: bool = False
    is_updated: bool = False  # whether it is of the revision that is asked for


@dataclass(frozen=True, slots=True)
class InstanceState:
    """One instance of a role as it stands."""

    is_ready: bool
    is_leaving: bool = False


def is_group_ready(
    wanted: Mapping[str, int], instances: Mapping[str, Sequence[InstanceState]]
) -> bool:
    """Whether each role has exactly the instances that are asked for, and all of them serve."""
    return all(
        len(instances.get(role, ())) == count
        and all(found.is_ready and not found.is_leaving for found in instances.get(role, ()))
        for role, count in wanted.items()
    )


def write_status(
    serving: Object, spec: ServingSpec, groups: Iterable[GroupState], revision: str, now: str
) -> Object:
    """The status that these groups amount to, given the one that is there."""
    found = sorted(groups, key=lambda group: group.ordinal)
    present = [group for group in found if not group.is_leaving]
    ready = sum(group.is_ready for group in present)
    updated = sum(group.is_updated for group in present)
    old: Object = serving.get("status") or {}
    current = len(present) - updated
    if spec.partition is None and updated == ready == len(found) == spec.replicas:
        # Nothing is left of another revision: the current one is the one that is asked for.
        current = updated
    counts = {
        "replicas": len(found),
        "availableReplicas": ready,
        "updatedReplicas": updated,
        "currentReplicas": current,
    }
    generation = int(metadata_of(serving).get("generation") or 0)
    claim, message = find_claim(spec, found)
    return {
        **{key: value for key, value in old.items() if key not in counts},
        **{key: count for key, count in counts.items() if count or key in old or not old},
        "observedGeneration": generation,
        "currentRevision": find_current_revision(
            str(old.get("currentRevision") or ""), present, revision
        ),
        "updateRevision": revision,
        "labelSelector": write_selector(serving, spec),
        "conditions": put_claim(old.get("conditions") or [], claim, message, (generation, now)),
    }


def find_claim(spec: ServingSpec, groups: Sequence[GroupState]) -> tuple[str, str]:
    """The condition that holds, and its message."""
    waiting = [g.ordinal for g in groups if g.is_leaving or not g.is_ready]
    waiting = sorted({*waiting, *_list_missing(spec.replicas, groups)})
    if not waiting:
        return AVAILABLE, _ALL_READY
    text = f"Some groups is progressing: {_write_list(waiting)}"
    outdated = [g for g in groups if not g.is_updated]
    if len(outdated) <= (spec.partition or 0):
        return PROGRESSING, text
    updated = [g.ordinal for g in groups if g.is_updated and not g.is_leaving]
    return UPDATING, f"{text}, Updated Groups are: {_write_list(updated)}"


def find_current_revision(held: str, groups: Sequence[GroupState], revision: str) -> str:
    """The revision that is being replaced: the one held so far, else the most frequent.

    Of two that are as frequent, that of the lowest ordinal holds.
    """
    outdated = [group.revision for group in groups if not group.is_updated]
    if not outdated:
        return revision
    if held in outdated:
        return held
    # Counted in the order of ordinals, and the first of the most frequent is taken.
    return Counter(outdated).most_common(1)[0][0]


def write_selector(serving: Object, spec: ServingSpec) -> str:
    """Selects one entry pod of each group."""
    role = spec.roles[0].name if spec.roles else ""
    terms = {
        labels.ENTRY: "true",
        labels.NAME: name_of(serving),
        labels.ROLE: role,
        labels.ROLE_ID: names.role_id(role, 0),
    }
    return ",".join(sorted(f"{key}={value}" for key, value in terms.items()))


def start_status(serving: Object, spec: ServingSpec) -> Object:
    """What autoscalers need of a status, whatever else is known."""
    return {"labelSelector": write_selector(serving, spec), "replicas": 0}


def put_claim(
    conditions: Sequence[Object], claim: str, message: str, moment: tuple[int, str]
) -> list[Object]:
    """The conditions with one that is true now, and those that it ends."""
    generation, now = moment
    kept = [dict(condition) for condition in conditions]
    body = {"reason": _REASONS[claim], "message": message[:_MESSAGE_MAX]}
    _put(kept, claim, {"status": "True", **body, "observedGeneration": generation}, now)
    for condition in kept:
        if condition.get("type") in _ENDS.get(claim, (AVAILABLE,)):
            if condition.get("status") == "True":
                condition.update(status="False", lastTransitionTime=now)
            condition["observedGeneration"] = generation
    return kept


def put_plugin_failure(
    conditions: Sequence[Object], failure: PluginFailure | None, moment: tuple[int, str]
) -> list[Object]:
    """The conditions with one that names a plugin that failed; where none ever did, unchanged."""
    generation, now = moment
    kept = [dict(condition) for condition in conditions]
    held = next((c for c in kept if c.get("type") == PLUGINS_FAILED), None)
    if failure is None and (held is None or held.get("status") != "True"):
        return kept
    claim = {"status": "False", "reason": "PluginsRun", "message": "all plugins run"}
    if failure is not None:
        claim = {"status": "True", "reason": "PluginFailed", "message": str(failure)}
    _put(kept, PLUGINS_FAILED, {**claim, "observedGeneration": generation}, now)
    return kept


def _put(conditions: list[Object], kind: str, body: Object, now: str) -> None:
    found = next((c for c in conditions if c.get("type") == kind), None)
    if found is None:
        conditions.append({"type": kind, "lastTransitionTime": now, **body})
        return
    if found.get("status") != body["status"]:
        found["lastTransitionTime"] = now
    found.update(body)


def _list_missing(wanted: int, groups: Sequence[GroupState]) -> list[int]:
    """The ordinals of groups that are still to be made, lowest first."""
    taken, missing = {group.ordinal for group in groups}, wanted - len(groups)
    free = (ordinal for ordinal in range(wanted) if ordinal not in taken)
    return [ordinal for ordinal, _ in zip(free, range(missing), strict=False)]


def _write_list(ordinals: Iterable[int]) -> str:
    return f"[{' '.join(map(str, ordinals))}]"
