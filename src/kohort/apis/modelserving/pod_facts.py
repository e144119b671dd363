"""
A pod of a ModelServing as caches keep it: with its place, read once from its labels and its name.

Labels can be forged and names cannot, so a pod stands where both agree, or nowhere.
"""

import msgspec

from kohort.apis.facts import PodFacts, add_details
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.instances import PodPlace, find_place
from kohort.cluster.numbers import find_whole


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
    pod.cost = _read_cost(pod.metadata.annotations.get(labels.DELETION_COST, ""))
    return pod


def _read_cost(text: str) -> int:
    negative = text.startswith("-")
    number = find_whole(text[1:] if negative else text)
    return 0 if number is None else -number if negative else number
