"""
A pod of a ModelServing as caches keep it: with its place, read once from its labels and its name.

Labels can be forged and names cannot, so a pod stands where both agree, or nowhere.
"""

import msgspec

from kohort.apis.carriers.members import read_cost
from kohort.apis.facts import PodFacts, add_details
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.instances import PodPlace, find_place


class ServingPod(PodFacts):
    """A pod, and where it stands."""

    place: PodPlace | None = None
    cost: int = 0  # what its deletion costs


_decoder = msgspec.json.Decoder(ServingPod)


def read_pod(raw: bytes) -> ServingPod:
    """A pod; None stands where the labels and the name do not fit."""
    pod = add_details(_decoder.decode(raw), raw)
    marks = pod.metadata.labels
    pod.place = find_place(marks.get(labels.NAME, ""), pod.metadata.name, marks)
    pod.cost = read_cost(pod.metadata.annotations.get(labels.DELETION_COST, ""))
    return pod
