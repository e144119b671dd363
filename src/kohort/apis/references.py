"""
References and projections: objects beside a workload that are neither its members nor its makings.

A reference is to an object that a workload names and does not own, such as a profile that many
share: when it changes, the workloads that name it are looked at again, and the snapshot holds it.
A projection is a child whose status the operator writes, as another controller would.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kohort.apis.facts import Whole
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Selection

Key = tuple[str, str]  # namespace and name; the namespace is empty where a kind has none


@dataclass(frozen=True, slots=True)
class Reference:
    """A kind of object that workloads name."""

    kind: Kind
    find_names: Callable[[Object], tuple[Key, ...]]  # those that a workload names
    decode: Callable[[bytes], Any] = Whole
    remedy: str = ""  # what to do where the kind is not served; empty: it comes with the API
    labels: str = ""  # only objects that match this selector are watched
    # The names by which workloads refer to an object, where that is not its own.
    names_of: Callable[[Any], tuple[Key, ...]] | None = None
    only: str = ""  # only objects of this name are watched, in whichever namespace
    is_shown: bool = True  # false: the operator alone reads it, and commands do without

    @property
    def selection(self) -> Selection:
        """Which objects are watched."""
        fields = f"metadata.name={self.only}" if self.only else ""
        return Selection(self.kind, labels=self.labels, fields=fields)


@dataclass(frozen=True, slots=True)
class Projection:
    """A child, as the snapshot has it, and the status that it should have."""

    kind: Kind
    obj: Object
    status: Object
