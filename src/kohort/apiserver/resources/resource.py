"""
A resource as one value: all that the server needs to serve a kind in one version.

A resource is a value. Built-in ones are rows of a table, custom ones are made
from their definitions; the API treats both alike. What makes a kind different
when it is written (defaults, what a user may set, what may change, what is
valid) is its behaviour: a few pure functions.

Functions of a behaviour may change the object that they are given: the API
hands them a copy of their own. They must not change ``old``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Protocol

from kohort.apiserver.resources.printers import Printer
from kohort.apiserver.schemas.shapes import Shape
from kohort.apiserver.schemas.structural import Structural
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Kind, Object

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def _nothing(obj: Object) -> None:
    pass


def _keep(obj: Object, old: Object) -> None:
    pass


def _valid(obj: Object, old: Object | None) -> list[FieldError]:
    return []


def _no_fields(obj: Object) -> Mapping[str, str]:
    return {}


def _no_warnings(obj: Object, old: Object | None) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How objects of one kind are defaulted, prepared, checked and selected."""

    default: Callable[[Object], None] = _nothing  # on every write, again after mutating webhooks
    prepare_create: Callable[[Object], None] = _nothing  # fields that a user may not set
    finish_create: Callable[[Object], None] = _nothing  # what follows from the spec after admission
    prepare_update: Callable[[Object, Object], None] = _keep  # (new, old)
    prepare_status: Callable[[Object, Object], None] = _keep  # (new, old), status subresource
    validate: Callable[[Object, Object | None], list[FieldError]] = _valid
    validate_status: Callable[[Object, Object | None], list[FieldError]] = _valid
    warn: Callable[[Object, Object | None], list[str]] = _no_warnings
    fields: Callable[[Object], Mapping[str, str]] = _no_fields  # what field selectors may name


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the scale subresource finds its numbers, as field paths without a leading dot."""

    spec_replicas: tuple[str, ...] = ("spec", "replicas")
    status_replicas: tuple[str, ...] = ("status", "replicas")
    selector: tuple[str, ...] = ()  # a string, or a label selector that is written as one
    has_plain_selector: bool = False  # the selector is nothing but labels


class Conversion(Protocol):
    """How objects of a custom kind with several versions are seen in one of them."""

    waits: bool  # whether a webhook converts, so that ``learn`` must come before ``seen``

    def seen(self, entry: StoredObject) -> StoredObject:
        """A stored object in this version; unchanged if it is stored in it."""

    def knows(self, entry: StoredObject) -> bool:
        """Whether the object's form in this version is known without a call of the webhook."""

    async def learn(self, entries: Iterable[StoredObject], *, fresh: bool = False) -> None:
        """Convert objects so that ``seen`` has them; ``fresh`` calls again. Raises ClusterError."""

    async def to_storage(self, obj: Object) -> Object:
        """An object converted to the storage version. Raises ClusterError."""

    async def convert(self, obj: Object, api_version: str) -> Object:
        """An object converted to any version. Raises ClusterError."""

    def find_fields(self, obj: Object) -> dict[str, str]:
        """The values for field selectors, from an object in any version."""

    def find_schema(self, api_version: str) -> Structural | None:
        """The schema of one of the versions."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind in one version, with all that is needed to serve it."""

    kind: Kind
    shape: Shape
    printer: Printer
    behaviour: Behaviour = Behaviour()
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[str, ...] = ()  # such as "status", "scale", "eviction"
    scale: Scale | None = None
    storage: str = ""  # the bucket; versions of one kind share it
    has_generation: bool = False  # generation rises when the spec changes
    deprecation: str = ""  # the warning for clients of a deprecated version
    may_appear: bool = False  # an update of a missing object creates it
    graceful: bool = False  # deletion waits for a grace period (pods)
    fields: tuple[str, ...] = ()  # supported field selectors besides metadata.name and namespace
    structural: Structural | None = None  # custom kinds: schema with defaults, pruning, rules
    schema: Object = field(default_factory=dict)  # custom kinds: the raw schema, to publish it
    to_storage: Callable[[Object], Object] | None = None  # where a version is stored as another
    from_storage: Callable[[Object], Object] | None = None
    conversion: Conversion | None = None  # custom kinds with several versions

    @property
    def bucket(self) -> str:
        """The store's bucket for objects of this kind."""
        return self.storage or self.kind.group_resource

    def serves(self, subresource: str) -> bool:
        """Whether the subresource exists; the object itself always does."""
        return not subresource or subresource in self.subresources


def select_fields(kind: Kind, behaviour: Behaviour, obj: Object) -> dict[str, str]:
    """The values for field selectors in an object of a kind."""
    metadata = obj["metadata"]
    fields = {"metadata.name": metadata["name"]}
    if kind.namespaced:
        fields["metadata.namespace"] = intern(metadata.get("namespace", ""))
    fields.update(behaviour.fields(obj))
    return fields
