"""
Statuses of groups, sets, instances and adapters, in upstream's shape, from counts of one snapshot.

The operator rebuilds a status whole: entries of removed roles go, and it writes whenever any number
changes. A condition keeps its transition time while its status stays the same. Parts that upstream
wrote and that still hold stay, so that taking over an idle group costs no write.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.cluster.conditions import find, put
from kohort.cluster.objects import Object, find_controller
from kohort.model.reasons import Blocker

READY, UPDATING = "Ready", "RollingUpdateInProgress"
INSTANCE_READY, ALL_PODS_READY = "RoleInstanceReady", "RoleInstanceAllPodsReady"
IN_PLACE_READY, RESTARTING = "RoleInstanceInPlaceUpdateReady", "Restarting"
FAILED_UPDATE, WAITING = "FailedUpdate", "RoleWaiting"
_RISING = ("readyReplicas", "availableReplicas", "updatedReadyReplicas")


@dataclass(frozen=True, slots=True)
class RoleCounts:
    """The instance counts of one role."""

    name: str
    wanted: int
    exist: int
    ready: int
    updated: int
    updated_ready: int
    available: int

    @property
    def is_whole(self) -> bool:
        """Whether exactly the wanted number of instances exists, and all are ready."""
        return self.wanted == self.exist == self.ready


def write_group_status(
    group: Object, roles: Sequence[RoleCounts], now: str, held: Sequence[str] = ()
) -> Object:
    """The status of a group; ``held`` says which roles hold others back, in sentences."""
    old: Object = as_map(group.get("status"))
    generation = group["metadata"].get("generation", 0)
    is_ready = all(role.is_whole for role in roles)
    said = _say(is_ready, "AllRolesReady", "RoleNotReady")
    message = "All roles are ready" if is_ready else "Not all role ready"
    ready = {"type": READY, **said, "message": message, "observedGeneration": generation}
    conditions = [ready]
    is_updating = any(role.updated < role.exist for role in roles)
    if is_updating or _find(old, UPDATING):
        moving = [role.name for role in roles if role.updated < role.exist]
        text = f"Roles are updated: {', '.join(moving)}" if moving else "No role is updated"
        text = "; ".join((text, *held)) if moving else text
        updating = {"type": UPDATING, **_say(is_updating, "RolesUpdating", "RolesUpdated")}
        conditions.append({**updating, "message": text, "observedGeneration": generation})
    return {
        **old,
        "observedGeneration": generation,
        "conditions": _merge(old, conditions, now),
        "roleStatuses": [
            {
                "name": role.name,
                "replicas": role.exist,
                "readyReplicas": role.ready,
                "updatedReplicas": role.updated,
            }
            for role in roles
        ],
    }


@dataclass(frozen=True, slots=True)
class SetState:
    """The parts of a RoleInstanceSet's status besides counts."""

    target: str
    selector: str
    partition: int
    stuck: str = ""  # why the rollout cannot update old instances
    waits: tuple[Blocker, ...] = ()  # for what the user or another client has to do


def write_set_status(instance_set: Object, counts: RoleCounts, state: SetState, now: str) -> Object:
    """The status of a RoleInstanceSet."""
    old: Object = as_map(instance_set.get("status"))
    is_over = counts.is_whole and counts.updated_ready == counts.exist
    current = state.target if is_over else old.get("currentRevision") or state.target
    status: Object = {
        **old,
        "observedGeneration": instance_set["metadata"].get("generation", 0),
        "replicas": counts.exist,
        "readyReplicas": counts.ready,
        "availableReplicas": counts.available,
        "currentReplicas": counts.exist
        if current == state.target
        else counts.exist - counts.updated,
        "updatedReplicas": counts.updated,
        "updatedReadyReplicas": counts.updated_ready,
        "expectedUpdatedReplicas": max(0, counts.wanted - state.partition),
        "currentRevision": current,
        "updateRevision": state.target,
        "collisionCount": old.get("collisionCount") or 0,
        "labelSelector": state.selector,
    }
    if state.stuck or _find(old, FAILED_UPDATE):
        reason = "InPlaceUpdateNotPossible" if state.stuck else "Updated"
        said = {"type": FAILED_UPDATE, "status": _truth(bool(state.stuck)), "reason": reason}
        status["conditions"] = _merge(old, [{**said, "message": state.stuck}], now)
    return say_waiting(status, state.waits, now)


def is_partial(obj: Object, status: Object) -> bool:
    """Whether a status says only that more instances are ready than the stored one, and not all."""
    old: Object = as_map(obj.get("status"))
    return status["readyReplicas"] < status["replicas"] and _has_risen(old, status)


def is_partial_group(group: Object, status: Object) -> bool:
    """
    The same of a group that another workload controls.

    That workload tells users how far it is, and does not act before all roles are ready.
    """
    old: Object = as_map(group.get("status"))
    was, now = (as_objects(each.get("roleStatuses")) for each in (old, status))
    if find_controller(group) is None or len(was) != len(now):
        return False
    is_over = all(role.get("readyReplicas") == role.get("replicas") for role in now)
    rises = all(_has_risen(*pair) for pair in zip(was, now, strict=True))
    return rises and not is_over and {**old, "roleStatuses": now} == {**status, "roleStatuses": now}


def _has_risen(old: Object, new: Object) -> bool:
    """Whether nothing differs but numbers of ready ones, which have not fallen."""
    numbers = {name: new[name] for name in _RISING if name in new}
    rises = all(number >= (old.get(name) or 0) for name, number in numbers.items())
    return bool(old) and rises and {**old, **numbers} == new


def say_waiting(status: Object, waits: Sequence[Blocker], now: str) -> Object:
    """The status with what roles wait for; without the condition if they never waited."""
    if not waits and not _find(status, WAITING):
        return status
    reason = waits[0].reason if waits else "NothingWaits"
    text = "; ".join(dict.fromkeys(wait.message for wait in waits))
    said = {"type": WAITING, "status": _truth(bool(waits)), "reason": reason, "message": text}
    return {**status, "conditions": _merge(status, [said], now)}


@dataclass(frozen=True, slots=True)
class ComponentCounts:
    """The pod counts of one component of an instance."""

    name: str
    exist: int
    ready: int
    updated: int
    updated_ready: int
    scheduled: int


@dataclass(frozen=True, slots=True)
class InstanceState:
    """The state of one instance that its status reports."""

    components: tuple[ComponentCounts, ...]
    revision: str  # the name of the revision whose hash the pods should have
    unready: str = ""  # the first pod that is not ready; empty: all pods are
    is_updated: bool = True  # all pods have its revision
    is_complete: bool = True  # and all containers run the images of it
    is_amended: bool = False  # it was updated in place at least once
    restarts: int = 0
    restarted_at: str = ""
    baselines: Object | None = None


def write_instance_status(instance: Object, state: InstanceState, now: str) -> Object:
    """The status of a RoleInstance."""
    old: Object = as_map(instance.get("status"))
    is_ready = not state.unready
    ready: Object = {"type": INSTANCE_READY, **_say(is_ready, "Ready", "PodsNotReady")}
    pods: Object = {"type": ALL_PODS_READY, **_say(is_ready, "PodsReady", "AtLeastOnePodNotReady")}
    pods["message"] = "Ready" if is_ready else _describe(instance, state.unready)
    conditions = [ready if is_ready else {**ready, "message": "NotReady"}, pods]
    if state.is_amended:
        conditions.append({"type": IN_PLACE_READY, "status": _truth(state.is_complete)})
    before = _find(old, RESTARTING)
    is_restarting = not is_ready and _is_restarted(state, old, before)
    if is_restarting or before:
        said = _say(is_restarting, "RestartPolicyTriggered", "Restarted")
        conditions.append({"type": RESTARTING, **said})
    status: Object = {
        **old,
        "observedGeneration": instance["metadata"].get("generation", 0),
        "collisionCount": old.get("collisionCount") or 0,
        "componentStatuses": [_write_component(counts) for counts in state.components],
        "conditions": _merge(old, conditions, now),
        "updateRevision": state.revision,
        "currentRevision": state.revision if state.is_updated else old.get("currentRevision"),
    }
    if state.restarts:
        status |= {"restartCount": state.restarts, "lastRestartTime": state.restarted_at}
    if state.baselines:
        status["inPlaceUpdateContainerBaselines"] = state.baselines
    return {key: value for key, value in status.items() if value is not None}


def _is_restarted(state: InstanceState, old: Object, before: Object | None) -> bool:
    """Whether an instance is unready by a restart: an update makes it unready as well."""
    is_new = state.restarted_at != old.get("lastRestartTime")
    return state.restarts > 0 and (is_new or (before or {}).get("status") == "True")


def write_adapter_status(
    adapter: Object, counts: RoleCounts, selector: str, phase: str, now: str
) -> Object:
    """The status of a scaling adapter; the replicas are those of its role's spec."""
    old: Object = as_map(adapter.get("status"))
    status: Object = {
        **old,
        "phase": phase,
        "replicas": counts.wanted,
        "readyReplicas": counts.ready,
        "selector": selector,
    }
    if old.get("phase") == phase and old.get("replicas") not in (None, counts.wanted):
        status["lastScaleTime"] = now
    return status


def _describe(instance: Object, pod: str) -> str:
    namespace = instance["metadata"].get("namespace")
    where = f"{namespace}/{pod}"
    return f"instance need all pods to be ready, but {where} is in notready condition"


def _write_component(counts: ComponentCounts) -> Object:
    return {
        "name": counts.name,
        "size": counts.exist,
        "readyReplicas": counts.ready,
        "updatedReplicas": counts.updated,
        "scheduledReplicas": counts.scheduled,
        "availableReplicas": counts.ready,
        "updatedReadyReplicas": counts.updated_ready,
    }


def _say(is_true: bool, reason: str, other: str) -> Object:
    return {"status": _truth(is_true), "reason": reason if is_true else other}


def _truth(is_true: bool) -> str:
    return "True" if is_true else "False"


def _find(status: Object, kind: str) -> Object | None:
    return find(as_objects(status.get("conditions")), kind)


def _merge(status: Object, conditions: Iterable[Object], now: str) -> list[Object]:
    """Replace these conditions in the stored list; an unchanged status keeps its time."""
    merged = as_objects(status.get("conditions"))
    for said in conditions:
        merged = put(merged, said, now)
    return merged
