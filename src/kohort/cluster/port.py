"""
The interface through which the controller reads and writes a Kubernetes cluster.

The controller speaks to this protocol and to nothing else. An HTTP client and
the simulator's API both implement it, so the controller that runs in a
simulation is the controller that runs in production, line for line.

Reads that a plan depends on go through caches, which are filled by ``list`` and
``watch``; ``read`` is for what the operator does not cache. Every write raises a ClusterError
that says why it was refused.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from kohort.cluster.objects import Kind, Object


class PatchType(StrEnum):
    """The forms of a patch, by their media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an object or of one of its subresources."""

    kind: Kind
    namespace: str
    name: str
    part: str = ""  # subresource, such as "status"


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of objects of a kind: of one namespace or all, by labels and fields."""

    kind: Kind
    namespace: str = ""
    labels: str = ""
    fields: str = ""


class Listing(NamedTuple):
    """The encoded objects of a list, and the version it is of."""

    items: list[bytes]
    version: str


class WatchEvent(NamedTuple):
    """One line of a watch: ADDED, MODIFIED, DELETED or BOOKMARK, and the encoded object."""

    type: str
    raw: bytes


class Cluster(Protocol):
    """A Kubernetes API."""

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create an object; returns the object as stored."""

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create with dryRun; returns the object that a create would store."""

    async def read(self, address: Address) -> Object:
        """Read one object from the API server."""

    async def update(self, address: Address, obj: Object) -> Object:
        """Replace an object; its resourceVersion guards against other writers."""

    async def patch(
        self,
        address: Address,
        patch: Object | list[Object],
        form: PatchType = PatchType.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Patch an object; returns the object as stored."""

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Delete an object, only with that uid if one is given."""

    async def list(self, selection: Selection) -> Listing:
        """List all selected objects, page by page."""

    def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """
        Watch the selected objects from a version on; raises WatchExpired if it is too old.

        With ``initial`` the current state comes first, as ADDED lines, and a
        bookmark with the annotation ``k8s.io/initial-events-end`` ends it; a server
        that cannot do so raises Invalid or BadRequest, and the caller lists instead.
        """
