"""
The PodScheduled condition and the FailedScheduling event of waiting pods, without repeats.

The last reported message survives a restart of the scheduler, because it stands in the
pod's own condition.
"""

from kohort.cluster.conditions import drop, find, since
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.simulator.component import Action, Emit, Merge, Moment
from kohort.simulator.scheduling.demands import Demand

GATED = "Scheduling is blocked due to non-empty scheduling gates"


class PodConditions:
    """The last reported reason and message of each pod."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, str]] = {}  # reason and message

    def read_condition(self, pod: Demand) -> None:
        """Read the stored condition of a pod."""
        for condition in pod.conditions:
            if condition.get("type") == "PodScheduled":
                told = condition.get("reason", ""), condition.get("message", "")
                self._told[pod.uid] = told

    def forget(self, uid: str) -> None:
        """Forget a pod that is deleted, or whose condition could not be written."""
        self._told.pop(uid, None)

    def last_message(self, uid: str) -> str:
        """The last message for a pod."""
        return self._told.get(uid, ("", ""))[1]

    def report(
        self, pod: Demand, reason: str, message: str, moment: Moment, nominated: str = ""
    ) -> list[Action]:
        """The actions that report why a pod waits; none if it is reported already."""
        if self._told.get(pod.uid) == (reason, message):
            return []
        self._told[pod.uid] = (reason, message)
        patch = _condition_patch(pod, reason, message, moment)
        if nominated:
            patch["status"]["nominatedNodeName"] = nominated
        merge = Merge(POD, pod.namespace, pod.name, patch, "status", pod.uid)
        if reason == "SchedulingGated":
            return [merge]
        return [merge, Emit(pod.about(), "Warning", "FailedScheduling", message, pod.profile)]


def _condition_patch(pod: Demand, reason: str, message: str, moment: Moment) -> Object:
    others = drop(pod.conditions, "PodScheduled")
    before = find(pod.conditions, "PodScheduled")
    condition: Object = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": since(before, "False", moment.stamp),
        "reason": reason,
        "message": message,
    }
    if reason == "Unschedulable" and pod.generation:
        condition["observedGeneration"] = pod.generation
    patch: Object = {"status": {"conditions": [*others, condition]}}
    if others:
        # The list is replaced as a whole, so conditions of other writers must not be lost.
        patch["metadata"] = {"resourceVersion": str(pod.rv)}
    return patch
