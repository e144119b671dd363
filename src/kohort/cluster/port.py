"""
The one door to the outside world.

The controller speaks to this protocol and to nothing else. An HTTP client and
the simulator's API both implement it, so the controller that runs in a
simulation is the controller that runs in production, line for line.

Reads that a plan depends on go through caches, which are filled by ``list`` and
``watch``; ``read`` is for what nobody caches. Every write raises a ClusterError
that says why it was refused.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from kohort.cluster.objects import Kind, Object


class PatchForm(StrEnum):
    """The forms of a patch, by their media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Address:
    """Which object, or part of one."""

    kind: Kind
    namespace: str
    name: str
    part: str = ""  # subresource, such as "status"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a kind: of one namespace or all, by labels and fields."""

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
        """Make an object; the answer is what was stored."""

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """What a create would store; nothing is stored."""

    async def read(self, address: Address) -> Object:
        """One object, fresh from the server."""

    async def update(self, address: Address, obj: Object) -> Object:
        """Replace an object; its resourceVersion guards against other writers."""

    async def patch(
        self,
        address: Address,
        patch: Object | list[Object],
        form: PatchForm = PatchForm.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object; the answer is what was stored."""

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Delete an object, only with that uid if one is given."""

    async def list(self, selection: Selection) -> Listing:
        """All objects that are selected, fetched in pages where the server has many."""

    def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """
        What changes from a version on; raises WatchExpired when it is too old.

        With ``initial`` the current state comes first, as ADDED lines, and a
        bookmark with the annotation ``k8s.io/initial-events-end`` ends it; a server
        that cannot do so raises Invalid or BadRequest, and one lists instead.
        """
