"""
References and projections: objects beside a workload that it neither has as members nor makes.

A reference is to an object that a workload names and does not own, such as a profile that many
share: when it changes, the operator reconciles the workloads that name it; the snapshot holds it.
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
    """A kind of object that workloads refer to by name."""

    kind: Kind
    find_names: Callable[[Object], tuple[Key, ...]]  # the names in a workload
    decode: Callable[[bytes], Any] = Whole
    remedy: str = ""  # how the user gets the kind served; empty: it comes with the API
    labels: str = ""  # only objects that match this selector are watched
    # The names by which workloads refer to an object, where they differ from its own.
    names_of: Callable[[Any], tuple[Key, ...]] | None = None
    # What workloads depend on in an object: if only something else changes, none is reconciled.
    reads: Callable[[Any], object] | None = None
    only: str = ""  # only objects of this name are watched
    namespace: str = ""  # only objects of this namespace are watched; empty: of all
    is_shown: bool = True  # false: the operator alone reads it, and commands do without

    def is_same(self, old: Any, new: Any) -> bool:
        """Whether a change of an object makes no difference for the workloads that name it."""
        return self.reads is not None and bool(self.reads(old) == self.reads(new))

    @property
    def selection(self) -> Selection:
        """The selection of objects that the operator watches."""
        fields = f"metadata.name={self.only}" if self.only else ""
        return Selection(self.kind, self.namespace, self.labels, fields)


@dataclass(frozen=True, slots=True)
class Projection:
    """A child from the snapshot, and the status that the operator should write."""

    kind: Kind
    obj: Object
    status: Object
    is_ready: bool = False  # it became ready, which a controller waits for: write it at once
    is_partial: bool = False  # only that more members are ready, not yet all: it may wait
