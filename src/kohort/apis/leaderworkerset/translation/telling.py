"""
What a LeaderWorkerSet's user is told, in upstream's words.

Events are made from what a plan does, after it was done, so a plan that does
nothing says nothing.
"""

from collections.abc import Iterator

from kohort.apis.api import Family, Reading
from kohort.apis.leaderworkerset.translation.reading import STATEFUL_SET, Memory
from kohort.apis.leaderworkerset.translation.status import TEXTS, claims
from kohort.cluster.actions import Action, Create
from kohort.cluster.objects import Object, name_of
from kohort.model.plans import Plan, Rollout
from kohort.model.reasons import Notice


def tell(
    family: Family, reading: Reading, plan: Plan, actions: tuple[Action, ...]
) -> tuple[Notice, ...]:
    """The events that a plan is worth, once these actions of it have been carried out."""
    if reading.workload.is_leaving:
        return ()
    made = [a.obj for a in actions if isinstance(a, Create) and a.kind == STATEFUL_SET]
    texts = [f"Created worker statefulset for leader pod {name_of(obj)}" for obj in made]
    told = [Notice("Normal", "GroupsProgressing", text, "Create") for text in texts]
    return (*_notices(family.root, reading, plan), *told)


def _notices(lws: Object, reading: Reading, plan: Plan) -> Iterator[Notice]:
    memory: Memory = reading.memory
    name = name_of(lws)
    if memory.revision is None:
        yield Notice("Normal", "CreatingRevision", _revision_text(memory), "Create")
    elif memory.leader_set is None:
        text = f"Created leader statefulset {name}"
        yield Notice("Normal", "GroupsProgressing", text, "Create")
    else:
        yield from _rollout_notices(name, reading, plan.rollout)
    for restart in plan.restarts:
        leader = f"{name}-{restart.ordinal}"
        text = (
            f"Worker pod {restart.cause} failed, deleted leader pod {leader} "
            f"to recreate group {restart.ordinal}"
        )
        yield Notice("Normal", "RecreateGroup", text, "Delete", related=leader)
    yield from _condition_notices(lws, reading, plan)


def _revision_text(memory: Memory) -> str:
    if memory.leader_set is None:
        return f"Creating revision with key {memory.key} for a newly created LeaderWorkerSet"
    if not memory.revisions:
        return f"Creating missing revision with key {memory.key} for existing LeaderWorkerSet"
    return f"Creating revision with key {memory.key} for updated LWS"


def _rollout_notices(name: str, reading: Reading, rollout: Rollout) -> Iterator[Notice]:
    progress = reading.observed.progress
    if progress is None:
        return
    if progress.target == reading.workload.revision and rollout.boundary < progress.boundary:
        first, last = rollout.boundary, progress.boundary - 1
        text = f"Updating replica {first}"
        if first != last:
            text = f"Updating replicas {first} to {last} (inclusive)"
        yield Notice("Normal", "GroupsUpdating", text, "Update")
    if rollout.count < progress.count and progress.noted == reading.workload.groups:
        text = f"deleting surge replica {name}-{rollout.count}"
        if rollout.count < progress.count - 1:
            text = (
                f"deleting surge replicas from {name}-{rollout.count} to "
                f"{name}-{progress.count - 1}"
            )
        yield Notice("Normal", "GroupsProgressing", text, "Delete")


def _condition_notices(lws: Object, reading: Reading, plan: Plan) -> Iterator[Notice]:
    held = {
        c["type"]: c.get("status") == "True"
        for c in (lws.get("status") or {}).get("conditions") or ()
    }
    first = claims(plan.report)[0]
    if held.get(first) or reading.observed.progress is None:
        return
    reason, message = TEXTS[first]
    report = plan.report
    text = f"{message}, with {report.groups_ready} groups ready of total {report.wanted} groups"
    yield Notice("Normal", reason, text, "Update")
