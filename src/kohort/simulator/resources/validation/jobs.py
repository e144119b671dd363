"""
What is wrong with the kinds that run pods to their end: Job and CronJob.

A Job that has started keeps its template and its selector: its pods were made from them.
"""

from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object
from kohort.simulator import kinds
from kohort.simulator.resources.schedules import ScheduleError, parse_schedule
from kohort.simulator.resources.validation.faults import (
    check_choice,
    check_not_negative,
    check_unchanged,
    invalid,
    ordered,
    required,
    unsupported,
)
from kohort.simulator.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.simulator.resources.validation.pods.spec import validate_template
from kohort.simulator.resources.validation.selectors import selects, validate_selector

_NAME_LENGTH_MAX = 52  # a CronJob adds eleven characters for each Job that it makes
_ENDING = ("OnFailure", "Never")
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
    "ttlSecondsAfterFinished",
)


def validate_job(job: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a Job."""
    spec = job.get("spec") or {}
    if old is not None:
        faults = validate_metadata_update(job, old)
        return faults + _validate_spec(spec, "spec") + _check_kept(spec, old.get("spec") or {})
    faults = validate_metadata(job, kinds.JOB)
    faults += _validate_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        return [*faults, required("spec.selector")]
    faults += validate_selector(selector, "spec.selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not selects(selector, labels):
        why = "`selector` does not match template `labels`"
        faults.append(invalid("spec.template.metadata.labels", labels, why))
    return faults


def _validate_spec(spec: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for field in _COUNTS:
        faults += check_not_negative(f"{path}.{field}", spec.get(field))
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        why = "when completion mode is Indexed"
        faults.append(required(f"{path}.completions", why))
    mode = spec.get("completionMode")
    if mode is not None:
        faults += check_choice(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    template = spec.get("template") or {}
    faults += validate_template(template, f"{path}.template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy not in _ENDING:
        where = f"{path}.template.spec.restartPolicy"
        if policy in (None, "", "Always"):
            return [*faults, required(where, 'valid values: "OnFailure", "Never"')]
        faults.append(unsupported(where, policy, _ENDING))
    return faults


def _check_kept(spec: Object, old: Object) -> list[FieldError]:
    faults: list[FieldError] = []
    if spec.get("completionMode") != "Indexed":
        faults += check_unchanged(
            "spec.completions", spec.get("completions"), old.get("completions")
        )
    faults += check_unchanged("spec.selector", spec.get("selector"), old.get("selector"))
    if not old.get("suspend"):
        new, was = spec.get("template"), old.get("template")
        if new != was:
            faults += check_unchanged("spec.template", ordered(new), ordered(was))
    mode = "completionMode"
    return faults + check_unchanged(f"spec.{mode}", spec.get(mode), old.get(mode))


def validate_cron_job(cron_job: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a CronJob."""
    spec = cron_job.get("spec") or {}
    if old is None:
        faults = validate_metadata(cron_job, kinds.CRON_JOB)
        name = cron_job["metadata"].get("name") or ""
        if len(name) > _NAME_LENGTH_MAX:
            why = f"must be no more than {_NAME_LENGTH_MAX} characters"
            faults.append(invalid("metadata.name", name, why))
    else:
        faults = validate_metadata_update(cron_job, old)
    faults += _validate_schedule(spec.get("schedule") or "")
    faults += check_choice(
        "spec.concurrencyPolicy", spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace")
    )
    for field in (
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ):
        faults += check_not_negative(f"spec.{field}", spec.get(field))
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    return faults + _validate_spec(template, "spec.jobTemplate.spec")


def _validate_schedule(schedule: str) -> list[FieldError]:
    if not schedule:
        return [required("spec.schedule")]
    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        return [invalid("spec.schedule", schedule, str(error))]
    return []
