"""Jobs and CronJobs, as built-in kinds: row, defaults, checks, columns.

A Job finds its pods by a label that holds its uid. The server writes that selector and
the labels of the template when the Job is created, unless the user brings a selector.
"""

from collections.abc import Mapping
from datetime import datetime

from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.pods.defaults import default_template
from kohort.apiserver.resources.pods.validation import validate_template
from kohort.apiserver.resources.pods.warnings import warn_of_workload
from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    NONE,
    Printed,
    find_moment,
    make_printer,
    show_age,
    show_duration,
    shown,
    spec_of,
    status_of,
    timed,
    wide,
)
from kohort.apiserver.resources.schedules import ScheduleError, parse_schedule
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_not_negative,
    check_unchanged,
    invalid,
    ordered,
    required,
    unsupported,
)
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.apiserver.resources.validation.selectors import validate_selector
from kohort.apiserver.resources.workloads.columns import list_containers, show_selector
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object, find_condition
from kohort.cluster.selectors import read_label_selector

_PREFIX = "batch.kubernetes.io/"
CONTROLLER_UID = _PREFIX + "controller-uid"
JOB_NAME = _PREFIX + "job-name"
COMPLETION_INDEX = _PREFIX + "job-completion-index"
_OLD_CONTROLLER_UID, _OLD_JOB_NAME = "controller-uid", "job-name"
_MAX_INT = 2_147_483_647
_NAME_LENGTH_MAX = 52  # a CronJob adds eleven characters for each Job that it makes
_ENDING = ("OnFailure", "Never")
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
    "ttlSecondsAfterFinished",
)
_STATES = (("Complete", "Complete"), ("Failed", "Failed"), ("Suspended", "Suspended"))


def default_job(job: Object) -> None:
    """Set the defaults of a Job."""
    spec = job.setdefault("spec", {})
    default_job_spec(spec)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _MAX_INT if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    has_policy = spec.get("podFailurePolicy") is not None
    spec.setdefault("podReplacementPolicy", "Failed" if has_policy else "TerminatingOrFailed")
    job.setdefault("status", {})


def default_job_spec(spec: Object) -> None:
    """Set the defaults that a Job and the template of a CronJob share."""
    default_template(spec.setdefault("template", {}))


def prepare_job(job: Object) -> None:
    """A new Job starts without a status, and with a selector of its own."""
    job.pop("status", None)
    job["status"] = {}
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    uid = metadata.get("uid", "")
    labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    marks = {CONTROLLER_UID: uid, JOB_NAME: metadata.get("name", "")}
    marks |= {_OLD_CONTROLLER_UID: uid, _OLD_JOB_NAME: metadata.get("name", "")}
    for key, value in marks.items():
        labels.setdefault(key, value)
    metadata.setdefault("labels", dict(labels))
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {}).setdefault(CONTROLLER_UID, uid)


def default_cron_job(cron_job: Object) -> None:
    """Set the defaults of a CronJob."""
    spec = cron_job.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    default_job_spec(template.setdefault("spec", {}))
    cron_job.setdefault("status", {})


def validate_job(job: Object, old: Object | None) -> list[FieldError]:
    """The errors in a Job."""
    spec = job.get("spec") or {}
    if old is not None:
        faults = validate_metadata_update(job, old)
        return faults + _validate_spec(spec, "spec") + _check_kept(spec, old.get("spec") or {})
    faults = validate_metadata(job, kinds.JOB)
    faults += _validate_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        return [*faults, required("spec.selector")]
    wrong = validate_selector(selector, "spec.selector")
    if wrong:
        # An invalid selector cannot be compared with labels.
        return [*faults, *wrong]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not read_label_selector(selector).matches(labels):
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
    """The errors in a CronJob."""
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
    done, wanted = status_of(job).get("succeeded", 0), spec_of(job).get("completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallelism = spec_of(job).get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _read_duration(job: Object, now: datetime) -> str:
    start = find_moment(status_of(job).get("startTime"))
    if start is None:
        return ""
    end = find_moment(status_of(job).get("completionTime")) or now
    return show_duration(int((end - start).total_seconds()))


def _of_job(field: str, name: str) -> Printed:
    return wide(name, lambda job: list_containers(_pod_spec(job), field))


def _pod_spec(job: Object) -> Object:
    found: Object = (spec_of(job).get("template") or {}).get("spec") or {}
    return found


def _job_spec(cron_job: Object) -> Object:
    return {"spec": (spec_of(cron_job).get("jobTemplate") or {}).get("spec") or {}}


def _of_cron_job(field: str, name: str) -> Printed:
    return wide(name, lambda obj: list_containers(_pod_spec(_job_spec(obj)), field))


def _read_last(cron_job: Object, now: datetime) -> str:
    last = status_of(cron_job).get("lastScheduleTime")
    return show_age(last, now) if last else NONE


JOBS = make_printer(
    NAME,
    shown("Status", _read_state, "Whether the job runs, is complete, or has failed."),
    shown("Completions", _read_completions, "How many pods have succeeded, of how many."),
    timed("Duration", _read_duration, "How long the job has run."),
    AGE,
    _of_job("name", "Containers"),
    _of_job("image", "Images"),
    wide("Selector", lambda job: show_selector(spec_of(job).get("selector"))),
)
CRON_JOBS = make_printer(
    NAME,
    shown("Schedule", lambda obj: spec_of(obj).get("schedule", ""), "When a job is made."),
    shown("Timezone", lambda obj: spec_of(obj).get("timeZone") or NONE, "Whose clock is meant."),
    shown("Suspend", lambda obj: str(bool(spec_of(obj).get("suspend"))), type="boolean"),
    shown("Active", lambda obj: len(status_of(obj).get("active") or ()), type="integer"),
    timed("Last Schedule", _read_last, "How long ago a job was last made."),
    AGE,
    _of_cron_job("name", "Containers"),
    _of_cron_job("image", "Images"),
    wide("Selector", lambda obj: show_selector(spec_of(_job_spec(obj)).get("selector"))),
)


def job_fields(job: Object) -> Mapping[str, str]:
    """The selectable fields of a Job."""
    return {"status.successful": str((job.get("status") or {}).get("succeeded") or 0)}


KINDS = (
    BuiltinKind(
        kinds.CRON_JOB,
        ("cj",),
        ("all",),
        reported(validate_cron_job, default_cron_job),
        CRON_JOBS,
        subresources=("status",),
        has_generation=True,
    ),
    BuiltinKind(
        kinds.JOB,
        (),
        ("all",),
        reported(
            validate_job,
            default_job,
            warn=warn_of_workload,
            prepare_create=prepare_job,
            fields=job_fields,
        ),
        JOBS,
        subresources=("status",),
        has_generation=True,
        fields=("status.successful",),
    ),
)
