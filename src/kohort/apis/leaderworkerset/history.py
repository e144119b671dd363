"""
Old revisions: kept for undo, without the labels by which upstream selects them.

When a rollout has ended, upstream deletes every revision but the current one. We replace its
labels on old revisions by one of our own and keep the last ten: users can roll back, and
upstream could take over again without seeing them.

A revision on which all groups were ready is marked before another replaces it: an undo goes to
the newest marked one. The mark is an annotation, written once.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading
from kohort.apis.facts import Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import HISTORY, Memory, find_revision, number_of
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Plan

KEPT_MAX = 10


def mark_served(lws: Object, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """Mark the revision that is about to be replaced if all groups were ready on it."""
    key = plan.served
    stored = find_revision(reading.memory.revisions, key)
    if stored is None or labels.SERVED in stored.metadata.annotations:
        return ()
    address = Address(CONTROLLER_REVISION, namespace_of(lws), stored.metadata.name)
    note = {"metadata": {"annotations": {labels.SERVED: "true"}}}
    return (Patch(address, note, why=f"revision {key} has served"),)


def render_history(lws: Object, revisions: tuple[Whole, ...], key: str) -> Iterator[Action]:
    """Relabel old revisions as history, and delete the oldest."""
    visible = [r for r in revisions if r.metadata.labels.get(labels.REVISION)]
    old = [r for r in visible if r.metadata.labels[labels.REVISION] != key]
    # A second object of the current revision, left by a race, is not history.
    aside = [r for r in revisions if HISTORY in r.metadata.labels]
    for revision in old:
        metadata = revision.metadata
        marks = {labels.NAME: None, labels.REVISION: None, HISTORY: name_of(lws)}
        address = Address(CONTROLLER_REVISION, namespace_of(lws), metadata.name)
        why = "the rollout has ended: kept for undo"
        yield Patch(address, {"metadata": {"labels": marks}}, why=why)
    surplus = len(aside) + len(old) - KEPT_MAX
    for revision in sorted(aside, key=number_of)[: max(0, surplus)]:
        metadata = revision.metadata
        why = f"more than {KEPT_MAX} old revisions"
        yield Delete(CONTROLLER_REVISION, namespace_of(lws), metadata.name, metadata.uid, why=why)
