"""
Why a scheduler has not placed a gang, as the conditions of the gang's object say it.

Schedulers use two forms: a condition that says no, or the lack of one that says yes.
"""

from collections.abc import Iterator

from kohort.cluster.objects import Object

_SCHEDULED = ("PodGroupScheduled", "PodGroupInitiallyScheduled")


def find_objections(obj: Object) -> Iterator[str]:
    """The messages of conditions which say that the gang could not be placed."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        name, is_true = condition.get("type"), condition.get("status") == "True"
        says_no = (name == "Unschedulable" and is_true) or (name in _SCHEDULED and not is_true)
        if says_no and condition.get("message"):
            yield condition["message"]
