"""Which faults take no pod and no object of a workload."""

# What happens to requests, watches and processes: it takes no pod down.
HARMLESS = {
    "lag",
    "relist",
    "break",
    "deaf",
    "repeat",
    "part-lag",
    "crash-before",
    "crash-after",
    "restart",
    "lost-answer",
    "slow-request",
    "slow-answer",
    "conflict",
    "throttle",
    "error",
    "clock-jump",
    "partitioned",
    "between",
}
