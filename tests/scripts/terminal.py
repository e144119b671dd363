"""
A terminal for tests: a real shell on a pty, into which commands are typed as a user types them.

The window has one size, the shell one prompt, and the shell's files are left out. After a command
the driver waits for the next prompt, and for nothing else: no sleeps. The prompt carries the exit
code of the command before it, which the transcript names if it is not 0.

A transcript is what the user saw, without colours: a live view is its last picture. Only what no
clock and no option can fix is masked: ports, tokens, uids, how often the operator looked, and
folders that a test made. It is compared with a file of ``golden``; ``KOHORT_GOLDEN=write`` writes
the files anew; read what changed as a user would.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path

COLUMNS, ROWS = 120, 60
SECONDS_MAX = 120
GOLDEN = Path(__file__).with_name("golden")
INTERRUPT = "\x03"
# The shell owns the window, and heeds Ctrl-C even where the run of the tests does not.
_SHELL = """
import fcntl, os, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
"""
_PROMPT = re.compile(r"\x01<(\d+)>\$ ")
_REDRAW = "\x1b[H\x1b[J"
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MASKS = (
    (re.compile(r"(127\.0\.0\.1|localhost):\d+"), r"\1:PORT"),
    (re.compile(r"token=[\w.~-]+"), "token=TOKEN"),
    (re.compile(r"^\d+ entries in ", re.MULTILINE), "N entries in "),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UID"),
)


class Terminal:
    """One window. Use ``open_terminal``, which closes it."""

    def __init__(self, window: int, title: str = "") -> None:
        self._window = window
        self._unread = ""
        self._command = ""
        self._lines = [f"# {title}"] if title else []
        self._unread = self._unread[self._wait(_PROMPT.search).end() :]

    def type(self, command: str) -> str:
        """Type a command, wait until it has ended; what it said."""
        self.start(command)
        return self.finish()

    def start(self, command: str, until: str = "") -> None:
        """Type a command that stays, and wait until it has said something (a pattern)."""
        self._command = command
        self._send(f"{command}\n")
        if until:
            self.expect(until)

    def expect(self, pattern: str) -> None:
        """Wait until the command that runs has said something (a pattern)."""
        self._wait(lambda text: re.search(pattern, _clean(text)))

    def answer(self, text: str, until: str = "") -> None:
        """Type an answer to a question of the command that runs."""
        self._send(f"{text}\n")
        if until:
            self.expect(until)

    def interrupt(self) -> str:
        """Press Ctrl-C, and wait until the command has ended; all that it said."""
        self._send(INTERRUPT)
        return self.finish()

    def finish(self, last: int | None = None, but: str = "") -> str:
        """Wait until the command has ended; what it said, and its exit code if it failed.

        What a command tells on the way may depend on how fast it was: then only so many of its
        last lines are kept, or all but those in which something is found (a pattern).
        """
        found = self._wait(_PROMPT.search)
        code, text = found[1], self._unread[: found.start()]
        self._unread = self._unread[found.end() :]
        said = _clean(text).removeprefix(f"{self._command}\n")
        lines = said.rstrip("\n").splitlines()
        if but:
            lines = [line for line in lines if not re.search(but, line)]
        if last is not None:
            lines = ["…", *lines[-last:]]
        self._lines += [f"$ {self._command}", *lines]
        if code != "0":
            self._lines.append(f"[exit code {code}]")
        return said

    def note(self, text: str) -> None:
        """Add a line to the transcript that is not typed."""
        self._lines += ["", f"# {text}"]

    def transcript(self, masks: Mapping[str, str] | None = None) -> str:
        """All that was typed and said, with texts of the test masked as it asks."""
        text = "".join(f"{line.rstrip()}\n" for line in self._lines)
        for found, mask in (masks or {}).items():
            text = text.replace(found, mask)
        for pattern, mask in _MASKS:
            text = pattern.sub(mask, text)
        return text

    def _send(self, text: str) -> None:
        os.write(self._window, text.encode())

    def _wait(self, find: Callable[[str], re.Match[str] | None]) -> re.Match[str]:
        """Read until something is found in what has not been read yet."""
        end = time.monotonic() + SECONDS_MAX
        while (found := find(self._unread)) is None:
            ready, _, _ = select.select([self._window], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"the terminal still shows after {SECONDS_MAX} s:\n{self}")
            self._unread += os.read(self._window, 65_536).decode(errors="replace")
        return found

    def __str__(self) -> str:
        """All that it shows, for messages of failed tests."""
        return self.transcript() + _clean(self._unread)


def _clean(text: str) -> str:
    """What a reader sees of an output: the last picture of a live view, no colours."""
    line, _, rest = text.replace("\r\n", "\n").partition("\n")
    if _REDRAW in rest:
        rest = rest.rpartition(_REDRAW)[2]
    return _SEQUENCE.sub("", f"{line}\n{rest}").replace("^C", "")


OpenWindow = Callable[[str], Terminal]  # by its title


@contextmanager
def open_terminal(
    folder: Path, environment: Mapping[str, str], title: str = ""
) -> Iterator[Terminal]:
    """A window whose shell stands in a folder, with only the environment that is given."""
    window, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", _SHELL],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        cwd=folder,
        env={**_usual_environment(), **environment},
        start_new_session=True,
    ) as shell:
        os.close(inside)
        try:
            yield Terminal(window, title)
        finally:
            # Like a window that is closed: the shell and what it started get a hangup.
            os.close(window)
            shell.kill()


def _usual_environment() -> dict[str, str]:
    folder = Path(sys.executable).parent
    kept = {k: os.environ[k] for k in ("KOHORT_TEST_RUN", "KOHORT_CACHE") if k in os.environ}
    return {
        "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PS1": "\x01<$?>$ ",
        "PS2": "",
        **kept,
    }


def compare(name: str, text: str) -> None:
    """Hold a transcript against its golden text, or write that anew if the reader asks for it."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("KOHORT_GOLDEN") == "write":
        path.write_text(text)
    assert path.exists(), f"there is no {path}: write it with KOHORT_GOLDEN=write"
    differences = unified_diff(path.read_text().splitlines(), text.splitlines(), lineterm="")
    if lines := "\n".join(differences):
        raise AssertionError(f"{path.name} is not what the user sees:\n{lines}")
