"""
The pods that the garbage collector deletes with an object: direct or indirect children; pure.
"""

from collections.abc import Iterable

from kohort.cluster.objects import Object, metadata_of, name_of, namespace_of, uid_of
from kohort.takeover.report import join_name


def list_owned_pods(uid: str, objects: Iterable[Object]) -> tuple[str, ...]:
    """The pods among the objects that the object with this uid owns, directly or indirectly."""
    found = list(objects)
    owned: dict[str, list[Object]] = {}
    for obj in found:
        for owner in metadata_of(obj).get("ownerReferences") or ():
            owned.setdefault(str(owner.get("uid", "")), []).append(obj)
    waiting = [obj for obj in found if uid_of(obj) == uid] or owned.get(uid, [])
    gone: dict[str, Object] = {}
    while waiting:
        obj = waiting.pop()
        if uid_of(obj) not in gone:
            gone[uid_of(obj)] = obj
            waiting.extend(owned.get(uid_of(obj), ()))
    pods = [obj for obj in gone.values() if obj.get("kind") == "Pod"]
    return tuple(sorted(join_name(namespace_of(pod), name_of(pod)) for pod in pods))
