"""What ``kohort why`` must say of each workload of the troubled cluster, part by part."""

import json
from dataclasses import dataclass, replace
from typing import Any

from command_lines import Told
from why_situations import KINDS

HOUR = "2026-01-01T09:"
DESCRIBE = "kubectl describe pod {pod}"
CREATE = "kubectl create configmap absent --from-file=PATH"
LOGS = "kubectl logs {pod} -c engine --previous"
STATUS = "kohort rollout status {target}"
UNDO = "kohort rollout undo {target} --to-revision 1"
EDIT = "kubectl edit {resource} {name}"
UNSTARTED = "1 member has not started: "
UNREADY = "1 of 1 groups are not ready"
BUDGET = "1 group is not ready and maxUnavailable is 1"
OF_ROLE = "1 instance is not ready and maxUnavailable is 1"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the answer must say."""

    word: str  # of the workload
    reason: str
    waits: str  # a part of what waits
    on: str  # the reason of the first that is waited on, or nothing
    message: str  # a part of what is said of that one
    since: str  # minutes and seconds after nine
    command: str  # the safest; {pod} is the one that is waited on


def check_parts(told: Told, kind: str, name: str, wanted: Expected) -> None:
    """Check the four parts of an answer in JSON, its exit code and the page of its reason."""
    found = json.loads(told.out)
    health = found["row"]["health"]
    assert (health["word"], health["reason"]) == (wanted.word, wanted.reason), found
    assert told.code == (4 if wanted.word in ("blocked", "broken", "stalled") else 0)
    units = "instances" if found["row"]["isOneGroup"] else "groups"
    assert wanted.waits.replace("groups", units) in found["waits"]
    assert found["since"].startswith(f"{HOUR}{wanted.since}")
    about = _check_members(found["on"], wanted)
    names = {"pod": about, "target": f"{kind}/{name}", "name": name}
    first = wanted.command.format(**names, resource=KINDS[kind].group_resource)
    assert found["commands"][:1] == ([first] if first else [])
    link = f"docs/reference/reasons.md#{wanted.reason.lower()}" if wanted.reason else ""
    assert found["docs"] == link


def _check_members(on: list[dict[str, Any]], wanted: Expected) -> str:
    """What is waited on is told; the name of the first."""
    if not wanted.on:
        assert on == []
        return ""
    assert (on[0]["reason"], wanted.message in on[0]["message"]) == (wanted.on, True), on[0]
    return str(on[0]["about"]).rpartition(" ")[2]


PULL = Expected(
    "broken",
    "ImagePullBackOff",
    UNSTARTED,
    "ImagePullBackOff",
    "manifest unknown",
    "00:00",
    DESCRIBE,
)
CRASH = Expected("broken", "CrashLoopBackOff", UNREADY, "CrashLoopBackOff", "exit 1", "00:00", LOGS)
UNPLACED = Expected(
    "blocked", "Unschedulable", UNSTARTED, "Unschedulable", "affinity/selector", "00:00", DESCRIBE
)
LOST = Expected(
    "blocked",
    "NodeNotReady",
    UNREADY,
    "NodeNotReady",
    "it is being deleted and cannot end: its node gpu-06 is not ready",
    "01:40",
    "kubectl describe node gpu-06",
)
SLOW = Expected(
    "starting", "WaitingForReady", UNREADY, "NotReady", "has not become ready", "00:00", STATUS
)
UNMADE = Expected(
    "blocked", "FailedCreate", "1 of 1 groups ", "FailedCreate", "exceeded quota", "00:00", ""
)
_ALONE = {
    "well": Expected("ready", "", "nothing: all 1 groups are ready", "", "", "00:02", ""),
    "pull": PULL,
    "crash": CRASH,
    # A group or instance that is made anew is in a crash loop from its second failure on.
    "lws crash": replace(CRASH, waits="group 0 failed 7 times in a row", since="00:04"),
    "ms crash": replace(CRASH, waits="instance 0 failed 7 times in a row", since="00:04"),
    "selector": UNPLACED,
    "gpus": replace(UNPLACED, message="Insufficient nvidia.com/gpu"),
    "gate": replace(
        UNPLACED, reason="SchedulingGated", on="SchedulingGated", message="gate example.com/queue"
    ),
    "scheduler": replace(
        UNPLACED, reason="WaitingForScheduler", on="WaitingForScheduler", message="absent-scheduler"
    ),
    "config": Expected(
        "blocked",
        "CreateContainerConfigError",
        UNSTARTED,
        "CreateContainerConfigError",
        'configmap "absent" not found',
        "00:00",
        CREATE,
    ),
    "volume": Expected(
        "blocked",
        "FailedMount",
        UNSTARTED,
        "FailedMount",
        'configmap "absent" not found',
        "00:00",
        CREATE,
    ),
    "slow": SLOW,
}
_LOST = {
    "lost": LOST,
    "away": replace(
        LOST,
        message="its node gpu-07 is not ready",
        since="07:40",
        command="kubectl describe node gpu-07",
    ),
    "held": Expected(
        "leaving",
        "Deleted",
        "it is being deleted, and held by its finalizer example.com/hold",
        "",
        "",
        "01:00",
        "kubectl get {resource} {name} -o yaml",
    ),
    "ending": Expected(
        "blocked",
        "Terminating",
        UNREADY,
        "Terminating",
        "its finalizer example.com/hold holds it",
        "01:00",
        DESCRIBE,
    ),
}
_ROLLED = {
    "lws roll-crash": replace(
        CRASH, word="blocked", waits="group 1 of the new revision failed 7 times", since="01:05"
    ),
    "ms roll-crash": replace(
        CRASH, word="blocked", waits="group 1 of the new revision failed 7 times", since="01:05"
    ),
    "rbg roll-crash": replace(CRASH, word="blocked", waits=OF_ROLE, since="01:00"),
    "isvc roll-crash": replace(
        CRASH, word="blocked", waits="instances wait for the new revision", since="01:00"
    ),
    "roll-pull": replace(PULL, word="blocked", waits=BUDGET, since="01:00", command=UNDO),
    "rbg roll-pull": replace(PULL, word="blocked", waits=OF_ROLE, since="01:00"),
    "isvc roll-pull": replace(PULL, word="blocked", since="01:00"),
    "roll-slow": replace(SLOW, word="updating", waits=BUDGET, since="01:00"),
    "rbg roll-slow": replace(SLOW, word="updating", waits=OF_ROLE, since="01:00"),
    "isvc roll-slow": replace(
        SLOW, word="updating", waits="instances wait for the new revision", since="01:00"
    ),
    "roll-selector": replace(UNPLACED, waits=BUDGET, since="01:00", command=UNDO),
    "rbg roll-selector": replace(UNPLACED, waits=OF_ROLE, since="01:00"),
    "isvc roll-selector": replace(UNPLACED, since="01:00"),
    "partition": Expected(
        "ready", "PartitionReached", "1 of 2 groups keep their revision", "", "", "01:02", ""
    ),
    "rbg partition": Expected(
        "ready",
        "PartitionReached",
        "1 of 2 instances of role engine keep their revision",
        "",
        "",
        "01:02",
        "",
    ),
    "paused": Expected(
        "paused",
        "Paused",
        "the rollout is paused: it goes on when it is resumed",
        "",
        "",
        "01:00",
        "kohort rollout resume {target}",
    ),
    "role": replace(
        SLOW,
        reason="WaitingForRole",
        waits="role router waits for role engine, of which 0 of 1 instances are ready",
    ),
    "skew": replace(
        PULL,
        word="blocked",
        waits="role prefill has 1 of 4 instances updated, and may have 1 while role decode has 0",
        since="01:00",
    ),
}
_REFUSED = {
    "model": Expected(
        "stalled", "ModelReconcileError", "there is no BaseModel gone", "", "", "01:00", EDIT
    ),
    "runtime": Expected(
        "stalled", "RuntimeFetchError", "there is no ServingRuntime gone", "", "", "01:00", EDIT
    ),
    "taken": Expected(
        "stalled",
        "Refused",
        "StatefulSet lws-taken exists and lacks our labels",
        "",
        "",
        "00:00",
        "kubectl delete statefulset lws-taken",
    ),
    "lws quota": replace(UNMADE, command="kubectl describe statefulset {pod} -n tight"),
    "ms quota": replace(UNMADE, command="kubectl describe modelserving {pod} -n tight"),
    "rbg quota": replace(UNMADE, command="kubectl describe rolebasedgroup {pod} -n tight"),
    "isvc quota": replace(UNMADE, command="kubectl describe replicaset {pod} -n tight"),
}
EXPECTED = _ALONE | _LOST | _ROLLED | _REFUSED  # by situation, or by API and situation
