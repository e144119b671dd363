"""
A pod of a ModelServing as the cache keeps it: with its place, read once from its name.

Clients can edit labels, but not names. The owner reference tells the workload, if the pod has
one; we restore labels that tell another place than the name does.
"""

import msgspec

from kohort.apis.carriers.members import read_cost
from kohort.apis.drift.pods import find_pod_edits
from kohort.apis.facts import Meta, PodFacts, add_details
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.instances import PodPlace, find_place, own_marks, place_marks

_REVISIONS = (labels.REVISION, labels.ROLE_TEMPLATE_HASH)


class ServingPod(PodFacts):
    """The cached fields of a pod, and its place."""

    place: PodPlace | None = None
    cost: int = 0  # its deletion cost
    # Labels of its place that differ from its name, with the right values.
    misplaced: dict[str, str | None] = msgspec.field(default_factory=dict)


_decoder = msgspec.json.Decoder(ServingPod)


def read_pod(raw: bytes) -> ServingPod:
    """Decode a pod; its place is None if its name is not that of a pod of its workload."""
    pod = add_details(_decoder.decode(raw), raw)
    serving = find_serving(pod.metadata)
    pod.place = find_place(serving, pod.metadata.name)
    pod.cost = read_cost(pod.metadata.annotations.get(labels.DELETION_COST, ""))
    pod.edits = find_pod_edits(raw, _REVISIONS)
    if pod.place is not None:
        pod.misplaced = _find_misplaced(pod.metadata, serving, pod.place)
    return pod


def find_serving(metadata: Meta) -> str:
    """The name of the workload that an object belongs to: its owner's, or else its label's."""
    owner = next((o for o in metadata.owner_references if o.controller), None)
    if owner is not None and owner.kind == labels.KIND.name:
        return owner.name
    return metadata.labels.get(labels.NAME, "")


def _find_misplaced(metadata: Meta, serving: str, place: PodPlace) -> dict[str, str | None]:
    held, wanted = metadata.labels, place_marks(serving, place)
    own = own_marks(metadata.namespace, serving, place.group)
    # Pods that another controller made lack our labels: that is no edit.
    wanted |= own if any(key in held for key in own) else {}
    found: dict[str, str | None] = {k: v for k, v in wanted.items() if held.get(k) != v}
    if place.index > 0 and labels.ENTRY in held:
        found[labels.ENTRY] = None
    return found
