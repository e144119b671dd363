"""
A Job as its controller reads it: the spec, the counts of its pods, its new pods, and ages.

Every pod of a Job carries a finalizer, so that none goes uncounted: a finished pod is first
noted by its uid in the status, then loses its finalizer, and only then is it added to the
numbers. Whatever happens between two of these writes, a pod is counted exactly once.

Timestamps are wall time, and simulated time may be stepped, paused or fast, so an age cannot
be computed from the timestamp alone. We keep the simulated time at which each timestamp was
first seen. One that an earlier process wrote is as old as wall time says.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kohort.apiserver.resources.jobs import COMPLETION_INDEX
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import JOB
from kohort.cluster.objects import Object, find_condition
from kohort.simulator.builtins.names import make_suffix
from kohort.simulator.builtins.ownership import reference
from kohort.simulator.builtins.readiness import FINISHED, seconds_since
from kohort.simulator.builtins.templates import pod_from_template
from kohort.simulator.component import Moment

TRACKING = "batch.kubernetes.io/job-tracking"
_SUCCEEDED, _FAILED = "succeeded", "failed"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """The fields of a Job's spec that the controller uses."""

    parallelism: int
    completions: int | None  # None: one success is enough
    backoff_limit: int
    is_indexed: bool
    is_suspended: bool
    deadline_seconds: int | None
    ttl_seconds: int | None
    template: Object


def read_spec(job: Object) -> JobSpec:
    """Read the spec of a Job."""
    spec = job["spec"]
    return JobSpec(
        parallelism=spec.get("parallelism", 1),
        completions=spec.get("completions"),
        backoff_limit=spec.get("backoffLimit", 6),
        is_indexed=spec.get("completionMode") == "Indexed",
        is_suspended=bool(spec.get("suspend")),
        deadline_seconds=spec.get("activeDeadlineSeconds"),
        ttl_seconds=spec.get("ttlSecondsAfterFinished"),
        template=spec.get("template") or {},
    )


@dataclass(slots=True)
class Tally:
    """The pods of a Job: those that run, those that ended, and the numbers of its status."""

    running: list[StoredObject] = field(default_factory=list)
    leaving: list[StoredObject] = field(default_factory=list)
    uncounted: dict[str, list[str]] = field(default_factory=dict)  # as the status has it
    fresh: dict[str, list[StoredObject]] = field(default_factory=dict)  # ended, and not noted yet
    tracked: set[str] = field(default_factory=set)  # uids that still have their finalizer
    succeeded: int = 0
    failed: int = 0

    @property
    def successes(self) -> int:
        """Pods that have succeeded, counted or about to be."""
        return self.succeeded + self._open(_SUCCEEDED)

    @property
    def failures(self) -> int:
        """Pods that have failed, counted or about to be."""
        return self.failed + self._open(_FAILED)

    def _open(self, outcome: str) -> int:
        return len(self.uncounted[outcome]) + len(self.fresh[outcome])


def read_tally(job: Object, pods: Iterable[StoredObject]) -> Tally:
    """Count the pods of a Job."""
    status = job.get("status") or {}
    noted = status.get("uncountedTerminatedPods") or {}
    tally = Tally(
        uncounted={key: list(noted.get(key) or ()) for key in (_SUCCEEDED, _FAILED)},
        fresh={_SUCCEEDED: [], _FAILED: []},
        succeeded=status.get("succeeded", 0),
        failed=status.get("failed", 0),
    )
    known = {uid for uids in tally.uncounted.values() for uid in uids}
    for pod in sorted(pods, key=lambda entry: entry.name):
        _sort_pod(tally, pod, known)
    return tally


def _sort_pod(tally: Tally, pod: StoredObject, known: set[str]) -> None:
    facts = pod.facts
    is_tracked = has_tracking(pod)
    if is_tracked:
        tally.tracked.add(pod.uid)
    if facts.phase in FINISHED or (facts.is_leaving and is_tracked and not _runs(pod)):
        if is_tracked and pod.uid not in known:
            outcome = _SUCCEEDED if facts.phase == "Succeeded" else _FAILED
            tally.fresh[outcome].append(pod)
    elif facts.is_leaving:
        tally.leaving.append(pod)
    else:
        tally.running.append(pod)


def _runs(pod: StoredObject) -> bool:
    return bool(pod.facts.spec and pod.facts.spec.node_name)


def has_tracking(pod: StoredObject) -> bool:
    """Whether the pod has the finalizer of Jobs, which waits until it is counted."""
    return TRACKING.encode() in pod.raw and TRACKING in (
        pod.decode()["metadata"].get("finalizers") or ()
    )


def index_of(pod: StoredObject) -> int | None:
    """The index of a pod of an indexed Job."""
    text = pod.labels.get(COMPLETION_INDEX, "")
    return int(text) if text.isdigit() else None


def read_indexes(text: str) -> set[int]:
    """The numbers in a text such as ``0-2,5``."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """The shortest text for some numbers: ``0-2,5``."""
    parts: list[list[int]] = []
    for index in sorted(indexes):
        if parts and index == parts[-1][1] + 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(
        f"{a}" if a == b else (f"{a},{b}" if b == a + 1 else f"{a}-{b}") for a, b in parts
    )


def find_end(job: Object) -> Object | None:
    """The condition that says how a Job has ended, if it has."""
    for name in ("Complete", "Failed"):
        condition = find_condition(job, name)
        if condition is not None and condition.get("status") == "True":
            return condition
    return None


def find_decision(job: Object) -> tuple[str, str, str, str] | None:
    """
    How a Job whose last pods are ending will end: the condition that says so, the one that
    follows, reason and message. Pods that are ended because of it change nothing about it.
    """
    for before, name in (("FailureTarget", "Failed"), ("SuccessCriteriaMet", "Complete")):
        condition = find_condition(job, before)
        if condition is not None and condition.get("status") == "True":
            return before, name, condition.get("reason", ""), condition.get("message", "")
    return None


def make_pod(job: StoredObject, template: Object, serial: int, index: int | None) -> Object:
    """A new pod of a Job; its name is a hash of the Job's uid and the serial number."""
    about = reference(JOB, job)
    owner = {
        "apiVersion": about["apiVersion"],
        "kind": about["kind"],
        "name": job.name,
        "uid": job.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    pod = pod_from_template(template, job, owner)
    metadata = pod["metadata"]
    metadata.pop("generateName")
    middle = "" if index is None else f"-{index}"
    metadata["name"] = f"{job.name}{middle}-{make_suffix(job.uid, serial)}"
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is not None:
        _mark_index(pod, job.name, index)
    return pod


def _mark_index(pod: Object, job: str, index: int) -> None:
    """Set the completion index of a pod, as annotation, label and variable."""
    metadata = pod["metadata"]
    metadata["labels"][COMPLETION_INDEX] = str(index)
    metadata.setdefault("annotations", {})[COMPLETION_INDEX] = str(index)
    path = {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": path}}
    spec = {**pod["spec"], "hostname": f"{job}-{index}"}
    spec["containers"] = [
        {**container, "env": [*(container.get("env") or ()), variable]}
        for container in spec["containers"]
    ]
    pod["spec"] = spec


_STAMP_SECONDS = 1.0  # the resolution of a timestamp


class Stamps:
    """The simulated time at which each timestamp was first seen."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, float]] = {}

    def age(self, key: str, stamp: str, moment: Moment) -> float:
        """The age of a timestamp in simulated seconds; a new timestamp of a key starts at zero."""
        known = self._seen.get(key)
        if known is None or known[0] != stamp:
            before = seconds_since(stamp, moment)
            began = moment.elapsed - (before if before >= _STAMP_SECONDS else 0.0)
            known = self._seen[key] = (stamp, began)
        return moment.elapsed - known[1]

    def forget(self, *keys: str) -> None:
        """Forget the timestamps of some keys."""
        for key in keys:
            self._seen.pop(key, None)
