"""What the operating system knows of this process, under the names that dashboards expect."""

import os
import resource
import time
from pathlib import Path

from kohort.observability.metrics import Counter, Gauge, Metric

_PROC = Path("/proc/self")
_STARTED = time.time()


def measure_process() -> list[Metric]:
    """CPU, memory and files, as far as this system tells."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = Counter("process_cpu_seconds_total", "CPU seconds used.")
    cpu.add(usage.ru_utime + usage.ru_stime)
    started = Gauge("process_start_time_seconds", "When the process started, in Unix time.")
    started.set(_STARTED)
    limit = Gauge("process_max_fds", "How many files may be open.")
    limit.set(float(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
    return [cpu, started, limit, *_measure_proc()]


def _measure_proc() -> list[Metric]:
    if not _PROC.exists():
        return []
    virtual, resident = (int(text) for text in (_PROC / "statm").read_text().split()[:2])
    page = os.sysconf("SC_PAGE_SIZE")
    memory = Gauge("process_resident_memory_bytes", "Memory in use.")
    memory.set(float(resident * page))
    reserved = Gauge("process_virtual_memory_bytes", "Memory reserved.")
    reserved.set(float(virtual * page))
    files = Gauge("process_open_fds", "Files that are open.")
    files.set(float(len(os.listdir(_PROC / "fd"))))
    return [memory, reserved, files]
