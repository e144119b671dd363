"""
The CronJob controller: it creates a Job whenever the schedule is due.

A Job is named after the minute that it was due in, so a step that is repeated makes the
same Job again, which changes nothing. Of several moments that were missed only the last
is made up for, and none that is older than the deadline. Schedules follow wall time.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kohort.apiserver.resources.schedules import ScheduleError, parse_schedule
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CRON_JOB, JOB
from kohort.cluster.objects import Kind, Object
from kohort.cluster.timestamps import write_time
from kohort.simulator.builtins.jobs.spec import find_end
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

_SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_MISSED_MAX = 100  # more missed times than this are not searched one by one
# A step asks for simulated seconds, schedules are in wall time: looks are never far apart.
_LOOK_SECONDS_MAX = 30.0


class CronJobs:
    """The CronJob controller as a component."""

    name = "cronjobs"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (CRON_JOB, JOB)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The key of a changed CronJob, or of the one that controls the Job."""
        entry = new or old
        assert entry is not None
        if kind == CRON_JOB:
            return (f"{entry.namespace}/{entry.name}",)
        return controllers(CRON_JOB.name, old, new)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Create the Job that is due, delete old ones, and wait for the next due time."""
        namespace, _, name = key.partition("/")
        entry = view.find(CRON_JOB, namespace, name)
        if entry is None or entry.facts.is_leaving:
            return Step()
        visit = _Visit(entry, entry.decode(), moment, list(view.owned(JOB, entry.uid)))
        visit.clear()
        due = visit.find_due()
        if due is not None:
            visit.run(due)
        visit.report()
        return Step(tuple(visit.actions), visit.after)

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""


@dataclass(slots=True)
class _Visit:
    """One reconcile of one CronJob."""

    entry: StoredObject
    cron_job: Object
    moment: Moment
    jobs: list[StoredObject]
    actions: list[ComponentAction] = field(default_factory=list)
    after: float | None = None
    status: Object = field(init=False)
    _active: list[StoredObject] = field(init=False)
    _ended: list[tuple[str, StoredObject, Object]] = field(init=False)

    def __post_init__(self) -> None:
        self.status = dict(self.cron_job.get("status") or {})
        ends = [(job, find_end(job.decode())) for job in sorted(self.jobs, key=lambda j: j.name)]
        self._active = [job for job, end in ends if end is None and not job.facts.is_leaving]
        self._ended = [(end["lastTransitionTime"], job, end) for job, end in ends if end]

    @property
    def _spec(self) -> Object:
        spec: Object = self.cron_job["spec"]
        return spec

    def clear(self) -> None:
        """Delete the oldest Jobs that have ended, beyond those that are kept."""
        limits = (
            ("Complete", self._spec.get("successfulJobsHistoryLimit", 3)),
            ("Failed", self._spec.get("failedJobsHistoryLimit", 1)),
        )
        for kind, limit in limits:
            ended = [(at, job) for at, job, end in self._ended if end["type"] == kind]
            ended.sort(key=lambda pair: (pair[0], pair[1].name))
            for _, job in ended[: max(0, len(ended) - limit)]:
                self.actions.append(DeleteRequest(JOB, *job.key, job.uid, propagation="Background"))

    def find_due(self) -> datetime | None:
        """The last due time without a Job; also notes the next due time."""
        try:
            schedule = parse_schedule(self._spec.get("schedule") or "")
            zone = ZoneInfo(self._spec["timeZone"]) if self._spec.get("timeZone") else UTC
        except (ScheduleError, ZoneInfoNotFoundError, ValueError) as error:
            self._emit("Warning", "InvalidSchedule", f"invalid schedule: {error}")
            return None
        if self._spec.get("suspend"):
            return None
        now = self.moment.wall.astimezone(zone)
        since = self._since().astimezone(zone)
        due = None
        for _ in range(_MISSED_MAX):
            found = schedule.find_next(since)
            if found is None or found > now:
                if found is not None:
                    wait = (found - now) / timedelta(seconds=1)
                    self.after = min(wait, _LOOK_SECONDS_MAX)
                return due
            due = since = found
        self._emit("Warning", "TooManyMissedTimes", "too many missed start times")
        self.after = 0.0
        self.status["lastScheduleTime"] = write_time(self.moment.wall - timedelta(minutes=1))
        return None

    def _since(self) -> datetime:
        text = self.status.get("lastScheduleTime")
        since = datetime.fromisoformat(
            text or self.cron_job["metadata"]["creationTimestamp"]
        ).astimezone(UTC)
        deadline = self._spec.get("startingDeadlineSeconds")
        if deadline is not None:
            since = max(since, self.moment.wall - timedelta(seconds=deadline))
        return since

    def run(self, due: datetime) -> None:
        """Create the Job of a due time, if the concurrencyPolicy allows it."""
        policy = self._spec.get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and self._active:
            why = "prior execution is running and concurrency policy is Forbid"
            why = f"Not starting job because {why}"
            self._emit("Normal", "JobAlreadyActive", why)
            return
        if policy == "Replace":
            for job in self._active:
                self.actions.append(DeleteRequest(JOB, *job.key, job.uid, propagation="Background"))
        made = self._make_job(due)
        self.actions.append(CreateRequest(JOB, made))
        self._emit("Normal", "SuccessfulCreate", f"Created job {made['metadata']['name']}")
        self.status["lastScheduleTime"] = write_time(due.astimezone(UTC))

    def _make_job(self, due: datetime) -> Object:
        template = self._spec.get("jobTemplate") or {}
        given = template.get("metadata") or {}
        minutes = int(due.timestamp()) // 60
        owner = reference(CRON_JOB, self.entry)
        told = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
        return {
            "apiVersion": JOB.api_version,
            "kind": JOB.name,
            "metadata": {
                "name": f"{self.entry.name}-{minutes}",
                "namespace": self.entry.namespace,
                "labels": dict(given.get("labels") or {}),
                "annotations": {
                    **(given.get("annotations") or {}),
                    _SCHEDULED_AT: write_time(due.astimezone(UTC)),
                },
                "ownerReferences": [
                    {
                        **told,
                        "name": self.entry.name,
                        "uid": self.entry.uid,
                        "controller": True,
                        "blockOwnerDeletion": True,
                    }
                ],
            },
            "spec": template.get("spec") or {},
        }

    def report(self) -> None:
        """Write the status, if it says anything new."""
        active = [_refer(job) for job in self._active]
        if active or self.status.get("active"):
            self.status["active"] = active
        good = [at for at, _, end in self._ended if end["type"] == "Complete"]
        if good and max(good) > self.status.get("lastSuccessfulTime", ""):
            self.status["lastSuccessfulTime"] = max(good)
        if not self.status.get("active"):
            self.status.pop("active", None)
        old = self.cron_job.get("status") or {}
        if self.status != old:
            patch = {**{key: None for key in old if key not in self.status}, **self.status}
            body = {"status": patch}
            self.actions.append(
                MergeRequest(CRON_JOB, *self.entry.key, body, "status", self.entry.uid)
            )

    def _emit(self, kind: str, reason: str, message: str) -> None:
        about = reference(CRON_JOB, self.entry)
        self.actions.append(EventRequest(about, kind, reason, message, "cronjob-controller"))


def _refer(job: StoredObject) -> Object:
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.name,
        "name": job.name,
        "namespace": job.namespace,
        "resourceVersion": str(job.rv),
        "uid": job.uid,
    }
