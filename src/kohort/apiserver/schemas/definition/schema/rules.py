"""
Rules of a schema: whether they are well formed, name declared fields, and compile.

An expression that needs a function which Kohort does not have is refused here,
with the definition that holds it.

The engine sees objects as maps, in which any key may be missing, so it cannot
tell a misspelt field from an absent one. The paths that start at ``self`` are
therefore looked up in the schema when the definition is read.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

from kohort.apiserver.schemas.cel.environment import ExpressionError
from kohort.apiserver.schemas.cel.rules import Rule
from kohort.apiserver.schemas.cel.values import find_spelling, with_metadata
from kohort.apiserver.schemas.definition.field_errors import invalid, required, unsupported
from kohort.cluster.errors import KohortError
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object

_PART = re.compile(r"\.(?P<name>[^.\[\]]+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]")


class PathFault(KohortError):
    """The path leads nowhere; the text says why."""


def find_field(text: str, schema: Object, *, brackets: bool = True) -> Object:
    """The schema that a path leads to; raises ``PathFault``."""
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise PathFault(_explain_path(text[position:]))
        if match["name"] is None and not brackets:
            raise PathFault("array notation is not allowed")
        schema = _step(schema, match["name"] or re.sub(r"\\(.)", r"\1", match["quoted"]))
        position = match.end()
    return schema


def _step(schema: Object, name: str) -> Object:
    properties, values = schema.get("properties"), schema.get("additionalProperties")
    if properties and name in properties:
        found: Object = properties[name]
        return found
    if properties or not isinstance(values, dict):
        raise PathFault("does not refer to a valid field")
    return values


def _explain_path(rest: str) -> str:
    if rest.startswith(("[", ".")):
        return "unexpected end of JSON path"
    return f"expected [ or . but got: {rest}"


# An unterminated string is taken whole: else the search starts again at each quote.
_LITERAL = re.compile(r"""'(?:[^'\\]|\\[\s\S])*+'?|"(?:[^"\\]|\\[\s\S])*+\"?""")
_PATH = re.compile(r"(?<![\w.])(?:self|oldSelf)((?:\.[A-Za-z_]\w*)+)(\s*\()?")


def find_undefined(text: str, schema: Object) -> str:
    """The error for a field that a rule names and the schema lacks, in the compiler's words."""
    for match in _PATH.finditer(_LITERAL.sub(_blank, text)):
        names = match[1].split(".")[1 : -1 if match[2] else None]
        place, position = schema, match.start(1)
        for name in names:
            fields = _fields_of(place)
            if not fields:
                break
            if name not in fields:
                return _explain_undefined(text, name, position)
            place = fields[name]
            position += len(name) + 1
    return ""


def _fields_of(schema: Object) -> dict[str, Object]:
    if schema.get("type") != "object":
        return {}
    properties: dict[str, Object] = schema.get("properties") or {}
    return {find_spelling(name) or "": inner for name, inner in properties.items()}


def _explain_undefined(text: str, name: str, position: int) -> str:
    return (
        f"compilation failed: ERROR: <input>:1:{position + 1}: undefined field '{name}'\n"
        f" | {text}\n | {'.' * position}^"
    )


def _blank(match: re.Match[str]) -> str:
    """A literal as blanks of the same length, so that positions hold."""
    return " " * len(match[0])


_REASONS = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
]
_LINE_BREAK = re.compile(r"[\n\r]")


def find_rule_errors(
    schema: Object, path: str, uncorrelated: str, *, whole: bool
) -> Iterator[FieldError]:
    """The errors in the rules at one place, which may hold a whole object."""
    if not schema.get("x-kubernetes-validations"):
        return
    seen = with_metadata(schema) if whole else schema
    for index, rule in enumerate(schema["x-kubernetes-validations"]):
        where = f"{path}.x-kubernetes-validations[{index}]"
        found = [*_find_form_errors(rule, schema, where)]
        yield from found or _find_expression_errors(rule, seen, where, uncorrelated)


def _find_form_errors(rule: Object, schema: Object, where: str) -> Iterator[FieldError]:
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    words = message.strip()
    if not text:
        yield required(f"{where}.rule", "rule is not specified")
    elif message and not words:
        yield invalid(f"{where}.message", message, "must be non-empty if specified")
    elif _LINE_BREAK.search(words):
        yield invalid(f"{where}.message", message, "must not contain line breaks")
    elif _LINE_BREAK.search(text) and not words:
        detail = "message must be specified if rule contains line breaks"
        yield required(f"{where}.message", detail)
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        detail = "messageExpression must be non-empty if specified"
        yield required(f"{where}.messageExpression", detail)
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        yield unsupported(f"{where}.reason", reason, _REASONS)
    yield from _find_path_errors(rule.get("fieldPath") or "", schema, f"{where}.fieldPath")


def _find_path_errors(text: str, schema: Object, where: str) -> Iterator[FieldError]:
    if text and not text.strip():
        yield invalid(where, text, "must be non-empty if specified")
    if _LINE_BREAK.search(text):
        yield invalid(where, text, "must not contain line breaks")
    if text:
        try:
            find_field(text, schema)
        except PathFault:
            yield invalid(where, text, "must be a valid path")


def _find_expression_errors(
    rule: Object, schema: Object, where: str, uncorrelated: str
) -> Iterator[FieldError]:
    try:
        if fault := find_undefined(rule["rule"], schema):
            raise ExpressionError(fault)
        compiled = Rule(rule, schema)
    except ExpressionError as error:
        field = "messageExpression" if str(error).startswith("messageExpression") else "rule"
        yield invalid(f"{where}.{field}", _show_rule(rule), str(error))
        return
    if compiled.uses_old and uncorrelated:
        detail = (
            "oldSelf cannot be used on the uncorrelatable portion of the schema within "
            f"{uncorrelated}"
        )
        yield invalid(f"{where}.rule", rule["rule"], detail)
    elif not compiled.uses_old and rule.get("optionalOldSelf") is not None:
        detail = "may not be set if oldSelf is not used in rule"
        yield invalid(f"{where}.optionalOldSelf", rule["optionalOldSelf"], detail)


def _show_rule(rule: Object) -> Any:
    """A rule as the API shows it, with its fields in their own order."""
    shown = {
        "Rule": rule["rule"],
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    return orjson.Fragment(orjson.dumps(shown))
