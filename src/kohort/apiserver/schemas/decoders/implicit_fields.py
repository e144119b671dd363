"""
The fields that Go structs always write, although the client did not send them.

A real server reads into structs and writes from structs, so what clients see
depends on the struct: a container always has ``resources``, an empty list that
may be left out is left out, a time that is not known may be ``null``. Clients
compare and own such fields, so the same rules hold here. One thing differs on
purpose: a list that the struct would write as ``null`` stays absent, except
where clients are known to meet it, since code reads lists without asking.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from kohort.apiserver.schemas.builtin import MICRO_TIME, QUANTITY, TIME, GoField, find_go_fields
from kohort.apiserver.schemas.shapes import Shape, Type

_ZEROES = {Type.STRING: "", Type.INTEGER: 0, Type.NUMBER: 0, Type.BOOLEAN: False}
_UNKNOWN_TO_GO = GoField("", is_pointer=True, omits_empty=True, omits_zero=True, embedded_in="")


NULL_LISTS = {
    ("io.k8s.api.rbac.v1.Role", "rules"),
    ("io.k8s.api.rbac.v1.ClusterRole", "rules"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "endpoints"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "ports"),
}

# Lists that Go would not write when they are empty, but that are refused before it could:
# an empty one is not the same as none, for which there are defaults.
_REFUSED_IF_EMPTY = {("io.k8s.api.autoscaling.v2.HPAScalingRules", "policies")}


class Rule(NamedTuple):
    """How Go treats one field of a struct when it is missing or empty."""

    shape: Shape
    go: GoField
    drops_empty: bool  # an empty value counts as missing
    fill: Callable[[], Any] | None  # makes the value of a missing field


@cache
def describe_fields(shape: Shape) -> dict[str, Rule]:
    """The rule of each field of an object."""
    facts = find_go_fields(shape.name)
    return {
        name: _describe(inner, facts.get(name, _UNKNOWN_TO_GO), (shape.name, name))
        for name, inner in shape.fields.items()
    }


def zero(shape: Shape) -> Any:
    """The zero value that a null entry of a list or map becomes."""
    if shape.name == QUANTITY:
        return "0"
    if shape.type is Type.OBJECT:
        return fill_object(shape, {})
    if shape.type is Type.INT_OR_STRING:
        return 0
    return None if shape.name in (TIME, MICRO_TIME) else _ZEROES.get(shape.type)


def fill_object(shape: Shape, obj: dict[str, Any]) -> dict[str, Any]:
    """Add the fields that Go always writes."""
    for name, rule in describe_fields(shape).items():
        if rule.fill is not None and name not in obj:
            obj[name] = rule.fill()
    return obj


def _describe(shape: Shape, go: GoField, place: tuple[str, str]) -> Rule:
    is_plain = shape.name not in (QUANTITY, TIME, MICRO_TIME)
    may_be_empty = is_plain and (shape.type in _ZEROES or shape.type in (Type.LIST, Type.MAP))
    drops_empty = may_be_empty and go.omits_empty and not go.is_pointer
    drops_empty = drops_empty and place not in _REFUSED_IF_EMPTY
    is_filled = not (go.is_pointer or go.omits_zero or drops_empty)
    if shape.type in (Type.LIST, Type.MAP):
        is_filled = place in NULL_LISTS
    return Rule(shape, go, drops_empty, (lambda: zero(shape)) if is_filled else None)
