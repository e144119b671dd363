"""
Conditions in the status of objects that controllers report on.

A condition that is set to the same values again stays as it is, with its times; one
whose status changes gets a new transition time, one with only another reason keeps
its own.
"""

from kohort.cluster.objects import Object
from kohort.simulator.component import Moment


def find(conditions: list[Object], name: str) -> Object | None:
    """The condition of that type."""
    return next((c for c in conditions if c["type"] == name), None)


def drop(conditions: list[Object], name: str) -> list[Object]:
    """All conditions but those of that type."""
    return [c for c in conditions if c["type"] != name]


def put(conditions: list[Object], new: Object, moment: Moment) -> list[Object]:
    """The conditions with a new one (type, status, reason, message) in place of its like."""
    old = find(conditions, new["type"])
    if old and (old["status"], old.get("reason")) == (new["status"], new.get("reason")):
        return conditions
    return [*drop(conditions, new["type"]), stamp(new, old, moment)]


def stamp(new: Object, old: Object | None, moment: Moment) -> Object:
    """A condition with its times, given the one that it replaces."""
    is_same = old is not None and old["status"] == new["status"]
    changed = old["lastTransitionTime"] if old is not None and is_same else moment.stamp
    return {**new, "lastUpdateTime": moment.stamp, "lastTransitionTime": changed}
