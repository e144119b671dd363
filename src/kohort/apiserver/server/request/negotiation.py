"""
Content negotiation: chooses the form of the response by the Accept header.

We write JSON and YAML. A client that would rather have protobuf is given JSON:
Go clients look at the type of what they get. Headers repeat, so each is read once.
"""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from kohort.cluster.errors import NotAcceptable

JSON = "application/json"
YAML = "application/yaml"
_MEDIA = {
    JSON: JSON,
    YAML: YAML,
    "application/vnd.kubernetes.protobuf": JSON,
    "*/*": JSON,
}
_OFFERED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_STREAMED = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
_CONVERSIONS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_DISCOVERY = "APIGroupDiscoveryList"


class Offer(StrEnum):
    """The kind of request, which decides the error for an Accept header without a match."""

    OBJECT = "object"
    COLLECTION = "collection"
    CUSTOM = "custom"  # an object or a collection of a custom kind
    DISCOVERY = "discovery"


class Form(NamedTuple):
    """The form of a response: its media type, and the kind that objects are converted to."""

    media: str = JSON
    convert: str = ""  # Table, PartialObjectMetadata(List), APIGroupDiscoveryList, or nothing
    version: str = "v1"  # of the group that the converted form is in


PLAIN = Form()


class _Clause(NamedTuple):
    media: str
    parameters: dict[str, str]
    weight: float


def _clauses(header: str) -> list[_Clause]:
    found = []
    for text in header.split(","):
        media, *rest = (part.strip() for part in text.split(";"))
        parameters = dict(part.split("=", 1) for part in rest if "=" in part)
        found.append(_Clause(media.lower(), parameters, _weight(parameters.get("q", "1"))))
    return sorted(found, key=lambda clause: -clause.weight)


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


@lru_cache(maxsize=512)
def _choose(header: str, offer: Offer) -> Form | NotAcceptable:
    if not header.strip():
        return PLAIN
    known = [clause for clause in _clauses(header) if clause.media in _MEDIA]
    if not known:
        return _refuse(offer)
    for clause in known:
        form = _read_clause(clause, offer)
        if form is not None:
            return form
    return _nothing_else()


def _nothing_else() -> NotAcceptable:
    return NotAcceptable(f"only the following media types are accepted: {_OFFERED}")


def _refuse(offer: Offer) -> NotAcceptable:
    if offer in (Offer.CUSTOM, Offer.DISCOVERY):
        return _nothing_else()
    offered = f"{_OFFERED}, {_STREAMED}" if offer is Offer.COLLECTION else _OFFERED
    return NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {offered}", details={})


def _read_clause(clause: _Clause, offer: Offer) -> Form | None:
    media = _MEDIA[clause.media]
    convert = clause.parameters.get("as", "")
    if not convert:
        return Form(media)
    group, version = clause.parameters.get("g"), clause.parameters.get("v", "")
    if offer is Offer.DISCOVERY:
        is_offered = (convert, group, version) == (_DISCOVERY, "apidiscovery.k8s.io", "v2")
        return Form(media, convert, version) if is_offered else None
    if convert in _CONVERSIONS and group == "meta.k8s.io" and version in ("v1", "v1beta1"):
        return Form(media, convert, version)
    return None


def choose_form(header: str, offer: Offer = Offer.OBJECT) -> Form:
    """The supported form that the client prefers."""
    found = _choose(header, offer)
    if isinstance(found, NotAcceptable):
        raise NotAcceptable(found.message, details=found.details)
    return found


def check_stream(form: Form) -> None:
    """Refuse a watch in another form than JSON."""
    if form.media != JSON:
        raise NotAcceptable(f"only the following media types are accepted: {_STREAMED}")


@lru_cache(maxsize=512)
def wants_indent(pretty: str | None, agent: str) -> bool:
    """Whether to indent the response: by ``pretty``, or for browsers and curl."""
    if pretty is not None:
        return pretty in ("1", "t", "T", "true", "TRUE", "True")
    return agent.startswith(("curl/", "Wget/", "Mozilla/5.0"))
