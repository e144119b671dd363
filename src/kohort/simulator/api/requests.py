"""
Requests and answers of the API, as values, whoever asks.

The HTTP server makes them from paths, queries and bodies; the simulated parts
and tests make them directly. Nothing here knows of sockets or headers.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from kohort.cluster.objects import Object
from kohort.cluster.selectors import ANY_FIELDS, EVERYTHING, FieldSelector, LabelSelector
from kohort.simulator.resources.resource import Resource


class Validation(StrEnum):
    """What happens to fields that the schema does not know."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


class PatchType(StrEnum):
    """The forms of a patch, by their media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class User:
    """Who asks, as admission webhooks are told."""

    name: str = "kohort-admin"
    groups: tuple[str, ...] = ("system:masters", "system:authenticated")


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about: a kind, and where it matters a name and a subresource."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a create, update or patch is meant."""

    manager: str = "unknown"
    dry_run: bool = False
    validation: Validation = Validation.WARN
    force: bool = False  # server-side apply takes fields from other managers
    user: User = User()
    size: int = 0  # of what was sent, in bytes; much of it is worked on aside


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How a deletion is meant."""

    grace_seconds: int | None = None
    propagation: str | None = None  # Orphan, Background, Foreground
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False
    user: User = User()


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Which objects of a kind, and from which version."""

    labels: LabelSelector = EVERYTHING
    fields: FieldSelector = ANY_FIELDS
    limit: int = 0
    continue_from: str = ""
    resource_version: str = ""
    match: str = ""  # resourceVersionMatch: Exact, NotOlderThan


SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a write or a read gives: an encoded object, a code and warnings."""

    raw: bytes
    code: int = 200
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list: encoded objects, the version they are of, and where to go on."""

    items: list[bytes]
    resource_version: str
    continue_from: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch: its form, and its decoded content (a list for JSON patches)."""

    type: PatchType
    content: Object | list[Object] = field(default_factory=dict)
