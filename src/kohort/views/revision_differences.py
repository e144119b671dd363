"""
The differences between two revisions, field by field, and what each field restarts.

A forecast of the rollout from one revision to the other says which groups or roles are made anew
or updated in place; nothing is guessed from the name of a field. A field of a role is
blamed for its role alone, where roles roll by themselves.
"""

from dataclasses import dataclass

from kohort.views.forecasts import ForecastView, Restart
from kohort.views.rollouts import FieldDifference

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ChangedField:
    """One field, and what is restarted because of it."""

    path: str
    old: str
    new: str
    restarts: str


@dataclass(frozen=True, slots=True)
class RevisionDifference:
    """All fields that differ between two revisions of a workload."""

    reference: str
    kind: str
    namespace: str
    name: str
    old: int
    new: int  # 0: it is wanted, and not stored yet
    fields: tuple[ChangedField, ...]


def blame_restarts(
    changes: tuple[FieldDifference, ...], view: ForecastView | None
) -> tuple[ChangedField, ...]:
    """Each change with what it restarts, as a forecast of all of them says."""
    restarts = view.restarts if view else ()
    return tuple(
        ChangedField(change.path, change.old, change.new, _find_blame(change, restarts))
        for change in changes
    )


def _find_blame(change: FieldDifference, restarts: tuple[Restart, ...]) -> str:
    words = change.path.split(".")
    if words[-1] == "replicas":
        return NOTHING
    own = [restart for restart in restarts if restart.role in ("", *words)]
    return ", ".join(map(describe_restart, own)) or NOTHING


def describe_restart(restart: Restart) -> str:
    """What is restarted, and how, if it is in place."""
    return f"{restart.what} in place" if restart.is_in_place else restart.what
