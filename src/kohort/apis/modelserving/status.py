"""
The status of a ModelServing, in upstream's shape, and correct where upstream's is stale.

Conditions name groups by their ordinals, are rewritten whenever their content has changed, and
carry the generation they were made from. A group is ready only if all instances of all its roles
exist and are ready; a missing group is progressing. The selector finds the entry of the first
instance of the first role, one pod per group, in upstream's order of keys: autoscalers store it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.plugins.chain import PluginFailure
from kohort.apis.modelserving.spec import ROLE_ROLLING, ServingSpec
from kohort.cluster.conditions import find, put
from kohort.cluster.objects import Object, metadata_of, name_of

AVAILABLE, PROGRESSING, UPDATING = "Available", "Progressing", "UpdateInProgress"
PLUGINS_FAILED = "PluginsFailed"
_REASONS = {
    AVAILABLE: "AllGroupsReady",
    PROGRESSING: "GroupProgressing",
    UPDATING: "GroupsUpdating",
}
_ALL_READY = "All Serving groups are ready"
# The conditions that become false when one becomes true.
_ENDS = {AVAILABLE: (PROGRESSING, UPDATING), PROGRESSING: (AVAILABLE, UPDATING)}
_MESSAGE_MAX = 32_768


@dataclass(frozen=True, slots=True)
class GroupState:
    """The readiness and revision of one group."""

    ordinal: int
    revision: str
    is_ready: bool = False
    is_leaving: bool = False
    is_updated: bool = False  # whether it has the target revision
    lacks_kept: bool = False  # an instance is missing that the partition of its role protects
    is_stored: bool = True  # whether a ControllerRevision holds its revision


def write_status(
    serving: Object, spec: ServingSpec, groups: Iterable[GroupState], revision: str, now: str
) -> Object:
    """The status for these groups, based on the stored status."""
    found = sorted(groups, key=lambda group: group.ordinal)
    present = [group for group in found if not group.is_leaving]
    ready = sum(group.is_ready for group in present)
    updated = sum(group.is_updated for group in present)
    old: Object = serving.get("status") or {}
    current = len(present) - updated
    if spec.partition is None and updated == ready == len(found) == spec.replicas:
        # No group has another revision: the current revision is the target.
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
        "currentRevision": _find_kept_revision(spec, old, found, revision)
        or find_current_revision(str(old.get("currentRevision") or ""), present, revision),
        "updateRevision": revision,
        "labelSelector": write_selector(serving, spec),
        "conditions": put_claim(old.get("conditions") or [], claim, message, (generation, now)),
    }


def find_claim(spec: ServingSpec, groups: Sequence[GroupState]) -> tuple[str, str]:
    """The condition that is true, and its message."""
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
    """
    The revision that is being replaced: the one in the status, or else the most frequent.

    Of two that are equally frequent, that of the lowest ordinal is taken. A revision that is not
    stored may be a label that another client wrote: it replaces none that the status has, since
    the operator would no longer know what protected units are made from.
    """
    outdated = [group.revision for group in groups if not group.is_updated]
    if not outdated:
        return revision
    if held in outdated:
        return held
    stored = [group.revision for group in groups if group.is_stored and not group.is_updated]
    if held and not stored:
        return held
    # Counted in the order of ordinals, and the first of the most frequent is taken.
    return Counter(stored or outdated).most_common(1)[0][0]


def _find_kept_revision(
    spec: ServingSpec, old: Object, groups: Sequence[GroupState], revision: str
) -> str:
    """
    What a unit that a partition protects comes back from, where that is known; else empty.

    That is the revision in the status while such a unit is missing, and the target while all such
    groups have it: after an undo in the middle of a rollout, what is replaced is what was undone.
    """
    present = {group.ordinal for group in groups if not group.is_leaving}
    places = sorted({*(g.ordinal for g in groups), *_list_missing(spec.replicas, groups)})
    is_kept = any(ordinal not in present for ordinal in places[: spec.partition or 0])
    if spec.rollout == ROLE_ROLLING and any(role.partition for role in spec.roles):
        is_kept = len(present) < spec.replicas or any(group.lacks_kept for group in groups)
    if is_kept:
        return str(old.get("currentRevision") or "")
    protected = [group for group in groups if group.ordinal in present][: spec.partition or 0]
    return revision if protected and all(group.is_updated for group in protected) else ""


def write_selector(serving: Object, spec: ServingSpec) -> str:
    """A selector for one entry pod of each group."""
    role = spec.roles[0].name if spec.roles else ""
    terms = {
        labels.ENTRY: "true",
        labels.NAME: name_of(serving),
        labels.ROLE: role,
        labels.ROLE_ID: names.role_id(role, 0),
    }
    return ",".join(sorted(f"{key}={value}" for key, value in terms.items()))


def start_status(serving: Object, spec: ServingSpec) -> Object:
    """The status fields that autoscalers need, even if the object cannot be planned."""
    return {"labelSelector": write_selector(serving, spec), "replicas": 0}


def put_claim(
    conditions: Sequence[Object], claim: str, message: str, moment: tuple[int, str]
) -> list[Object]:
    """
    The conditions with one set to true, and those set to false that it excludes.

    A condition that is false says what is true instead: its own words would name groups of before.
    """
    generation, now = moment
    body = {"reason": _REASONS[claim], "message": message[:_MESSAGE_MAX]}
    said = {"type": claim, "status": "True", **body, "observedGeneration": generation}
    kept = [dict(condition) for condition in put(conditions, said, now)]
    for condition in kept:
        kind = condition.get("type")
        if kind == claim or kind not in _REASONS:
            continue
        if kind in _ENDS.get(claim, (AVAILABLE,)) and condition.get("status") == "True":
            condition.update(status="False", lastTransitionTime=now)
        reason = _REASONS[kind] if condition.get("status") == "True" else body["reason"]
        condition.update(body, reason=reason, observedGeneration=generation)
    return kept


def put_plugin_failure(
    conditions: Sequence[Object], failure: PluginFailure | None, moment: tuple[int, str]
) -> list[Object]:
    """The conditions with one about a failed plugin; unchanged if none has ever failed."""
    generation, now = moment
    kept = [dict(condition) for condition in conditions]
    held = find(kept, PLUGINS_FAILED)
    if failure is None and (held is None or held.get("status") != "True"):
        return kept
    claim = {"status": "False", "reason": "PluginsRun", "message": "all plugins run"}
    if failure is not None:
        claim = {"status": "True", "reason": "PluginFailed", "message": str(failure)}
    said = {"type": PLUGINS_FAILED, **claim, "observedGeneration": generation}
    return put(kept, said, now)


def _list_missing(wanted: int, groups: Sequence[GroupState]) -> list[int]:
    """The ordinals of groups that are still to be created, lowest first."""
    taken, missing = {group.ordinal for group in groups}, wanted - len(groups)
    free = (ordinal for ordinal in range(wanted) if ordinal not in taken)
    return [ordinal for ordinal, _ in zip(free, range(missing), strict=False)]


def _write_list(ordinals: Iterable[int]) -> str:
    return f"[{' '.join(map(str, ordinals))}]"
