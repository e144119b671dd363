"""
This is where a running cluster records how other commands reach it: a folder for each name.

The file ``pid`` is locked for as long as the process lives. So the lock says whether a cluster
runs, not the process id in the file: a killed process leaves no lock behind, and another process
that got the same id does not hold the lock. The next command that finds the files of a killed
process removes them, under the same lock.
"""

import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohort.cli.exits import Failure, UsageError
from kohort.cluster.numbers import find_whole

NAME_DEFAULT = "sim"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
# How long the kernel may take to release the lock of a killed process.
_ENDING_SECONDS_MAX = 5.0


@dataclass(frozen=True, slots=True)
class State:
    """The folder of one cluster."""

    name: str

    def __post_init__(self) -> None:
        if not is_name(self.name):
            raise UsageError(
                f"{self.name!r} cannot be a cluster's name: use up to 40 lower case letters, "
                "digits and hyphens, with a letter or digit at both ends"
            )

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return _home() / self.name

    @property
    def pid_file(self) -> Path:
        """The process, and the lock that it holds."""
        return self.folder / "pid"

    @property
    def control_file(self) -> Path:
        """How to reach the cluster, for the other commands."""
        return self.folder / "control.json"

    @property
    def kubeconfig(self) -> Path:
        """Where the kubeconfig lies unless another place was asked for."""
        return self.folder / "kubeconfig"

    @property
    def log(self) -> Path:
        """The log of a detached process."""
        return self.folder / "log"

    @property
    def first_log(self) -> Path:
        """The log until the process is ready; one that fails keeps the log of the one before."""
        return self.folder / "log.starting"

    def find_pid(self) -> int | None:
        """The process that runs the cluster, if one does."""
        try:
            with self.pid_file.open() as file:
                end = time.monotonic() + _ENDING_SECONDS_MAX
                while not _try_lock(file.fileno(), shared=True):
                    # A process takes the lock first and writes its id a moment later.
                    file.seek(0)
                    text = file.read()
                    holder = _look_at(text)
                    if text and (time.monotonic() > end or not holder.is_ending):
                        return self._expect_ours(holder)
                    time.sleep(0.001)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return None

    def _expect_ours(self, holder: "_Holder") -> int:
        """The id of a process of ours; no other process, nor a process group, is sent a signal."""
        if holder.number is None or not holder.is_ours:
            raise Failure(
                f"{self.pid_file} does not name a cluster of yours; look who holds it, "
                "and remove it"
            )
        return holder.number

    def expect_control(self) -> dict[str, Any]:
        """How to reach the cluster, which must be running."""
        if self.find_pid() is None:
            others = name_running()
            choice = f", or choose with --name what runs: {others}" if others else ""
            raise Failure(
                f"{self.describe_absence()}; start it with 'kohort up{self.flag}'{choice}"
            )
        found = self._read_control()
        if found is None:
            raise Failure(f"{self.name} is still starting; try again in a second")
        return found

    def find_control(self) -> dict[str, Any] | None:
        """How to reach the cluster; None while it starts."""
        return self._read_control()

    def describe_absence(self) -> str:
        """That no process runs the cluster, and what became of the last one if it was killed."""
        if self.clear_stale():
            return f"{self.name} is not running: it was killed, and its stale files are removed"
        return f"{self.name} is not running"

    @property
    def flag(self) -> str:
        """How this cluster is named on a command line, with a space before it."""
        return "" if self.name == NAME_DEFAULT else f" --name {self.name}"

    def clear_stale(self) -> bool:
        """Remove the files of a killed process; returns whether there were any."""
        try:
            handle = os.open(self.pid_file, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            is_ours = _try_lock(handle) and os.path.samestat(
                os.fstat(handle), self.pid_file.lstat()
            )
            if is_ours:
                self._remove_stale()
            return is_ours
        except FileNotFoundError:
            return False
        finally:
            os.close(handle)
            self.tidy()

    def _remove_stale(self) -> None:
        """Remove the files; the kubeconfig of a kept cluster serves its next process."""
        control = self._read_control() or {}
        if not control.get("dataDir") and control.get("kubeconfig"):
            from kohort.apiserver.host.kubeconfig import Kubeconfig

            Kubeconfig(Path(control["kubeconfig"]), self.name).remove()
        self.control_file.unlink(missing_ok=True)
        self.pid_file.unlink(missing_ok=True)

    def _read_control(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self.control_file.read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def wait_for_end(self, pid: int, seconds: float) -> bool:
        """Wait until that process holds the lock no more; returns whether it was in time."""
        end = time.monotonic() + seconds
        while self.find_pid() == pid:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Be the one process that runs this cluster."""
        self.make_folder()
        taken = f"{self.name} is running already; stop it with 'kohort down{self.flag}'"
        try:
            with hold_lock(self.pid_file, f"{taken}, or name another with --name"):
                try:
                    yield
                finally:
                    self.control_file.unlink(missing_ok=True)
        finally:
            self.tidy()

    def make_folder(self) -> None:
        """See that the folder is there."""
        with writing(self.folder, "name another place with the variable KOHORT_HOME"):
            _home().mkdir(parents=True, exist_ok=True, mode=0o700)
            self.folder.mkdir(exist_ok=True, mode=0o700)
        check_owner(self.folder, "name another place with the variable KOHORT_HOME")

    def tidy(self) -> None:
        """Take the folder away if nothing is left in it."""
        with suppress(OSError):
            self.folder.rmdir()


def is_name(text: str) -> bool:
    """Whether a cluster can have that name."""
    return _NAME.fullmatch(text) is not None


def _home() -> Path:
    return Path(os.environ.get("KOHORT_HOME") or Path.home() / ".kohort").absolute()


def list_states() -> list[State]:
    """The clusters that have a folder, whether they run or not."""
    home = _home()
    names = sorted(path.name for path in home.iterdir()) if home.is_dir() else []
    return [State(name) for name in names if is_name(name)]


def list_running() -> list[State]:
    """The clusters that run."""
    return [state for state in list_states() if state.find_pid() is not None]


def name_running() -> str:
    """The clusters that run, in words."""
    return ", ".join(state.name for state in list_running())


@dataclass(frozen=True, slots=True)
class _Holder:
    """The process that a pid file names, and whether it is ours and ending."""

    number: int | None = None
    is_ours: bool = False
    is_ending: bool = False


def _look_at(text: str) -> _Holder:
    """
    The process that holds the lock, and whether it was killed and is about to release it.

    A process that ends has an empty command line, or is gone by the time that it is read. The owner
    is read before the command line: a process that still has one had that owner.
    """
    number = find_whole(text.strip())
    if number is None or number < 2:
        return _Holder()
    if not Path("/proc/self").exists():
        return _Holder(number, is_ours=True)  # This system has no /proc to ask.
    place = Path(f"/proc/{number}")
    try:
        owner = place.stat().st_uid
        words = (place / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return _Holder(number, is_ending=True)
    except OSError:
        return _Holder(number)
    is_ours = owner == os.geteuid() and b"kohort" in words
    return _Holder(number, is_ours, is_ending=not words)


def check_owner(folder: Path, remedy: str) -> None:
    """Refuse a folder that is a link, another user's, or open to others for writing."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise Failure(f"{folder} is a link; {remedy}")
    if found.st_uid != os.geteuid():
        raise Failure(f"{folder} belongs to another user; {remedy}")
    if found.st_mode & 0o022:
        raise Failure(f"{folder} can be written by others; run 'chmod go-w {folder}', or {remedy}")


@contextmanager
def writing(place: Path, remedy: str) -> Iterator[None]:
    """Turn the system's refusal into a sentence about the place that the user chose."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot write to {place}: {reason}; {remedy}") from error


@contextmanager
def hold_lock(path: Path, taken: str) -> Iterator[None]:
    """Hold a file that carries our process id; if another process does, fail with a sentence."""
    handle = _open_locked(path, taken)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _open_locked(path: Path, taken: str) -> int:
    while True:
        # A link would let its author choose the file that is emptied.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if not _try_lock(handle):
            os.close(handle)
            raise Failure(taken)
        # The process that held the lock before us may have removed the file in the meantime.
        if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
            return handle
        os.close(handle)


def _try_lock(handle: int, *, shared: bool = False) -> bool:
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
