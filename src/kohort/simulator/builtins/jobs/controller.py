"""
The Job controller: pods that run until enough of them have succeeded.

A failed pod is replaced after a wait that doubles, as long as the limit of failures is not
passed. Names of pods are hashes of the Job's uid and a serial number, so that a step
that is repeated on an old cache makes the same pod again, which changes nothing.
Deadlines and times to live are simulated seconds, whatever wall time says.
Failure policies, success policies and limits per index are stored and not acted on.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import JOB, POD
from kohort.cluster.objects import Kind, Object, is_true
from kohort.simulator.builtins.jobs.spec import (
    TRACKING,
    JobSpec,
    Stamps,
    Tally,
    find_decision,
    find_end,
    has_tracking,
    index_of,
    make_pod,
    read_indexes,
    read_spec,
    read_tally,
    write_indexes,
)
from kohort.simulator.builtins.ownership import controllers, reference
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)

BURST = 500
_POD_KEY = "pod:"  # of pods whose Job is gone
_BACKOFF_SECONDS = 10.0
_BACKOFF_SECONDS_MAX = 360.0


class Jobs:
    """The Job controller as a component."""

    name = "jobs"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (JOB, POD)

    def __init__(self) -> None:
        self._failed_at: dict[str, float] = {}  # when each Job last lost a pod
        self._made: dict[str, int] = {}  # the highest serial number of each Job
        self._refusals: dict[str, str] = {}  # why a pod of each Job was refused, not said yet
        self._stamps = Stamps()

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The key of a changed Job, or of the one that controls the pod."""
        entry = new or old
        assert entry is not None
        if kind == JOB:
            if new is None:
                self._failed_at.pop(entry.uid, None)
                self._made.pop(entry.uid, None)
                self._stamps.forget(_start_key(entry), _end_key(entry))
                return [_pod_key(pod) for pod in view.owned(POD, entry.uid)]
            return (f"{entry.namespace}/{entry.name}",)
        keys = controllers(JOB.name, old, new)
        if new is not None and new.facts.is_leaving and TRACKING.encode() in new.raw:
            keys.add(_pod_key(new))
        return keys

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Reconcile one Job."""
        if key.startswith(_POD_KEY):
            return _let_go(key.removeprefix(_POD_KEY), view)
        namespace, _, name = key.partition("/")
        entry = view.find(JOB, namespace, name)
        if entry is None:
            self._refusals.pop(key, None)
            return Step()
        job = entry.decode()
        pods = list(view.owned(POD, entry.uid))
        tally = read_tally(job, pods)
        if tally.fresh["failed"]:
            self._failed_at[entry.uid] = moment.elapsed
        visit = _Visit(entry, job, read_spec(job), tally, moment, self._stamps)
        if key in self._refusals:
            visit.tell_refusal(self._refusals.pop(key))
        visit.count()
        visit.release(pods)
        ended = find_end(job)
        if ended is not None:
            visit.clean_up(ended)
        elif not entry.facts.is_leaving:
            self._work(visit)
        visit.write_status()
        return Step(tuple(visit.actions), visit.after)

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Keep the reason why a pod could not be created, for an event at the next step."""
        if isinstance(action, CreateRequest):
            self._refusals[key] = str(error)

    def _work(self, visit: "_Visit") -> None:
        visit.start()
        if visit.find_outcome():
            return
        uid, tally = visit.entry.uid, visit.tally
        wait = self._backoff(uid, tally.failures, visit.moment)
        if wait > 0:
            visit.look_after(wait)
            return
        highest = tally.successes + tally.failures + len(tally.running) + len(tally.leaving)
        self._made[uid] = visit.scale(max(self._made.get(uid, 0), highest))

    def _backoff(self, uid: str, failures: int, moment: Moment) -> float:
        """How long the next pod waits after a failure."""
        last = self._failed_at.get(uid)
        if not failures or last is None:
            return 0.0
        delay = min(_BACKOFF_SECONDS * 2.0 ** min(failures - 1, 10), _BACKOFF_SECONDS_MAX)
        return max(0.0, last + delay - moment.elapsed)


@dataclass(slots=True)
class _Visit:
    """One reconcile of one Job."""

    entry: StoredObject
    job: Object
    spec: JobSpec
    tally: Tally
    moment: Moment
    stamps: Stamps
    actions: list[ComponentAction] = field(default_factory=list)
    after: float | None = None
    status: Object = field(init=False)

    def __post_init__(self) -> None:
        self.status = dict(self.job.get("status") or {})

    def look_after(self, seconds: float) -> None:
        """Reconcile again after so many seconds, or earlier."""
        self.after = seconds if self.after is None else min(self.after, seconds)

    def tell_refusal(self, why: str) -> None:
        """Emit an event that the API server refused a pod."""
        self._emit("Warning", "FailedCreate", f"Error creating: {why}")

    def count(self) -> None:
        """Count ended pods in the status, in the two steps of a real Job controller."""
        tally, noted = self.tally, {}
        for outcome in ("succeeded", "failed"):
            waiting = [uid for uid in tally.uncounted[outcome] if uid in tally.tracked]
            counted = len(tally.uncounted[outcome]) - len(waiting)
            if counted:
                self.status[outcome] = self.status.get(outcome, 0) + counted
            noted[outcome] = waiting + [pod.uid for pod in tally.fresh[outcome]]
        self._note_indexes()
        self.status["uncountedTerminatedPods"] = {key: uids for key, uids in noted.items() if uids}

    def release(self, pods: Iterable[StoredObject]) -> None:
        """Remove the finalizer of pods that the status has counted."""
        noted = {uid for uids in self.tally.uncounted.values() for uid in uids}
        for pod in pods:
            if pod.uid in noted & self.tally.tracked:
                self.actions.append(_untrack(pod))

    def _note_indexes(self) -> None:
        if not self.spec.is_indexed:
            return
        done = read_indexes(self.status.get("completedIndexes", ""))
        found = {index_of(pod) for pod in self.tally.fresh["succeeded"]} - {None}
        done |= {index for index in found if index is not None}
        if done:
            self.status["completedIndexes"] = write_indexes(done)

    def start(self) -> None:
        """Set the startTime of a Job that is not suspended."""
        if self.spec.is_suspended:
            if not is_true(self.job, "Suspended"):
                self._say("Suspended", "JobSuspended", "Job suspended")
                self._emit("Normal", "Suspended", "Job suspended")
            self.status.pop("startTime", None)
            self.stamps.forget(_start_key(self.entry))
            self._end_running()
        elif not self.status.get("startTime"):
            self.status["startTime"] = self.moment.stamp
            if is_true(self.job, "Suspended"):
                self._say("Suspended", "JobResumed", "Job resumed", status="False")
                self._emit("Normal", "Resumed", "Job resumed")

    def find_outcome(self) -> bool:
        """Whether the Job has completed or failed; sets the conditions."""
        spec, tally = self.spec, self.tally
        decided = find_decision(self.job)
        if decided is not None:
            self._finish(*decided)
            return True
        if tally.failures > spec.backoff_limit:
            why = "Job has reached the specified backoff limit"
            return self._fail("BackoffLimitExceeded", why)
        if spec.deadline_seconds is not None and not spec.is_suspended:
            since = self.status["startTime"]
            age = self.stamps.age(_start_key(self.entry), since, self.moment)
            left = spec.deadline_seconds - age
            if left <= 0:
                why = "Job was active longer than specified deadline"
                return self._fail("DeadlineExceeded", why)
            self.look_after(left)
        if not self._is_complete():
            return False
        self._finish("SuccessCriteriaMet", "Complete", "CompletionsReached")
        return True

    def _is_complete(self) -> bool:
        spec, tally = self.spec, self.tally
        if spec.is_indexed:
            done = read_indexes(self.status.get("completedIndexes", ""))
            return len(done) >= (spec.completions or 0)
        if spec.completions is None:
            return tally.successes > 0 and not tally.running
        return tally.successes >= spec.completions

    def _fail(self, reason: str, message: str) -> bool:
        self._finish("FailureTarget", "Failed", reason, message)
        return True

    def _finish(self, before: str, name: str, reason: str, message: str = "") -> None:
        """Set the interim condition, and the final one when all pods are counted."""
        message = message or "Reached expected number of succeeded pods"
        self._say(before, reason, message)
        self._end_running()
        is_counted = not any(self.status["uncountedTerminatedPods"].values())
        if self.tally.running or self.tally.leaving or not is_counted:
            return
        self._say(name, reason, message)
        if name == "Complete":
            self.status["completionTime"] = self.moment.stamp
            self._emit("Normal", "Completed", "Job completed")
        else:
            self._emit("Warning", reason, message)

    def _end_running(self) -> None:
        self._delete(self.tally.running)

    def _delete(self, pods: Iterable[StoredObject]) -> None:
        for pod in pods:
            self.actions.append(DeleteRequest(POD, *pod.key, pod.uid))
            self._emit("Normal", "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def clean_up(self, ended: Object) -> None:
        """Delete a finished Job after ttlSecondsAfterFinished."""
        if self.spec.ttl_seconds is None:
            return
        since = ended["lastTransitionTime"]
        left = self.spec.ttl_seconds - self.stamps.age(_end_key(self.entry), since, self.moment)
        if left > 0:
            self.look_after(left)
        else:
            self.actions.append(
                DeleteRequest(JOB, *self.entry.key, self.entry.uid, propagation="Foreground")
            )

    def scale(self, made: int) -> int:
        """Create missing pods and delete surplus ones; returns the highest serial number."""
        spec, running = self.spec, self.tally.running
        if spec.is_suspended:
            return made
        wanted = self._wanted()
        self._delete(running[wanted:])
        missing = min(wanted - len(running), BURST)
        free = self._free_indexes()
        for _ in range(missing):
            index = next(free, None) if spec.is_indexed else None
            if spec.is_indexed and index is None:
                break
            pod = make_pod(self.entry, spec.template, made, index)
            self.actions.append(CreateRequest(POD, pod))
            self._emit("Normal", "SuccessfulCreate", f"Created pod: {pod['metadata']['name']}")
            made += 1
        return made

    def _wanted(self) -> int:
        spec, tally = self.spec, self.tally
        if spec.completions is None:
            return len(tally.running) if tally.successes else spec.parallelism
        if spec.is_indexed:
            done = len(read_indexes(self.status.get("completedIndexes", "")))
        else:
            done = tally.successes
        return min(spec.parallelism, max(0, spec.completions - done))

    def _free_indexes(self) -> Iterator[int]:
        taken = {index_of(pod) for pod in (*self.tally.running, *self.tally.leaving)}
        done = read_indexes(self.status.get("completedIndexes", ""))
        for index in range(self.spec.completions or 0):
            if index not in taken and index not in done:
                yield index

    def write_status(self) -> None:
        """Write the status if it changed; pods lose their finalizer once it counts them."""
        tally, status = self.tally, self.status
        if find_end(self.job) is None:
            counts = {
                "active": len(tally.running),
                "ready": sum(pod.facts.is_ready for pod in tally.running),
                "terminating": len(tally.leaving),
            }
            for name, number in counts.items():
                if number or name != "active":
                    status[name] = number
                else:
                    status.pop(name, None)
        if find_end({"status": status}) is not None:
            status.pop("active", None)
            status.update(ready=0, terminating=0)
        if status != (self.job.get("status") or {}):
            patch = {"status": _as_patch(status, self.job.get("status") or {})}
            patch["metadata"] = {"resourceVersion": str(self.entry.rv)}
            self.actions.append(MergeRequest(JOB, *self.entry.key, patch, "status", self.entry.uid))

    def _say(self, name: str, reason: str, message: str, *, status: str = "True") -> None:
        conditions = [c for c in self.status.get("conditions") or () if c["type"] != name]
        if len(conditions) != len(self.status.get("conditions") or ()) and status == "True":
            return
        condition = {"type": name, "status": status, "reason": reason, "message": message}
        stamps = {"lastProbeTime": self.moment.stamp, "lastTransitionTime": self.moment.stamp}
        self.status["conditions"] = [*conditions, {**condition, **stamps}]

    def _emit(self, kind: str, reason: str, message: str) -> None:
        about = reference(JOB, self.entry)
        self.actions.append(EventRequest(about, kind, reason, message, "job-controller"))


def _start_key(job: StoredObject) -> str:
    return f"{job.uid}/start"


def _end_key(job: StoredObject) -> str:
    return f"{job.uid}/end"


def _pod_key(pod: StoredObject) -> str:
    return f"{_POD_KEY}{pod.namespace}/{pod.name}"


def _let_go(key: str, view: View) -> Step:
    """Remove the finalizer of pods whose Job is deleted, since no controller counts them."""
    namespace, _, name = key.partition("/")
    pod = view.find(POD, namespace, name)
    if pod is None or not has_tracking(pod):
        return Step()
    for owner in pod.facts.metadata.owner_references:
        job = view.find(JOB, namespace, owner.name) if owner.kind == JOB.name else None
        if job is not None and job.uid == owner.uid and not job.facts.is_leaving:
            return Step()
    return Step((_untrack(pod),))


def _as_patch(status: Object, old: Object) -> Object:
    """A merge patch that leaves exactly this status."""
    patch = {key: value for key, value in status.items() if old.get(key) != value}
    patch.update({key: None for key in old if key not in status})
    inner = old.get("uncountedTerminatedPods") or {}
    if "uncountedTerminatedPods" in patch:
        gone = {key: None for key in inner if key not in status["uncountedTerminatedPods"]}
        patch["uncountedTerminatedPods"] = {**gone, **status["uncountedTerminatedPods"]}
    return patch


def _untrack(pod: StoredObject) -> MergeRequest:
    kept = [f for f in pod.decode()["metadata"].get("finalizers") or () if f != TRACKING]
    patch = {"metadata": {"finalizers": kept or None, "resourceVersion": str(pod.rv)}}
    return MergeRequest(POD, *pod.key, patch, "", pod.uid)
