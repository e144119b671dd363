"""
The installed dialects, one for each gang scheduler: Kohort's own, and those of other packages.

A package adds one by an entry point in the group ``kohort.gangs``, whose name is the
dialect's and whose object is a ``Dialect`` or a sequence of variants. A dialect that cannot
be loaded stops the command with a sentence that names the package: otherwise the operator
would silently create no gangs for the user's scheduler.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.known import DIALECTS, ENTRY_POINTS, Known, read_variants
from kohort.cluster.errors import KohortError


class PluginError(KohortError):
    """An entry point of another package cannot be used."""


@cache
def load_dialects() -> Known:
    """All installed dialects by name, loaded once."""
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    return {**DIALECTS, **{entry.name: load_dialect(entry) for entry in found}}


def load_dialect(entry: EntryPoint) -> tuple[Dialect, ...]:
    """The variants that an entry point names; raises PluginError."""
    whose = f"of {entry.dist.name}" if entry.dist else f"at {entry.value}"
    try:
        if entry.name in DIALECTS:
            raise ValueError("Kohort has a dialect of that name")
        return read_variants(entry.name, entry.load())
    except (ImportError, AttributeError, ValueError) as error:
        raise PluginError(f"gang dialect {entry.name} {whose} cannot be used: {error}") from error
