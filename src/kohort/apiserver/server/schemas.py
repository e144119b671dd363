"""
The published OpenAPI documents, one for each group and version, cached until kinds change.

A document is written when it is first asked for: the index only needs to know
when one has changed, and that follows from the kinds in it.
"""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import orjson

from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.openapi import (
    RELEASE,
    Published,
    encode_document,
    name_document,
    write_document,
    write_index,
)
from kohort.apiserver.schemas.openapi_documents.gnostic import write_protobuf
from kohort.apiserver.schemas.openapi_documents.swagger import merge_documents


class Schema(NamedTuple):
    """One document, and the hash of its content for URLs."""

    raw: bytes
    digest: str


class _Version:
    """The kinds of one group and version."""

    def __init__(self, resources: list[Resource]) -> None:
        self.resources = resources
        self.digest = _digest(resources)
        self.raw = b""


class Schemas:
    """The published schemas of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._versions: dict[str, _Version] = {}
        self._index = b""
        self._merged: dict[bool, bytes] = {}  # the OpenAPI v2 document, by whether in protobuf

    def index(self) -> bytes:
        """The list of documents."""
        self._refresh()
        return self._index

    def find(self, name: str) -> Schema | None:
        """One document, by a name such as ``apis/apps/v1``."""
        self._refresh()
        version = self._versions.get(name)
        if version is None:
            return None
        if not version.raw:
            version.raw = encode_document(write_document(list(map(_publish, version.resources))))
        return Schema(version.raw, version.digest)

    def find_merged(self, *, as_protobuf: bool) -> bytes | None:
        """The OpenAPI v2 document of everything, if it is written already."""
        self._refresh()
        return self._merged.get(as_protobuf)

    def prepare_merged(self) -> Callable[[], tuple[bytes, bytes]]:
        """The work that writes the OpenAPI v2 document, as JSON and as protobuf: half a second."""
        self._refresh()
        versions = [list(map(_publish, v.resources)) for v in self._versions.values()]

        def write() -> tuple[bytes, bytes]:
            document = merge_documents(map(write_document, versions), RELEASE)
            return encode_document(document), write_protobuf(document)

        return write

    def keep_merged(self, generation: int, written: tuple[bytes, bytes]) -> None:
        """Remember the document that was written for this generation of the registry."""
        if generation == self._generation:
            self._merged = {False: written[0], True: written[1]}

    @property
    def generation(self) -> int:
        """The generation of the registry that is published."""
        self._refresh()
        return self._generation

    def _refresh(self) -> None:
        if self._generation == self._registry.generation:
            return
        self._generation = self._registry.generation
        found: dict[str, list[Resource]] = {}
        for resource in self._registry.resources():
            name = name_document(resource.kind.group, resource.kind.version)
            found.setdefault(name, []).append(resource)
        self._versions = {name: self._keep(name, kinds) for name, kinds in found.items()}
        digests = {name: version.digest for name, version in self._versions.items()}
        self._index = encode_document(write_index(digests))
        self._merged = {}

    def _keep(self, name: str, resources: list[Resource]) -> _Version:
        """The cached document of a version, if its kinds are unchanged."""
        known = self._versions.get(name)
        if known is not None and list(map(id, known.resources)) == list(map(id, resources)):
            return known
        return _Version(resources)


def _publish(resource: Resource) -> Published:
    is_custom = resource.structural is not None
    return Published(
        kind=resource.kind,
        shape=None if is_custom else resource.shape,
        schema=resource.schema,
        list_kind=resource.list_kind,
        verbs=resource.verbs,
        subresources=resource.subresources,
    )


def _digest(resources: list[Resource]) -> str:
    facts = [[r.kind.name, r.kind.plural, r.subresources, r.schema] for r in resources]
    return hashlib.sha512(orjson.dumps([RELEASE, facts])).hexdigest().upper()
