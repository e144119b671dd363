"""
The scale of an object: current and desired replicas, read by the paths of its kind.

The scale subresource shows them, and the autoscaler reads them here.
"""

from dataclasses import dataclass
from typing import Any

from kohort.apiserver.resources.resource import Scale
from kohort.cluster.objects import Object
from kohort.cluster.selectors import format_selector

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


@dataclass(frozen=True, slots=True)
class Counts:
    """The replicas and selector in the scale of one object."""

    wanted: int | None  # none: the object does not say
    found: int
    selector: str  # as the text of a query; empty: none


def read_counts(paths: Scale, obj: Object) -> Counts:
    """The scale of an object."""
    selector = _at(obj, paths.selector) if paths.selector else None
    if selector and paths.has_plain_selector:
        selector = {"matchLabels": selector}
    wanted, found = _at(obj, paths.spec_replicas), _at(obj, paths.status_replicas)
    return Counts(wanted, found or 0, _write_selector(selector))


def _write_selector(selector: Any) -> str:
    """A selector as text; empty if the path leads to something else."""
    if isinstance(selector, str):
        return selector
    return format_selector(selector) if _is_selector(selector) else ""


def _is_selector(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    labels, expressions = value.get("matchLabels") or {}, value.get("matchExpressions") or []
    return (
        isinstance(labels, dict)
        and all(isinstance(label, str) for label in labels.values())
        and isinstance(expressions, list)
        and all(map(_is_expression, expressions))
    )


def _is_expression(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("key"), str):
        return False
    values = value.get("values") or []
    is_list_of_texts = isinstance(values, list) and all(isinstance(one, str) for one in values)
    return is_list_of_texts and value.get("operator") in _OPERATORS


def _at(obj: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(step)
    return obj


def read_scale_paths(version: Object) -> Scale | None:
    """The paths of a custom kind's scale subresource, from its definition."""
    scale: Object | None = (version.get("subresources") or {}).get("scale")
    if scale is None:
        return None
    selector = scale.get("labelSelectorPath", "")
    return Scale(
        _split(scale["specReplicasPath"]),
        _split(scale["statusReplicasPath"]),
        _split(selector) if selector else (),
    )


def _split(path: str) -> tuple[str, ...]:
    return tuple(path.strip(".").split("."))
