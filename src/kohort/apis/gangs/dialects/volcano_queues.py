"""
Why Volcano keeps a PodGroup in its queue.

Volcano looks for room only for groups that their queue has let in: a queue must exist, be
open, and have enough of its capability left, and the cluster must have what the group asks for.
"""

from collections.abc import Iterator, Mapping, Sequence

from kohort.apis.gangs.objections import find_objections
from kohort.cluster.objects import Object
from kohort.placement.amounts import Amounts, read_amounts
from kohort.placement.sentences import write_amount

# As Volcano says it.
_OVER_QUOTA = "queue resource quota insufficient"
_OVERUSED = "resource in cluster is overused"


def judge_queue(
    obj: Object, queues: Mapping[str, Object], nodes: Sequence[Object]
) -> Iterator[str]:
    """What keeps a PodGroup in its queue, as sentences with a remedy."""
    spec = obj.get("spec") or {}
    name = spec.get("queue") or "default"
    queue = queues.get(name)
    if queue is None:
        yield f"queue {name} does not exist: make it, or name another"
        return
    state = (queue.get("status") or {}).get("state") or "Open"
    if state != "Open":
        yield f"queue {name} is {state} and admits no gang: open it, or name another"
    asked = read_amounts(spec.get("minResources"))
    cap = read_amounts((queue.get("spec") or {}).get("capability"))
    over = {r: amount for r, amount in asked.items() if r in cap and amount > cap[r]}
    if over:
        # A queue may be narrowed when the gang is in it: then it waits there for ever.
        yield (
            f"minResources asks for {_write(over)}, more than queue {name} may have: "
            "raise its capability, or name another"
        )
        return
    if any(_OVER_QUOTA in text for text in find_objections(obj)):
        # Pods may ask for more than minResources says, and others may be in the queue.
        yield (
            f"queue {name} may not have so much more: raise its capability, name another, "
            "or wait for those in it"
        )
        return
    if (obj.get("status") or {}).get("phase") != "Pending":
        return
    total = _sum_rooms(nodes)
    short = {r: amount for r, amount in asked.items() if amount > total.get(r, 0)}
    if short and nodes:
        yield f"minResources asks for {_write(short)}, more than the cluster has"
    elif any(_OVERUSED in text for text in find_objections(obj)):
        # Volcano promises some more than the cluster has, and what runs counts, too.
        yield (
            f"queue {name} has not let it in: what is left of the cluster is promised to groups "
            "that were let in before, so it waits until they run, or go"
        )


def _sum_rooms(nodes: Sequence[Object]) -> Amounts:
    total: Amounts = {}
    for node in nodes:
        room = read_amounts((node.get("status") or {}).get("allocatable"))
        for name, amount in room.items():
            total[name] = total.get(name, 0) + amount
    return total


def _write(amounts: Amounts) -> str:
    return ", ".join(f"{write_amount(name, amount)} {name}" for name, amount in amounts.items())
