"""
The condition ``Stalled``: the operator does nothing until the user changes something.

Kohort adds it beside the conditions that an API defines, and only once it has been
true: clients that wait by kstatus read it as failed.
"""

from kohort.cluster.conditions import move_to_end
from kohort.cluster.objects import Object, is_true

STALLED = "Stalled"


def write_stall(root: Object, reason: str, message: str, now: str) -> Object:
    """The status of an object with ``Stalled`` set to true, a reason and a message."""
    return _with(root, "True", reason, message, now)


def clear_stall(root: Object, now: str) -> Object:
    """The status of an object with ``Stalled`` false; unchanged if it never was stalled."""
    if is_true(root, STALLED):
        return _with(root, "False", "Resumed", "the object was changed", now)
    return root.get("status") or {}


def _with(root: Object, value: str, reason: str, message: str, now: str) -> Object:
    status: Object = root.get("status") or {}
    new = {
        "type": STALLED,
        "status": value,
        "reason": reason,
        "message": message[:32_768],
        "observedGeneration": root["metadata"].get("generation", 0),
    }
    return {**status, "conditions": move_to_end(status.get("conditions") or (), new, now)}
