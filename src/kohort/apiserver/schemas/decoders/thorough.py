"""
The slow decoder, which finds the errors in an object that the quick one rejected.

Two kinds of things go wrong. Fields that are unknown or given twice are
collected, in the order of the document, and left out; the request decides
whether they are an error. A value of the wrong type ends the reading at once:
the first one found is the answer, whatever else was collected. The texts name
Go types and structs, since clients of a real server see them so.

Objects may come as dictionaries, or as ``Pairs`` if it matters that a field
was given twice.
"""

import json
from typing import Any, NamedTuple

from kohort.apiserver.schemas.builtin import MICRO_TIME, QUANTITY, TIME, load_definition
from kohort.apiserver.schemas.decoders.choices import SCHEMA, SCHEMA_CHOICES
from kohort.apiserver.schemas.decoders.implicit_fields import (
    Rule,
    describe_fields,
    fill_object,
    zero,
)
from kohort.apiserver.schemas.decoders.times import (
    canonical_bytes,
    canonical_micro_time,
    canonical_time,
)
from kohort.apiserver.schemas.shapes import Shape, Type
from kohort.cluster.quantities import canonical_quantity

# The most unknown or repeated fields that a message lists.
PROBLEMS_MAX = 100
_NAMED_LISTS = {
    "v1.ResourceList": "resource.Quantity",
    "v1.JSONSchemaDefinitions": "v1.JSONSchemaProps",
    "v1.JSONSchemaDependencies": "v1.JSONSchemaPropsOrStringArray",
    "v1.ValidationRules": "v1.ValidationRule",
    "v1.Verbs": "string",
}
_SCALARS: dict[Type, tuple[type, ...]] = {
    Type.STRING: (str,),
    Type.BOOLEAN: (bool,),
    Type.NUMBER: (int, float),
}


class Unreadable(Exception):
    """A value that does not fit its type; the text is the message for the client."""


class Pairs(list[tuple[str, Any]]):
    """An object of a document with all its fields, those given twice among them."""


class _Place(NamedTuple):
    """The path of a value, for people and as Go's decoder prints it."""

    path: str
    stack: str  # the path without indices and keys, with the embedded structs
    struct: str
    go_type: str

    def entry(self, step: str) -> "_Place":
        """The place of an entry of this list or map."""
        inner = self.go_type.partition("]")[2] or _NAMED_LISTS.get(self.go_type, "")
        return self._replace(path=self.path + step, go_type=inner.removeprefix("*"))

    def field(self, owner: Shape, name: str, rule: Rule) -> "_Place":
        """The place of a field of this object."""
        steps = [self.stack, rule.go.embedded_in, name]
        return _Place(
            path=f"{self.path}.{name}" if self.path else name,
            stack=".".join(step for step in steps if step),
            struct=owner.name.rpartition(".")[2],
            go_type=rule.go.type,
        )


def read_thoroughly(value: Any, shape: Shape, path: str = "") -> tuple[Any, tuple[str, ...]]:
    """The canonical value, and its unknown or repeated fields; raises Unreadable."""
    reader = _Thorough()
    # Go decodes this part separately, so its path starts here.
    root = _Place(path, "", "", f"v1.{shape.name.rpartition('.')[2]}")
    answer = reader.read(value, shape, root)
    return answer, tuple(reader.problems)


def list_duplicates(value: Any) -> list[str]:
    """The fields given twice in a document of no known type, in its order."""
    reader = _Thorough()
    reader.read_untyped(value, "")
    return list(reader.problems)


class _Thorough:
    def __init__(self) -> None:
        # A dictionary, so that each is listed once.
        self.problems: dict[str, None] = {}
        self.is_silent = False

    def read(self, value: Any, shape: Shape, place: _Place) -> Any:
        if value is None:
            return zero(shape)
        if shape.name in SCHEMA_CHOICES:
            return self._read_choice(value, SCHEMA_CHOICES[shape.name], place)
        if shape.type is Type.ANY:
            return plain(value)
        return self._read_typed(value, shape, place)

    def _read_typed(self, value: Any, shape: Shape, place: _Place) -> Any:
        # A table of methods would refer to itself: garbage that only a search finds.
        match shape.type:
            case Type.OBJECT:
                return self._read_object(value, shape, place)
            case Type.LIST:
                return self._read_list(value, shape, place)
            case Type.MAP:
                return self._read_map(value, shape, place)
        return _read_scalar(value, shape, place)

    def _read_object(self, value: Any, shape: Shape, place: _Place) -> Any:
        obj: dict[str, Any] = {}
        seen: set[str] = set()
        rules = describe_fields(shape)
        for name, inner in self._walk(value, place):
            rule = rules.get(name)
            if rule is None:
                self._note("unknown", place.path, name)
                continue
            if name in seen:
                self._note("duplicate", place.path, name)
            seen.add(name)
            if inner is None:
                continue
            answer = self.read(inner, rule.shape, place.field(shape, name, rule))
            if not rule.drops_empty or answer:
                obj[name] = answer
        return fill_object(shape, obj)

    def _read_list(self, value: Any, shape: Shape, place: _Place) -> Any:
        assert shape.items is not None
        if not isinstance(value, list) or isinstance(value, Pairs):
            raise _mismatch(value, place)
        entries = enumerate(value)
        return [self.read(inner, shape.items, place.entry(f"[{i}]")) for i, inner in entries]

    def _read_map(self, value: Any, shape: Shape, place: _Place) -> Any:
        assert shape.items is not None
        answer: dict[str, Any] = {}
        for key, inner in self._walk(value, place):
            if key in answer:
                self._note("duplicate", place.path, key)
            answer[key] = self.read(inner, shape.items, place.entry(f".{key}"))
        return answer

    def _read_choice(self, value: Any, alternative: type, place: _Place) -> Any:
        """A JSON schema, a list of them, a list of strings or a claim, as its type allows."""
        schema, was_silent = load_definition(SCHEMA), self.is_silent
        self.is_silent = True
        try:
            if isinstance(value, dict | Pairs):
                return self.read(value, schema, place._replace(go_type="v1.JSONSchemaProps"))
            if alternative is bool and not isinstance(value, bool):
                raise Unreadable("boolean or JSON schema expected")
            if alternative is list and isinstance(value, list):
                inner = place._replace(go_type="v1.JSONSchemaProps")
                return [self.read(entry, schema, inner) for entry in value]
            return plain(value)
        finally:
            self.is_silent = was_silent

    def read_untyped(self, value: Any, path: str) -> None:
        """Look for fields given twice in a value of any type."""
        if isinstance(value, Pairs):
            seen: set[str] = set()
            for key, inner in value:
                if key in seen:
                    self._note("duplicate", path, key)
                seen.add(key)
                self.read_untyped(inner, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self.read_untyped(inner, f"{path}[{index}]")

    def _walk(self, value: Any, place: _Place) -> Any:
        if isinstance(value, Pairs):
            return value
        if isinstance(value, dict):
            return value.items()
        raise _mismatch(value, place)

    def _note(self, what: str, path: str, name: str) -> None:
        if not self.is_silent and len(self.problems) < PROBLEMS_MAX:
            where = f"{path}.{name}" if path else name
            self.problems[f"{what} field {json.dumps(where, ensure_ascii=False)}"] = None


def plain(value: Any) -> Any:
    """A value of any kind, with objects as dictionaries again."""
    if isinstance(value, Pairs):
        return {key: plain(inner) for key, inner in value}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def _read_scalar(value: Any, shape: Shape, place: _Place) -> Any:
    try:
        if shape.name == QUANTITY:
            return canonical_quantity(value if isinstance(value, str) else json.dumps(value))
        if shape.name in (TIME, MICRO_TIME):
            write = canonical_time if shape.name == TIME else canonical_micro_time
            return write(_expect(value, (str,), place._replace(go_type="string")))
        if shape.format == "byte":
            return canonical_bytes(_expect(value, (str,), place))
    except ValueError as error:
        raise Unreadable(str(error)) from None
    if shape.type is Type.INTEGER:
        return _read_integer(value, shape.format, place)
    if shape.type is Type.INT_OR_STRING:
        is_text = isinstance(value, str)
        return value if is_text else _read_integer(value, "int32", place._replace(go_type="int32"))
    return _expect(value, _SCALARS[shape.type], place)


def _read_integer(value: Any, width: str, place: _Place) -> Any:
    if type(value) not in (int, float):
        raise _mismatch(value, place)
    bound = 1 << (31 if width == "int32" else 63)
    if type(value) is float or not -bound <= value < bound:
        raise _mismatch(value, place, f"number {json.dumps(value)}")
    return value


def _expect(value: Any, types: tuple[type, ...], place: _Place) -> Any:
    if type(value) not in types:
        raise _mismatch(value, place)
    return value


def _mismatch(value: Any, place: _Place, found: str = "") -> Unreadable:
    found = found or _name_of(value)
    where = f"Go struct field {place.struct}.{place.stack}" if place.struct else "Go value"
    return Unreadable(f"json: cannot unmarshal {found} into {where} of type {place.go_type}")


def _name_of(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "object" if isinstance(value, dict | Pairs) else "array"
