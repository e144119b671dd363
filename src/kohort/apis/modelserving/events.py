"""
The events about role instances of a ModelServing, in upstream's words.

There is one event for each instance that changes, as upstream does; but a reconcile that changes
hundreds of them sums up the rest in one event, since the event rate limit would drop them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kohort.apis.modelserving.plugins.chain import PluginFailure
from kohort.model.reasons import Notice

CREATING, RUNNING, DELETING = "Creating", "Running", "Deleting"
REPORTER = "modelserving-controller"
_ACTIONS = {CREATING: "Create", RUNNING: "Update", DELETING: "Delete"}
EACH_MAX = 20


@dataclass(frozen=True, slots=True)
class RoleChange:
    """An instance of a role that has entered another phase."""

    group: str
    role: str
    role_id: str
    phase: str


def list_role_events(changes: Iterable[RoleChange]) -> Iterator[Notice]:
    """The events for these changes, phase by phase."""
    found = list(changes)
    for phase, action in _ACTIONS.items():
        of_phase = [change for change in found if change.phase == phase]
        for change in of_phase[:EACH_MAX]:
            yield Notice("Normal", f"Role{phase}", describe_change(change), action)
        more = len(of_phase) - EACH_MAX
        if more > 0:
            noun = "role instance is" if more == 1 else "role instances are"
            yield Notice("Normal", f"Role{phase}", f"{more} more {noun} now {phase}", action)


def describe_change(change: RoleChange) -> str:
    """A sentence on the change of one instance."""
    where = f"{change.role}/{change.role_id} in ServingGroup {change.group}"
    return f"Role {where} is now {change.phase}"


def list_plugin_events(failure: PluginFailure | None) -> Iterator[Notice]:
    """The event of a plugin failure, if there is one."""
    if failure is not None:
        yield Notice("Warning", "PluginFailed", str(failure)[:1_000], "Create")
