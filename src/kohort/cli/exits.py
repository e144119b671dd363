"""
This is where a command ends: with a code, and if it failed with one sentence on stderr.

The codes are a promise to scripts. People get a sentence that says what happened
and what they can do; nobody gets a traceback for something that they can mend.
"""

import os
import sys
from collections.abc import Callable
from enum import IntEnum

from kohort.cli.styles import RED, paint
from kohort.cli.terminal import show
from kohort.cluster.errors import KohortError


class Exit(IntEnum):
    """What a command's exit code means."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    TIMED_OUT = 3
    BLOCKED = 4
    INTERRUPTED = 130


class Failure(KohortError):
    """Something did not work, for a reason that a sentence can tell."""

    code = Exit.FAILED


class UsageError(Failure):
    """The command was not understood."""

    code = Exit.USAGE


class TimedOut(Failure):
    """What was waited for did not happen in time."""

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
        # Whoever read our output has enough; nothing that is left can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    except OSError as error:
        return _complain(describe_fault(error), Exit.FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", Exit.INTERRUPTED)


def _complain(sentence: str, code: Exit) -> int:
    show(f"{paint('error:', RED, sys.stderr)} {sentence}", file=sys.stderr)
    return code


def describe_fault(error: OSError) -> str:
    """What the system refused, about which file."""
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason
