"""
How users learn of edits by other clients: a condition while they last, and events.

The condition appears once it has been true. A restored edit has its event at once, even if
the status is written later.
"""

from collections.abc import Iterator

from kohort.apis.api import ExecutionSummary, Snapshot
from kohort.cluster.actions import Delete, Patch
from kohort.cluster.objects import Object, find_condition
from kohort.model.plans import Plan
from kohort.model.reasons import Notice

DRIFTED = "Drifted"
SEPARATOR = "; "
_MESSAGE_MAX = 32_768


def judge_edits(
    conditions: list[Object], drift: tuple[str, ...], generation: int, now: str
) -> list[Object]:
    """Set the Drifted condition: whether other clients edited our objects; absent if never."""
    message = SEPARATOR.join(drift)[:_MESSAGE_MAX]
    claim = {"status": "True", "reason": "EditedByOthers", "message": message}
    if not drift:
        claim = {"status": "False", "reason": "AsWritten", "message": "all is as it was written"}
    return put_rare_claim(conditions, DRIFTED, claim, generation, now)


def put_rare_claim(
    conditions: list[Object], kind: str, claim: Object, generation: int, now: str
) -> list[Object]:
    """Set a condition that appears only once it has been true."""
    held = next((c for c in conditions if c.get("type") == kind), None)
    if claim["status"] != "True" and (held is None or held.get("status") != "True"):
        return conditions
    if held is None:
        held = {"type": kind, "lastTransitionTime": now}
        conditions.append(held)
    elif held.get("status") != claim["status"]:
        held["lastTransitionTime"] = now
    held.update(claim, observedGeneration=generation)
    return conditions


def list_edit_events(snapshot: Snapshot, plan: Plan, summary: ExecutionSummary) -> Iterator[Notice]:
    """One event for each edit that was undone, and one when Drifted becomes true."""
    undone = [a.undoes for a in summary.done if isinstance(a, Patch | Delete) and a.undoes]
    for text in dict.fromkeys(undone):
        yield Notice("Warning", DRIFTED, text[:1_000], "Update")
    held = find_condition(snapshot.root, DRIFTED) or {}
    is_told = any(puts.is_recent for puts in snapshot.put_backs.values())
    is_new = held.get("status") != "True" and not undone and not is_told
    if is_new and summary.is_reported and plan.report.drift:
        yield Notice("Warning", DRIFTED, SEPARATOR.join(plan.report.drift)[:1_000], "Update")


def list_recent(snapshot: Snapshot) -> Iterator[str]:
    """The edits that were undone a moment ago, each in a sentence."""
    yield from dict.fromkeys(puts.why for puts in snapshot.put_backs.values() if puts.is_recent)
