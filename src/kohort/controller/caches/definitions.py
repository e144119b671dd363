"""
CustomResourceDefinitions, reduced to one fact: whether the API server serves a kind.

Listing a kind that is not served costs a request and fails, so repeating it would be traffic at
rest. A watch of the definition by its name costs nothing while nothing happens. For kinds without
a definition, and definitions that the operator may not watch, the operator lists again with
backoff instead.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import msgspec

from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind
from kohort.cluster.port import Cluster, Selection

_BUILT_IN = ".k8s.io"  # the suffix of Kubernetes' own groups


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Version(msgspec.Struct):
    name: str = ""
    served: bool = False


class _Spec(msgspec.Struct):
    versions: list[_Version] = []  # msgspec copies an empty list for each object


class Definition(msgspec.Struct):
    """A CustomResourceDefinition, without its schemas."""

    spec: _Spec
    status: _Status | None = None

    def is_serving(self, version: str) -> bool:
        """Whether the API server serves the kind, in this version if one is named."""
        conditions = (self.status or _Status()).conditions or ()
        is_established = any(c.type == "Established" and c.status == "True" for c in conditions)
        names = {each.name for each in self.spec.versions if each.served}
        return is_established and (version in names if version else bool(names))


decode_definition = msgspec.json.Decoder(Definition).decode


def is_defined(kind: Kind) -> bool:
    """Whether a kind comes from a CustomResourceDefinition and is not built in."""
    return "." in kind.group and not kind.group.endswith(_BUILT_IN)


def select_definition(name: str) -> Selection:
    """The selection of one definition by its name."""
    return Selection(DEFINITION, fields=f"metadata.name={name}")


async def wait_until_defined(cluster: Cluster, kind: Kind) -> None:
    """Return when the definition of a kind is established, or when its watch ends."""
    stream = cluster.watch(select_definition(kind.group_resource), "", initial=True)
    try:
        async with AsyncExitStack() as stack:
            if isinstance(stream, AsyncGenerator):
                stack.push_async_callback(stream.aclose)
            async for change in stream:
                if change.type in ("ADDED", "MODIFIED") and _serves(change.raw, kind):
                    return
    except KohortError:
        return


def _serves(raw: bytes, kind: Kind) -> bool:
    try:
        return decode_definition(raw).is_serving(kind.version)
    except msgspec.MsgspecError:
        return False
