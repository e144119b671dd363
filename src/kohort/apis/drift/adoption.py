"""
How a workload becomes the owner again of objects that were orphaned.

``kubectl delete --cascade=orphan`` leaves all children running without an owner. Each API says
which of them were its own; the resourceVersion guards against another owner that comes first.
"""

from collections.abc import Iterator

from kohort.apis.facts import Meta
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Kind, Object, owner_reference
from kohort.cluster.port import Address


def adopt(root: Object, kind: Kind, found: Meta) -> Iterator[Action]:
    """Make the workload the owner of an object that has none."""
    if found.controller or found.is_leaving:
        return
    owners = [owner_reference(root)]
    body = {"ownerReferences": owners, "resourceVersion": found.resource_version}
    address = Address(kind, found.namespace, found.name)
    yield Patch(address, {"metadata": body}, why=f"{kind.name} {found.name} has lost its owner")
