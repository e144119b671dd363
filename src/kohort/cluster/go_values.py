"""
Values as Go's ``%v`` prints them, which is how the API server's messages show them.

The texts of patch errors print raw values the way Go does, and clients and
people see them, so the spelling is made in one place.
"""

from typing import Any

from kohort.cluster.errors import InternalError


class PatchFailed(InternalError):
    """A patch that cannot be applied; the server answers 500 and gives no reason."""

    reason = ""


def spell(value: Any) -> str:
    """A value as Go's ``%v`` prints it: ``map[a:1 b:[x y]]``."""
    if isinstance(value, dict):
        inner = " ".join(f"{key}:{spell(value[key])}" for key in sorted(value))
        return f"map[{inner}]"
    if isinstance(value, list):
        return f"[{' '.join(spell(entry) for entry in value)}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
