"""Metrics of this process from the operating system, under the names that dashboards expect."""

import os
import resource
import time
from pathlib import Path

from kohort.observability.catalogue import (
    CPU_SECONDS,
    FILES,
    FILES_MAX,
    MEMORY,
    MEMORY_RESERVED,
    START_TIME,
)
from kohort.observability.metrics import Counter, Gauge, Metric

_PROC = Path("/proc/self")
_STARTED = time.time()


def measure_process() -> list[Metric]:
    """CPU time, memory and open files, as far as this system reports them."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = Counter(CPU_SECONDS)
    cpu.add(usage.ru_utime + usage.ru_stime)
    started = Gauge(START_TIME)
    started.set(_STARTED)
    limit = Gauge(FILES_MAX)
    limit.set(float(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
    return [cpu, started, limit, *_measure_proc()]


def _measure_proc() -> list[Metric]:
    if not _PROC.exists():
        return []
    virtual, resident = (int(text) for text in (_PROC / "statm").read_text().split()[:2])
    page = os.sysconf("SC_PAGE_SIZE")
    memory = Gauge(MEMORY)
    memory.set(float(resident * page))
    reserved = Gauge(MEMORY_RESERVED)
    reserved.set(float(virtual * page))
    files = Gauge(FILES)
    files.set(float(len(os.listdir(_PROC / "fd"))))
    return [memory, reserved, files]
