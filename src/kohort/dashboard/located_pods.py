"""
Located pods: where each pod of a cluster stands, and the GPUs that it takes.

A cluster has many pods, each of kilobytes: one is read when its place is first asked for, and
only the fields that say so are decoded.
"""

from typing import TypedDict

import msgspec

from kohort.views.topology.atlas import Sitter, read_sitter

_Amounts = dict[str, str | int | float] | None


class _Metadata(TypedDict, total=False):
    name: str
    namespace: str


class _Resources(TypedDict, total=False):
    requests: _Amounts


class _Container(TypedDict, total=False):
    resources: _Resources | None
    restartPolicy: str | None


class _Spec(TypedDict, total=False):
    nodeName: str | None
    containers: list[_Container] | None
    initContainers: list[_Container] | None
    resources: _Resources | None
    overhead: _Amounts


class _Status(TypedDict, total=False):
    phase: str | None


class _Pod(TypedDict, total=False):
    metadata: _Metadata
    spec: _Spec
    status: _Status | None


_decode = msgspec.json.Decoder(_Pod).decode


class LocatedPod:
    """A pod, of which only its place is read, once, when it is first asked for."""

    __slots__ = ("_raw", "_sitter")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._sitter: Sitter | None = None

    @property
    def sitter(self) -> Sitter:
        """The pod on its node."""
        if self._sitter is None:
            self._sitter, self._raw = read_sitter({**_decode(self._raw)}), b""
        return self._sitter
