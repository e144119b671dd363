"""
This is where the processes of an instance are started and ended, each by its own id.

Ids are kept in files. A file whose process is gone, or whose id now belongs to
somebody else, is worth nothing and is thrown away.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

GRACE_SECONDS = 20.0
_POLL_SECONDS = 0.05


def start_process(folder: Path, name: str, command: list[str]) -> None:
    """Start a process that outlives us, with its words in a file."""
    (folder / "log").mkdir(exist_ok=True)
    (folder / "pids").mkdir(exist_ok=True)
    with (folder / "log" / name).open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    (folder / "pids" / name).write_text(f"{process.pid}\n")


def find_process(folder: Path, name: str) -> int | None:
    """The id of a process that still runs."""
    path = folder / "pids" / name
    if not path.exists():
        return None
    pid = int(path.read_text())
    if _is_running(pid, name):
        return pid
    path.unlink(missing_ok=True)
    return None


def stop_process(folder: Path, name: str, *, now: bool = False) -> None:
    """End a process, politely first unless it must be now."""
    pid = find_process(folder, name)
    if pid is None:
        return
    _signal(pid, signal.SIGKILL if now else signal.SIGTERM)
    end = time.monotonic() + GRACE_SECONDS
    while _is_running(pid, name):
        if time.monotonic() > end:
            _signal(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)
    (folder / "pids" / name).unlink(missing_ok=True)


def _is_running(pid: int, name: str) -> bool:
    try:
        # A child of ours that has ended is a ghost until somebody asks for it.
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    line = Path(f"/proc/{pid}/cmdline")
    return not line.exists() or name.encode() in line.read_bytes().split(b"\0")[0]


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
