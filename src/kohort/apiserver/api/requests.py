"""
Requests and answers of the API as values, for HTTP clients and components alike.

The HTTP server makes them from paths, queries and bodies; the simulated parts
and tests make them directly. Nothing here knows of sockets or headers.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from kohort.apiserver.resources.resource import Resource
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType
from kohort.cluster.selectors import ANY_FIELDS, EVERYTHING, FieldSelector, LabelSelector


class Validation(StrEnum):
    """How unknown fields are treated (fieldValidation)."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request, as admission webhooks see it."""

    name: str = "kohort-admin"
    groups: tuple[str, ...] = ("system:masters", "system:authenticated")


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request: a kind, and perhaps a namespace, name and subresource."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a create, update or patch."""

    manager: str = "unknown"
    dry_run: bool = False
    validation: Validation = Validation.WARN
    force: bool = False  # server-side apply takes fields from other managers
    user: User = User()
    size: int = 0  # bytes of the body; a large one is worked on in a thread


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a deletion."""

    grace_seconds: int | None = None
    propagation: str | None = None  # Orphan, Background, Foreground
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False
    user: User = User()


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The options of a list or watch: selectors, version and limit."""

    labels: LabelSelector = EVERYTHING
    fields: FieldSelector = ANY_FIELDS
    limit: int = 0
    continue_from: str = ""
    resource_version: str = ""
    match: str = ""  # resourceVersionMatch: Exact, NotOlderThan


SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a request: an encoded object, an HTTP code and warnings."""

    raw: bytes
    code: int = 200
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: encoded objects, the list's version, and the continue token."""

    items: list[bytes]
    resource_version: str
    continue_from: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class PatchBody:
    """A patch: its form, and its decoded content (a list for JSON patches)."""

    type: PatchType
    content: Object | list[Object] = field(default_factory=dict)
