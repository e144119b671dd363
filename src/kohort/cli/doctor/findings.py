"""
The result of a check: a fact, and what the user can do where it is a problem.

A problem keeps Kohort or a command of it from working. A note is worth knowing and needs nothing.
Every problem has a fix; where only an administrator can apply it, the fix says so.
"""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at."""

    area: str  # definitions, permissions, webhooks …
    severity: Severity
    message: str
    fix: str = ""


def ok(area: str, message: str) -> CheckResult:
    """Something that is as it should be."""
    return CheckResult(area, Severity.OK, message)


def note(area: str, message: str, fix: str = "") -> CheckResult:
    """Something worth knowing."""
    return CheckResult(area, Severity.NOTE, message, fix)


def problem(area: str, message: str, fix: str) -> CheckResult:
    """Something that has to be mended."""
    return CheckResult(area, Severity.PROBLEM, message, fix)
