"""Where Jobs, CronJobs and autoscalers become rows."""

from datetime import datetime
from typing import Any

from kohort.cluster.objects import Object, find_condition
from kohort.simulator.resources.printers.ages import find_moment, show_age, show_duration
from kohort.simulator.resources.printers.tables import (
    AGE,
    NAME,
    NONE,
    Printed,
    make_printer,
    shown,
    timed,
    wide,
)
from kohort.simulator.resources.printers.workloads import list_containers, show_selector

_UNKNOWN = "<unknown>"
_STATES = (("Complete", "Complete"), ("Failed", "Failed"), ("Suspended", "Suspended"))


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _status(obj: Object) -> Object:
    return obj.get("status") or {}


def _read_state(job: Object) -> str:
    for kind, text in _STATES:
        condition = find_condition(job, kind)
        if condition is not None and condition.get("status") == "True":
            return text
    if (job.get("metadata") or {}).get("deletionTimestamp"):
        return "Terminating"
    for kind, text in (("SuccessCriteriaMet", "SuccessCriteriaMet"), ("FailureTarget",) * 2):
        condition = find_condition(job, kind)
        if condition is not None and condition.get("status") == "True":
            return text
    return "Running"


def _read_completions(job: Object) -> str:
    done, wanted = _status(job).get("succeeded", 0), _spec(job).get("completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallelism = _spec(job).get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _read_duration(job: Object, now: datetime) -> str:
    start = find_moment(_status(job).get("startTime"))
    if start is None:
        return ""
    end = find_moment(_status(job).get("completionTime")) or now
    return show_duration(int((end - start).total_seconds()))


def _of_job(field: str, name: str) -> Printed:
    return wide(name, lambda job: list_containers(_pod_spec(job), field))


def _pod_spec(job: Object) -> Object:
    found: Object = (_spec(job).get("template") or {}).get("spec") or {}
    return found


def _job_spec(cron_job: Object) -> Object:
    return {"spec": (_spec(cron_job).get("jobTemplate") or {}).get("spec") or {}}


def _of_cron_job(field: str, name: str) -> Printed:
    return wide(name, lambda obj: list_containers(_pod_spec(_job_spec(obj)), field))


def _read_last(cron_job: Object, now: datetime) -> str:
    last = _status(cron_job).get("lastScheduleTime")
    return show_age(last, now) if last else NONE


JOBS = make_printer(
    NAME,
    shown("Status", _read_state, "Whether the job runs, is complete, or has failed."),
    shown("Completions", _read_completions, "How many pods have succeeded, of how many."),
    timed("Duration", _read_duration, "How long the job has run."),
    AGE,
    _of_job("name", "Containers"),
    _of_job("image", "Images"),
    wide("Selector", lambda job: show_selector(_spec(job).get("selector"))),
)
CRON_JOBS = make_printer(
    NAME,
    shown("Schedule", lambda obj: _spec(obj).get("schedule", ""), "When a job is made."),
    shown("Timezone", lambda obj: _spec(obj).get("timeZone") or NONE, "Whose clock is meant."),
    shown("Suspend", lambda obj: str(bool(_spec(obj).get("suspend"))), type="boolean"),
    shown("Active", lambda obj: len(_status(obj).get("active") or ()), type="integer"),
    timed("Last Schedule", _read_last, "How long ago a job was last made."),
    AGE,
    _of_cron_job("name", "Containers"),
    _of_cron_job("image", "Images"),
    wide("Selector", lambda obj: show_selector(_spec(_job_spec(obj)).get("selector"))),
)


def _read_reference(autoscaler: Object) -> str:
    target = _spec(autoscaler).get("scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _read_targets(autoscaler: Object) -> str:
    metrics = _spec(autoscaler).get("metrics") or []
    current = _status(autoscaler).get("currentMetrics") or []
    found = [
        _show_metric(metric, current[at] if at < len(current) else None)
        for at, metric in enumerate(metrics)
    ]
    if not found:
        return NONE
    more = f" + {len(found) - 2} more..." if len(found) > 2 else ""
    return ", ".join(found[:2]) + more


def _show_metric(metric: Object, current: Object | None) -> str:
    field = metric["type"][0].lower() + metric["type"][1:]
    source = metric.get(field) or {}
    target = source.get("target") or {}
    now = ((current or {}).get(field) or {}).get("current") or {}
    name = f"{source.get('name')}: " if field in ("resource", "containerResource") else ""
    if target.get("averageUtilization") is not None:
        seen = now.get("averageUtilization")
        shown_now = _UNKNOWN if seen is None else f"{seen}%"
        return f"{name}{shown_now}/{target['averageUtilization']}%"
    if target.get("averageValue") is not None:
        average = " (avg)" if field in ("object", "external") else ""
        return f"{name}{_seen(now.get('averageValue'))}/{target['averageValue']}{average}"
    return f"{name}{_seen(now.get('value'))}/{target.get('value')}"


def _seen(value: Any) -> str:
    return _UNKNOWN if value is None else str(value)


AUTOSCALERS = make_printer(
    NAME,
    shown("Reference", _read_reference, "What is scaled."),
    shown("Targets", _read_targets, "Each metric: what it is, and what it should be."),
    shown("MinPods", lambda obj: str(_spec(obj).get("minReplicas", _UNKNOWN))),
    shown("MaxPods", lambda obj: _spec(obj).get("maxReplicas", 0)),
    shown("Replicas", lambda obj: _status(obj).get("currentReplicas", 0)),
    AGE,
)
