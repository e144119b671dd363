"""
Defaults of the kinds that run pods to their end: Job and CronJob.

A Job finds its pods by a label that holds its uid. The server writes that selector and
the labels of the template when the Job is created, unless the user brings a selector.
"""

from kohort.cluster.objects import Object
from kohort.simulator.resources.defaults.pods import default_template

_PREFIX = "batch.kubernetes.io/"
CONTROLLER_UID = _PREFIX + "controller-uid"
JOB_NAME = _PREFIX + "job-name"
COMPLETION_INDEX = _PREFIX + "job-completion-index"
_OLD_CONTROLLER_UID, _OLD_JOB_NAME = "controller-uid", "job-name"


def default_job(job: Object) -> None:
    """Fill in a Job."""
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
    """Fill in what a Job and the template of a CronJob have alike."""
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
    """Fill in a CronJob."""
    spec = cron_job.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    default_job_spec(template.setdefault("spec", {}))
    cron_job.setdefault("status", {})


_MAX_INT = 2_147_483_647
