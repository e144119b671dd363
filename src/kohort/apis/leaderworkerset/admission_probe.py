"""
Whether our webhook admits pods again, and how to make the StatefulSet controller retry.

The StatefulSet controller creates the pods, and backs off after each failure. A changed
annotation makes it look at a set at once.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from kohort.apis.api import AdmissionProbe, Snapshot
from kohort.apis.facts import PodFacts, SetFacts
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.leaderworkerset.drift.labels import find_missing
from kohort.cluster.actions import Action, Patch
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, namespace_of
from kohort.cluster.port import Address

WOKEN = "kohort.dev/woken-at"
_NOBODY = "999999999"
ASKED_MAX = 5  # how many missing members are read by name at once


def make_probe(snapshot: Snapshot) -> AdmissionProbe | None:
    """A leader for a dry-run create; None if the operator makes the pods, without a webhook."""
    lws = snapshot.root
    if annotations_of(lws).get(labels.CARRIER) == "pods" or spec.replicas_of(lws) == 0:
        return None
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name_of(lws)}-{_NOBODY}",
            "namespace": namespace_of(lws),
            "labels": {labels.NAME: name_of(lws), labels.WORKER_INDEX: "0"},
            "annotations": {labels.SIZE: "1"},
        },
        "spec": {"containers": [{"name": "rehearsal", "image": "rehearsal"}]},
    }
    return AdmissionProbe(
        POD,
        namespace_of(lws),
        pod,
        _is_admitted,
        lambda: islice(find_missing(snapshot), ASKED_MAX),
    )


def _is_admitted(pod: Object) -> bool:
    return labels.GROUP_INDEX in labels_of(pod)


def wake(snapshot: Snapshot, now: str) -> tuple[Action, ...]:
    """Patch an annotation of each StatefulSet that lacks pods, to wake its controller."""
    pods: tuple[PodFacts, ...] = snapshot.all(POD)
    made = Counter(pod.metadata.controller for pod in pods)
    return tuple(_touches(snapshot.all(STATEFUL_SET), made, now))


def _touches(sets: tuple[SetFacts, ...], made: Counter[str], now: str) -> Iterator[Action]:
    for found in sets:
        metadata = found.metadata
        if metadata.is_leaving or made[metadata.uid] >= found.spec.replicas:
            continue
        address = Address(STATEFUL_SET, metadata.namespace, metadata.name)
        note = {"metadata": {"uid": metadata.uid, "annotations": {WOKEN: now}}}
        yield Patch(address, note, why=f"{metadata.name} lacks pods, and they can be made again")
