"""
Converts JSON values for CEL: typed, with escaped names, and only the fields that a rule reads.

A rule sees the fields that its schema declares and nothing that is merely
preserved. Turning a value into the engine's own form costs most of a rule's
time, so a rule that names the fields it reads gets only those, and a field
that it only tests for presence is not carried over at all.

An expression cannot say ``self.a-b`` or ``self.namespace``, so such names are
written with their special parts spelled out. A name that has no spelling is
not visible to expressions at all.
"""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from kohort.cluster.durations import find_signed_seconds

_RESERVED = re.compile(
    "true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package"
    "|namespace|return|var|void|while"
)
_SPECIAL = re.compile(r"__|[-./]")
_SPELLED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_PLAIN = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")


def find_spelling(name: str) -> str | None:
    """How expressions write the name of a field; None if they cannot."""
    if _RESERVED.fullmatch(name):
        return f"__{name}__"
    if not _PLAIN.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda match: _SPELLED[match[0]], name)


Schema = dict[str, Any]
Convert = Callable[[Any], Any]

# The fields that a rule reads: all (None), only presence (empty), or these.
Wanted = dict[str, Any]

_ROOT_META: Schema = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
    },
}


def with_metadata(schema: Schema) -> Schema:
    """The schema of a whole object, which always has a kind and a name."""
    return schema | {"properties": {**(schema.get("properties") or {}), **_ROOT_META}}


def signature_of(schema: Schema) -> str:
    """The engine's type for values of a schema; objects are looked at when evaluated."""
    if schema.get("x-kubernetes-int-or-string") or schema.get("nullable"):
        return "dyn"
    type_ = schema.get("type")
    if type_ == "string":
        return _STRING_TYPES.get(schema.get("format") or "", "string")
    return {"integer": "int", "number": "double", "boolean": "bool"}.get(type_ or "", "dyn")


_STRING_TYPES = {
    "date-time": "timestamp",
    "datetime": "timestamp",
    "date": "timestamp",
    "duration": "duration",
    "byte": "bytes",
}


def find_converter(schema: Schema) -> Convert | None:
    """The converter for values of a schema; None if they need no conversion."""
    type_ = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return None
    if type_ == "string":
        return _STRING_CONVERTERS.get(_STRING_TYPES.get(schema.get("format") or "", ""))
    if type_ == "number":
        return _to_double
    if type_ == "array":
        return _find_list_converter(schema)
    if type_ == "object":
        return _find_object_converter(schema)
    return None


def _find_inner(schema: Schema) -> Convert | None:
    """The converter for nested values: there the engine accepts times as strings only."""
    type_ = _find_time_type(schema)
    if type_:
        return _to_time_text if type_ == "timestamp" else None
    return find_converter(schema)


def _find_time_type(schema: Schema) -> str:
    """The engine's type for times of a schema; empty if its values are something else."""
    type_ = signature_of(schema) if schema.get("type") == "string" else ""
    return type_ if type_ in ("timestamp", "duration") else ""


def _find_list_converter(schema: Schema) -> Convert | None:
    items = schema.get("items")
    inner = _find_inner(items) if isinstance(items, dict) else None
    if inner is None:
        return None

    def convert(value: Any) -> Any:
        return _convert_entries(inner, value) if type(value) is list else value

    return convert


def _convert_entries(inner: Convert, entries: list[Any]) -> list[Any]:
    return [entry if entry is None else inner(entry) for entry in entries]


def _find_object_converter(schema: Schema) -> Convert | None:
    values = schema.get("additionalProperties")
    properties: dict[str, Schema] = schema.get("properties") or {}
    if isinstance(values, dict) and not properties:
        return _find_map_converter(values)
    fields = {
        name: (spelling, _find_inner(inner))
        for name, inner in properties.items()
        if (spelling := find_spelling(name)) is not None and _is_visible(inner)
    }
    as_is = not schema.get("x-kubernetes-preserve-unknown-fields") and len(fields) == len(
        properties
    )
    if as_is and all(name == text and not inner for name, (text, inner) in fields.items()):
        return None

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        for name, inner in value.items():
            field = fields.get(name)
            if field is not None:
                spelling, part = field
                found[spelling] = inner if part is None or inner is None else part(inner)
        return found

    return convert


def _find_map_converter(values: Schema) -> Convert | None:
    inner = _find_inner(values)
    if inner is None:
        return None

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            return value
        return {key: entry if entry is None else inner(entry) for key, entry in value.items()}

    return convert


def _is_visible(schema: Schema) -> bool:
    return bool(schema.get("type") or schema.get("x-kubernetes-int-or-string"))


def _to_double(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _to_time(value: Any) -> Any:
    try:
        time = datetime.fromisoformat(value.upper().replace("Z", "+00:00"))
    except ValueError:
        return value
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _to_time_text(value: Any) -> Any:
    time = _to_time(value)
    return time.isoformat().replace("+00:00", "Z") if isinstance(time, datetime) else value


def _to_duration(value: Any) -> Any:
    seconds = find_signed_seconds(value)
    return value if seconds is None else timedelta(seconds=seconds)


def _to_bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value)
    except (binascii.Error, ValueError):
        return value


_STRING_CONVERTERS: dict[str, Convert] = {
    "timestamp": _to_time,
    "duration": _to_duration,
    "bytes": _to_bytes,
}


def read_times(text: str, schema: Schema) -> str:
    """The expression, with the texts that stand for times inside objects turned into times."""

    def wrap(match: re.Match[str]) -> str:
        if match[1]:
            return match[0]  # ``has()`` works on the string as well, so it needs no conversion.
        place, parts = schema, re.findall(r"\s*\.\s*\w+", match[3])
        for index, part in enumerate(parts):
            properties: dict[str, Schema] = place.get("properties") or {}
            spelled = {find_spelling(name): inner for name, inner in properties.items()}
            found = spelled.get(part.strip(" .\t\n"))
            if found is None:
                return match[0]
            place = found
            head, rest = "".join(parts[: index + 1]), "".join(parts[index + 1 :])
            if type_ := _find_time_type(place):
                return f"{type_}({match[2]}{head}){rest}"
            if type_ := _find_time_type(place.get("items") or {}):
                return f"{match[2]}{head}.map(text, {type_}(text)){rest}"
        return match[0]

    return _DEEP_PATH.sub(wrap, text)


_DEEP_PATH = re.compile(r"(has\(\s*)?(?<![\w.])(self|oldSelf)((?:\s*\.\s*[A-Za-z_]\w*)+)")


def read_wanted(text: str, variable: str) -> Wanted | None:
    """The fields of a variable that an expression names; None if it may read everything."""
    wanted: Wanted = {}
    path = rf"(?<![\w.]){variable}((?:\s*\.\s*[A-Za-z_]\w*)+)"
    for match in re.finditer(rf"has\(\s*{path}\s*\)", text):
        _want(wanted, _split(match[1]), {})
    rest = re.sub(rf"has\(\s*{path}\s*\)", "true", text)
    for match in re.finditer(rf"{path}(\s*\()?", rest):
        names = _split(match[1])
        if match[2]:
            names.pop()
        if not names:
            return None
        _want(wanted, names, None)
    rest = re.sub(path, "", rest)
    return None if re.search(rf"(?<![\w.]){variable}\b", rest) else wanted


def _split(path: str) -> list[str]:
    return [part.strip() for part in path.split(".") if part.strip()]


def _want(wanted: Wanted, names: list[str], leaf: Wanted | None) -> None:
    for name in names[:-1]:
        if name in wanted and wanted[name] is None:
            return
        wanted = wanted.setdefault(name, {})
    last = names[-1]
    if leaf is None or last not in wanted:
        wanted[last] = leaf


def find_projection(schema: Schema, wanted: Wanted | None, *, top: bool = True) -> Convert | None:
    """The converter that carries over only what is wanted."""
    properties: dict[str, Schema] = schema.get("properties") or {}
    if wanted is None or schema.get("type") != "object" or not properties:
        return find_converter(schema) if top else _find_inner(schema)
    spelled = {find_spelling(name): name for name in properties}
    parts = {
        spelled[name]: (name, _find_part(properties[spelled[name]], below))
        for name, below in wanted.items()
        if name in spelled
    }

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        for raw, (spelling, part) in parts.items():
            if raw in value:
                inner = value[raw]
                found[spelling] = inner if part is None or inner is None else part(inner)
        return found

    return convert


def _find_part(schema: Schema, below: Wanted | None) -> Convert | None:
    if below is not None and not below:
        return lambda value: True
    return find_projection(schema, below, top=False)
