"""
The parts that every verb of the API uses: store, kinds, admission, clock and random numbers.

Time and chance are given from outside, so that a simulation replays bit for bit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from random import Random

from kohort.apiserver.api.admission import Admission, NoAdmission
from kohort.apiserver.api.conversion import AskWebhook, refuse_conversion
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import Target
from kohort.apiserver.aside import Aside, at_once
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.go_json import write_builtin, write_custom
from kohort.apiserver.schemas.raw import find_raw_fields, keep_texts
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.store import Store, Write
from kohort.cluster.errors import not_found
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.cluster.timestamps import write_time

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(slots=True)
class Context:
    """The parts of the API server that a request uses."""

    store: Store
    registry: Registry
    clock: Callable[[], datetime]
    chance: Random
    admission: Admission = field(default_factory=NoAdmission)
    aside: Aside = at_once  # where large objects are worked on
    ask_webhook: AskWebhook = refuse_conversion  # how conversion webhooks are asked

    def stamp(self) -> str:
        """The current time as a Kubernetes timestamp."""
        return write_time(self.clock())

    def new_uid(self) -> str:
        """A fresh uid, in the form of a random UUID."""
        bits = self.chance.getrandbits(128)
        bits = bits & ~(0xF << 76) | (4 << 76)
        bits = bits & ~(0x3 << 62) | (2 << 62)
        digits = f"{bits:032x}"
        cuts = (0, 8, 12, 16, 20, 32)
        return "-".join(digits[a:b] for a, b in pairwise(cuts))

    def new_suffix(self) -> str:
        """Five characters for a generated name, without vowels."""
        return "".join(self.chance.choices(_SUFFIX_ALPHABET, k=5))

    def find(self, target: Target) -> StoredObject | None:
        """The stored object that a request is about."""
        return self.store.find(target.resource.bucket, (target.namespace, target.name))

    def find_objects(self, address: Address) -> list[Object]:
        """The stored objects at an address; without a name, all objects of the namespace."""
        resource = self.registry.find(address.kind.group, address.kind.version, address.kind.plural)
        if resource is None:
            return []
        if address.name:
            found = self.store.find(resource.bucket, (address.namespace, address.name))
            return [] if found is None else [found.decode()]
        entries = self.store.bucket(resource.bucket).entries
        spaces = ("", address.namespace)
        return [e.decode() for key, e in entries.items() if not spaces[1] or key[0] in spaces]

    def expect(self, target: Target) -> StoredObject:
        """The stored object that a request is about; it must exist."""
        entry = self.find(target)
        if entry is None:
            kind = target.resource.kind
            raise not_found(kind.plural, kind.group, target.name)
        return entry


async def learn(
    resource: Resource, entries: Iterable[StoredObject], *, fresh: bool = False
) -> None:
    """Convert objects to the version of the resource, by its webhook if needed, for later reads."""
    if resource.conversion is not None:
        await resource.conversion.learn(entries, fresh=fresh)


async def show(resource: Resource, entry: StoredObject) -> bytes:
    """A stored object in the version of the resource, as bytes, converted if needed."""
    await learn(resource, (entry,), fresh=True)
    return encode(resource, entry)


async def to_storage(resource: Resource, obj: Object) -> Object:
    """An object in its storage version."""
    if resource.conversion is not None:
        return await resource.conversion.to_storage(obj)
    return resource.to_storage(obj) if resource.to_storage else obj


def load(resource: Resource, entry: StoredObject) -> Object:
    """A stored object in the version of the resource, as a dictionary of its own."""
    if resource.conversion is not None:
        return load_stored(resource, resource.conversion.seen(entry))
    obj = load_stored(resource, entry)
    return resource.from_storage(obj) if resource.from_storage else obj


def load_stored(resource: Resource, entry: StoredObject) -> Object:
    """A stored object in the version in which it is stored."""
    obj = entry.decode()
    fields = find_raw_fields(resource.shape)
    return keep_texts(obj, entry.raw, fields) if fields else obj


def encode(resource: Resource, entry: StoredObject) -> bytes:
    """A stored object in the version of the resource, as bytes."""
    if resource.conversion is not None:
        return resource.conversion.seen(entry).raw
    if resource.from_storage is None:
        return entry.raw
    return write(resource, resource.from_storage(entry.decode()))


def write(resource: Resource, obj: Object) -> bytes:
    """The encoded form of an object of this kind for clients."""
    return writer_of(resource)(obj)


def writer_of(resource: Resource) -> Write:
    """The encoder for objects of a kind."""
    return write_builtin if resource.structural is None else write_custom
