"""
Parses request paths into group, version, namespace, resource, name and subresource.

Parsing is total: every text gives an address of resources, a document (discovery
and the like), or nothing. Whether the kind exists is for the registry to say.
"""

from typing import NamedTuple
from urllib.parse import unquote

from kohort.cluster.errors import BadRequest
from kohort.cluster.fields import show


class ResourcePath(NamedTuple):
    """A path below a group and version."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


class Document(NamedTuple):
    """A path that is not about resources, by its segments: () is the root."""

    segments: tuple[str, ...]
    is_folder: bool = False  # it ended in a slash


def parse_path(raw: str) -> ResourcePath | Document:
    """The meaning of a path as it stands in a request line, without the query."""
    path = unquote(raw) if "%" in raw else raw
    if "/namespaces//" in path:  # A client without a namespace means all namespaces.
        path = path.replace("/namespaces//", "/", 1)
    segments = path.split("/")
    if len(segments) > 3 and segments[0] == "" and segments[1] in ("api", "apis"):
        found = _parse_resource([segment for segment in segments[1:] if segment])
        if found is not None:
            return found
    return Document(tuple(segments[1:-1] if segments[-1] == "" else segments[1:]), path[-1:] == "/")


def _parse_resource(segments: list[str]) -> ResourcePath | None:
    head = 2 if segments[0] == "api" else 3
    rest = segments[head:]
    if not rest:
        return None
    group = "" if head == 2 else segments[1]
    version = segments[head - 1]
    if rest[0] != "namespaces":
        return ResourcePath(group, version, rest[0], "", *_object(rest[1:]))
    if len(rest) > 2 and not (len(rest) == 3 and rest[2] in ("status", "finalize")):
        return ResourcePath(group, version, rest[2], rest[1], *_object(rest[3:]))
    return ResourcePath(group, version, "namespaces", "", *_object(rest[1:]))


def _object(rest: list[str]) -> tuple[str, str]:
    return (rest[0] if rest else ""), "/".join(rest[1:])


def check_name(name: str) -> None:
    """Refuse names such as ``..`` before anything is looked up."""
    if name in (".", ".."):
        raise BadRequest(f"Name parameter invalid: {show(name)}: may not be '{name}'")
    if "%" in name:
        raise BadRequest(f"Name parameter invalid: {show(name)}: may not contain '%'")
