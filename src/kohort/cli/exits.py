"""
This is where a command ends: with a code, and if it failed with one sentence on stderr.

The codes are a promise to scripts. People get a sentence that says what happened
and what they can do; a user gets no traceback for something that they can mend.
"""

import os
import sys
from collections.abc import Callable
from enum import IntEnum

from kohort.cli.terminal import RED, paint, show
from kohort.cluster.errors import KohortError


class Exit(IntEnum):
    """The exit codes of commands."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    TIMED_OUT = 3
    BLOCKED = 4
    INTERRUPTED = 130


class Failure(KohortError):
    """A command failed, for a reason that one sentence explains."""

    code = Exit.FAILED


class UsageError(Failure):
    """The command was not understood."""

    code = Exit.USAGE


class TimedOut(Failure):
    """The condition that a command waited for did not come true in time."""

    code = Exit.TIMED_OUT


def end(work: Callable[[], int]) -> int:
    """Do the work, turn its errors into sentences, and return the exit code."""
    try:
        return work()
    except Failure as failure:
        return _complain(str(failure), failure.code)
    except KohortError as error:
        return _complain(str(error), Exit.FAILED)
    except BrokenPipeError:
        # The reader of our output has closed the pipe, so the rest cannot be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    except OSError as error:
        return _complain(describe_fault(error), Exit.FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", Exit.INTERRUPTED)


def until_interrupted(work: Callable[[], int]) -> int:
    """Do work that the user ends with Ctrl-C: that is its only end, so it is no error."""
    try:
        return work()
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _complain(sentence: str, code: Exit) -> int:
    show(f"{paint('error:', RED, sys.stderr)} {sentence}", file=sys.stderr)
    return code


def describe_fault(error: OSError) -> str:
    """The sentence for an error of the operating system, with the file if there is one."""
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason
