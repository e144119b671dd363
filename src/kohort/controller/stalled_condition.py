"""
The condition ``Stalled``: the operator does nothing until the user changes something.

Kohort adds it beside the conditions that an API defines, and only once it has been
true: clients that wait by kstatus read it as failed.
"""

from kohort.cluster.objects import Object

STALLED = "Stalled"


def write_stall(root: Object, reason: str, message: str, now: str) -> Object:
    """The status of an object with ``Stalled`` set to true, a reason and a message."""
    return _with(root, "True", reason, message, now)


def clear_stall(root: Object, now: str) -> Object:
    """The status of an object with ``Stalled`` false; unchanged if it never was stalled."""
    status: Object = root.get("status") or {}
    if any(
        c.get("type") == STALLED and c.get("status") == "True"
        for c in status.get("conditions") or ()
    ):
        return _with(root, "False", "Resumed", "the object was changed", now)
    return status


def _with(root: Object, value: str, reason: str, message: str, now: str) -> Object:
    status: Object = root.get("status") or {}
    conditions: list[Object] = status.get("conditions") or []
    old = next((c for c in conditions if c.get("type") == STALLED), None)
    changed = old is None or old.get("status") != value
    new = {
        "type": STALLED,
        "status": value,
        "reason": reason,
        "message": message[:32_768],
        "observedGeneration": root["metadata"].get("generation", 0),
        "lastTransitionTime": now
        if changed or old is None
        else old.get("lastTransitionTime") or now,
    }
    kept = [c for c in conditions if c.get("type") != STALLED]
    return {**status, "conditions": [*kept, new]}
