"""
The metrics of the operator: name, type, labels and meaning of each.

The operator makes its metrics from these descriptions, and ``docs/reference/metrics.md`` is written
from them. The number of series stays bounded: a label holds a name of a workload only on gauges
and counters, a few for each workload, and they end with it. Histograms have many series for each
combination of labels, so theirs are by kind and namespace at most. No label holds the name of a
pod, a node or a user, nor a message. Names and labels are an interface: boards and alerts of users
depend on them.
"""

from dataclasses import dataclass
from enum import StrEnum


class MetricType(StrEnum):
    """The types that Prometheus knows and the operator uses."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


# Limits of buckets in seconds, for work of the operator and for what pods and rollouts take.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG_SECONDS = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0)


@dataclass(frozen=True, slots=True)
class Description:
    """One metric."""

    name: str
    type: MetricType
    about: str
    labels: tuple[str, ...] = ()
    since: str = "0.1"
    limits: tuple[float, ...] = SECONDS  # of the buckets of a histogram


def _counter(name: str, about: str, *labels: str) -> Description:
    return Description(name, MetricType.COUNTER, about, labels)


def _gauge(name: str, about: str, *labels: str) -> Description:
    return Description(name, MetricType.GAUGE, about, labels)


def _histogram(name: str, about: str, *labels: str) -> Description:
    return Description(name, MetricType.HISTOGRAM, about, labels)


def _long_histogram(name: str, about: str, *labels: str) -> Description:
    return Description(name, MetricType.HISTOGRAM, about, labels, limits=LONG_SECONDS)


_WORKLOAD = ("kind", "namespace", "name")

UNITS = _gauge(
    "kohort_units",
    "Units that exist, by level (group, instance, member) and phase (starting, ready, broken, "
    "leaving). Instances are counted by role.",
    *_WORKLOAD,
    "level",
    "phase",
    "role",
)
UNITS_DESIRED = _gauge(
    "kohort_units_desired",
    "Units that the spec demands, by level. Instances are counted by role.",
    *_WORKLOAD,
    "level",
    "role",
)
BLOCKED = _gauge(
    "kohort_blocked_seconds",
    "How long the workload has needed help, for the reason that kohort get --blocked shows.",
    *_WORKLOAD,
    "reason",
)
WAITING = _gauge(
    "kohort_waiting_seconds",
    "How long its plans have waited, for a reason that may end by itself.",
    *_WORKLOAD,
    "reason",
)
ROLLOUT_PROGRESS = _gauge(
    "kohort_rollout_progress_ratio",
    "The share of the units of a running rollout that are updated and ready; 1 if none runs.",
    *_WORKLOAD,
)
ROLLOUT_SECONDS = _long_histogram(
    "kohort_rollout_duration_seconds",
    "Time of a rollout, from the first plan with a new revision until all its units are ready.",
    "kind",
    "namespace",
)
START_SECONDS = _long_histogram(
    "kohort_start_seconds",
    "Time of the start of a pod, by phase: schedule, pull, load, and ready for all together.",
    "kind",
    "namespace",
    "phase",
)
RECOVERIES = _counter(
    "kohort_recoveries_total",
    "Units that the operator took down to make them anew, by level and by cause (crashed, lost, "
    "unfit).",
    *_WORKLOAD,
    "level",
    "cause",
)
RECOVERY_SECONDS = _long_histogram(
    "kohort_recovery_seconds",
    "Time from the plan that takes a failed unit down until a unit in its place is ready.",
    "kind",
    "namespace",
    "level",
)
PLAN_SECONDS = _histogram("kohort_plan_seconds", "Time of a reconcile, with its requests.", "kind")
PLAN_ACTIONS = _counter("kohort_plan_actions_total", "Actions that were done.", "kind", "action")
PLANS_EMPTY = _counter("kohort_plans_empty_total", "Reconciles that found nothing to do.", "kind")
STRATEGY_WORKLOADS = _gauge(
    "kohort_strategy_workloads",
    "Workloads by the strategy that runs them, where their API has several.",
    "kind",
    "namespace",
    "strategy",
)
STRATEGY_SECONDS = _histogram(
    "kohort_strategy_reconcile_seconds",
    "Time of a reconcile by the strategy of the workload and by result: done, or failed and to be "
    "tried again.",
    "kind",
    "strategy",
    "result",
)
WRITES = _counter(
    "kohort_writes_total",
    "Requests that write, by verb and result: Done, or the name of the error.",
    "verb",
    "result",
)
WATCH_RESTARTS = _counter(
    "kohort_watch_restarts_total", "Lists and watches that failed.", "resource"
)
CACHE_AGE = _gauge(
    "kohort_cache_age_seconds",
    "How long the cache of a resource has not been kept up to date; 0 while its watch works.",
    "resource",
)
BUILD_INFO = _gauge("kohort_build_info", "Always 1, with the version that runs.", "version")

LEADS = _gauge("leader_election_master_status", "1 if this process leads.")
QUEUE_DEPTH = _gauge("workqueue_depth", "Keys that are due and wait, by kind.", "name")
QUEUE_OLDEST = _gauge(
    "workqueue_unfinished_work_seconds", "How long the oldest key that is due has waited.", "name"
)
QUEUE_ADDS = _counter("workqueue_adds_total", "Keys that were put on the queue.", "name")
QUEUE_RETRIES = _counter("workqueue_retries_total", "Reconciles that failed.", "name")
WEBHOOK_REQUESTS = _counter(
    "controller_runtime_webhook_requests_total", "Admission requests.", "webhook", "code"
)
WEBHOOK_SECONDS = _histogram(
    "controller_runtime_webhook_latency_seconds", "Time of an admission answer.", "webhook"
)

CPU_SECONDS = _counter("process_cpu_seconds_total", "CPU seconds used.")
START_TIME = _gauge("process_start_time_seconds", "When the process started, in Unix time.")
FILES_MAX = _gauge("process_max_fds", "How many files may be open.")
FILES = _gauge("process_open_fds", "Files that are open.")
MEMORY = _gauge("process_resident_memory_bytes", "Memory in use.")
MEMORY_RESERVED = _gauge("process_virtual_memory_bytes", "Memory reserved.")

# By the question that they answer.
CATALOGUE: dict[str, tuple[Description, ...]] = {
    "Workloads": (
        UNITS,
        UNITS_DESIRED,
        BLOCKED,
        WAITING,
        ROLLOUT_PROGRESS,
        ROLLOUT_SECONDS,
        START_SECONDS,
        RECOVERIES,
        RECOVERY_SECONDS,
        STRATEGY_WORKLOADS,
    ),
    "Plans": (PLAN_SECONDS, PLAN_ACTIONS, PLANS_EMPTY, STRATEGY_SECONDS),
    "The API server": (WRITES, WATCH_RESTARTS, CACHE_AGE, WEBHOOK_REQUESTS, WEBHOOK_SECONDS),
    "Queues": (QUEUE_DEPTH, QUEUE_OLDEST, QUEUE_ADDS, QUEUE_RETRIES),
    "The process": (
        BUILD_INFO,
        LEADS,
        CPU_SECONDS,
        START_TIME,
        FILES_MAX,
        FILES,
        MEMORY,
        MEMORY_RESERVED,
    ),
}
