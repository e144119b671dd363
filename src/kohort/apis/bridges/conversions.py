"""
Convert all documents of an input at once: the sets, and on request the objects that select them.

Towards ModelServing, those of its former API group are converted, too.
Documents of other kinds pass unchanged, in their places.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kohort.apis.bridges.conversion_report import Converted, ReportLine
from kohort.apis.bridges.former_group import convert_former
from kohort.apis.bridges.lws_to_ms import convert_to_serving
from kohort.apis.bridges.ms_to_lws import convert_to_lws, find_role
from kohort.apis.bridges.selectors import Rewriter
from kohort.apis.leaderworkerset import labels as lws_labels
from kohort.apis.modelserving import labels
from kohort.cluster.objects import Kind, Object, name_of, namespace_of

TO_SERVING, TO_LWS = "ms", "lws"
TARGETS = (TO_SERVING, TO_LWS)
Convert = Callable[[Object, str], Converted]
_FROM: Mapping[str, Mapping[Kind, Convert]] = {
    TO_SERVING: {lws_labels.KIND: convert_to_serving, labels.ALIAS_KIND: convert_former},
    TO_LWS: dict.fromkeys(labels.KINDS, convert_to_lws),
}


@dataclass(frozen=True, slots=True)
class Conversion:
    """The documents after a conversion, and the report on their fields."""

    objects: tuple[Object, ...]
    lines: tuple[ReportLine, ...]
    count: int  # how many objects were converted


def convert_documents(
    documents: Sequence[Object], target: str, role: str, *, rewrites_selectors: bool = False
) -> Conversion:
    """The documents with every set converted to the target kind; raises ConversionRefused."""
    given = [(document, _find_kind(document, _FROM[target])) for document in documents]
    sets = {
        (kind, namespace_of(document), name_of(document)): find_role(document, role)
        for document, kind in given
        if kind is not None
    }
    rewriter = Rewriter(sets, is_to_serving=target == TO_SERVING, writes=rewrites_selectors)
    made = [
        rewriter.rewrite(document) if kind is None else _FROM[target][kind](document, role)
        for document, kind in given
    ]
    lines = tuple(line for one in made for line in one.lines)
    return Conversion(tuple(one.object for one in made), lines, sum(1 for _, kind in given if kind))


def _find_kind(document: Object, kinds: Iterable[Kind]) -> Kind | None:
    named = (document.get("apiVersion"), document.get("kind"))
    return next((kind for kind in kinds if named == (kind.api_version, kind.name)), None)
