"""
This is where the processes of an instance are started and ended, each by its own id.

Ids are kept in files. A file whose process is gone, or whose id now belongs to
another process, is worth nothing and is deleted.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

GRACE_SECONDS = 20.0
_POLL_SECONDS = 0.05
ENDED = ("Z", "X")


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
    if is_running(pid, name):
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
    while is_running(pid, name):
        if time.monotonic() > end:
            _signal(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)
    (folder / "pids" / name).unlink(missing_ok=True)


def is_running(pid: int, name: str, proc: Path = Path("/proc")) -> bool:
    """Whether a process runs, and is the one that was started under this name."""
    try:
        # A child of ours that has ended stays a zombie until we wait for it.
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    if not (proc / "self").exists():
        return True  # This system has no /proc to ask.
    place = proc / str(pid)
    try:
        words = (place / "cmdline").read_bytes()
        if words:
            return name.encode() in words.split(b"\0")[0]
        # A process has no command line before the system has loaded it, and after its end.
        return _read_state(place) not in ENDED
    except (FileNotFoundError, ProcessLookupError):
        return False


def _read_state(place: Path) -> str:
    """The letter for a process's state; it follows the name, which may hold any character."""
    return (place / "stat").read_text().rpartition(")")[2].split()[0]


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
