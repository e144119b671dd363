"""
Members as every carrier reads them: where a pod stands, and how it is.

Where it stands is written by the API, each in labels and annotations of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kohort.apis.facts import Meta, PodFacts
from kohort.model.observed import Member
from kohort.model.units import Phase

_BROKEN = ("CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError")


@dataclass(frozen=True, slots=True)
class Reader:
    """How an API writes places and revisions on pods and sets."""

    group_of: Callable[[Meta], int | None]  # the group of a pod
    index_of: Callable[[Meta], int | None]  # the place of a pod in its group; 0 is the entry
    revision_of: Callable[[Meta], str]
    size_of: Callable[[Meta], int]  # members of the group, by its entry pod


def read_member(reader: Reader, index: int, pod: PodFacts, is_current: bool) -> Member:
    """One pod as a member of its group."""
    status = pod.status
    is_alive = status.phase in ("Pending", "Running")
    return Member(
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        index=index,
        revision=reader.revision_of(pod.metadata),
        phase=_phase_of(pod),
        is_pending=status.phase in ("", "Pending"),
        has_restarted=is_alive and pod.restarts > 0,
        is_current=is_current,
        is_placed=bool(pod.spec.node_name),
    )


def _phase_of(pod: PodFacts) -> Phase:
    if pod.metadata.is_leaving:
        return Phase.LEAVING
    if pod.is_ready:
        return Phase.READY
    if pod.status.phase == "Failed" or pod.waits_for in _BROKEN:
        return Phase.BROKEN
    return Phase.STARTING
