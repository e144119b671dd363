"""
Old revisions: kept for undo, out of the sight of upstream's selectors.

When a rollout has ended, upstream deletes every revision but the current one. We
take its labels off them and put one of our own on, and keep the last ten, so that
somebody can go back, and so that upstream could take over again and see nothing.

A revision on which all groups served is marked before another takes its place: an
undo goes to the newest of those. The mark is an annotation, written once.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading
from kohort.apis.facts import Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import HISTORY, REVISION, Memory, number_of
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Plan

KEPT_MAX = 10


def mark_served(lws: Object, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """Remember that the revision that is about to be replaced has served."""
    key = plan.served
    stored = [r for r in reading.memory.revisions if r.metadata.labels.get(labels.REVISION) == key]
    if not key or not stored or labels.SERVED in stored[-1].metadata.annotations:
        return ()
    address = Address(REVISION, namespace_of(lws), stored[-1].metadata.name)
    note = {"metadata": {"annotations": {labels.SERVED: "true"}}}
    return (Patch(address, note, why=f"revision {key} has served"),)


def render_history(lws: Object, revisions: tuple[Whole, ...], key: str) -> Iterator[Action]:
    """Put old revisions aside, and let the oldest go."""
    visible = [r for r in revisions if r.metadata.labels.get(labels.REVISION)]
    old = [r for r in visible if r.metadata.labels[labels.REVISION] != key]
    # A second object of the current revision, left by a race, is not history (spec §16.5).
    aside = [r for r in revisions if HISTORY in r.metadata.labels]
    for revision in old:
        metadata = revision.metadata
        marks = {labels.NAME: None, labels.REVISION: None, HISTORY: name_of(lws)}
        address = Address(REVISION, namespace_of(lws), metadata.name)
        why = "the rollout has ended: kept for undo"
        yield Patch(address, {"metadata": {"labels": marks}}, why=why)
    surplus = len(aside) + len(old) - KEPT_MAX
    for revision in sorted(aside, key=number_of)[: max(0, surplus)]:
        metadata = revision.metadata
        why = f"more than {KEPT_MAX} old revisions"
        yield Delete(REVISION, namespace_of(lws), metadata.name, metadata.uid, why=why)
