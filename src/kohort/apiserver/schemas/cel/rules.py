"""
Validation rules (``x-kubernetes-validations``): compiled, and evaluated on objects.

Only the places of a schema that hold rules are visited. A rule that speaks of
the old value runs on updates, where the value has a counterpart; with
``optionalOldSelf`` it always runs. Any other rule runs as well, but its fault is
dropped where the update did not change the value.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from kohort.apiserver.schemas.cel.costs import TEXT, Budget, OutOfBudgetError, strip_comments
from kohort.apiserver.schemas.cel.environment import EvaluationError, Expression, ExpressionError
from kohort.apiserver.schemas.cel.values import (
    Convert,
    Schema,
    find_converter,
    find_projection,
    read_times,
    read_wanted,
    signature_of,
    with_metadata,
)
from kohort.cluster.fields import OMITTED, FieldError, FieldErrorType
from kohort.cluster.objects import Object

_OLD = re.compile(r"(?<![\w.])oldSelf\b")
_FAULTS = {
    "FieldValueForbidden": FieldErrorType.FORBIDDEN,
    "FieldValueRequired": FieldErrorType.REQUIRED,
    "FieldValueDuplicate": FieldErrorType.DUPLICATE,
}
_MESSAGE_BYTES_MAX = 5 * 1024
_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
_BRACKET = re.compile(r"\['((?:[^'\\]|\\.)*)'\]")


class Rule:
    """One rule at one place of a schema."""

    def __init__(self, raw: Object, schema: Schema) -> None:
        text: str = raw["rule"].strip()
        self.uses_old = _names_old(text)
        self.is_optional = bool(raw.get("optionalOldSelf"))
        self.message = (raw.get("message") or "").strip()
        self.name = self.message or text
        self.fault = _FAULTS.get(raw.get("reason") or "", FieldErrorType.INVALID)
        self.field_path = _read_field_path(raw.get("fieldPath") or "")
        self.type: str = schema.get("type") or ""
        self._expression = self._compile(text, schema, "BOOL")
        self._read_self = find_projection(schema, read_wanted(text, "self"))
        self._read_old = find_projection(schema, read_wanted(text, "oldSelf"))
        self._words = self._compile_message(raw, schema)
        self._read_all = find_converter(schema) if self._words else None

    def _compile(self, text: str, schema: Schema, result: str) -> Expression:
        text = read_times(text, schema)
        signature = signature_of(schema)
        variables = [("self", signature)]
        if self.is_optional:
            # An optional has no counterpart outside the engine, a list of at most one has.
            text = f"cel.bind(oldSelf, oldSelves[?0], {text}\n)"
            variables.append(("oldSelves", f"list<{signature}>"))
        else:
            variables.append(("oldSelf", signature))
        return Expression(text, tuple(variables), result)

    def _compile_message(self, raw: Object, schema: Schema) -> Expression | None:
        text = (raw.get("messageExpression") or "").strip()
        if not text:
            return None
        try:
            return self._compile(text, schema, "STRING")
        except ExpressionError as error:
            words = str(error).removeprefix("messageExpression ")
            raise ExpressionError(f"messageExpression {words}") from error

    def find_fault(
        self, value: Any, old: Any, budget: Budget | None = None
    ) -> tuple[FieldErrorType, str, Any] | None:
        """Evaluate the rule on a value: the kind of error, its message and the value to show."""
        if self.uses_old and old is None and not self.is_optional:
            return None
        try:
            bound = self._bind(value, old, self._read_self, self._read_old)
            if self._expression.evaluate(bound, budget):
                return None
        except EvaluationError as error:
            return FieldErrorType.INVALID, self._explain(str(error)), self.type
        shown = OMITTED if self.type in ("object", "array") else value
        return self.fault, self._word(value, old), shown

    def _bind(
        self, value: Any, old: Any, read_self: Convert | None, read_old: Convert | None
    ) -> dict[str, Any]:
        values = {"self": value if read_self is None else read_self(value)}
        if self.uses_old:
            previous = old if read_old is None or old is None else read_old(old)
            if self.is_optional:
                values["oldSelves"] = [] if old is None else [previous]
            else:
                values["oldSelf"] = previous
        elif self.is_optional:
            values["oldSelves"] = []
        return values

    def _explain(self, error: str) -> str:
        if error == "no such overload":
            return (
                f"'{error}': call arguments did not match a supported operator, function or "
                f"macro signature for rule: {self.name}"
            )
        return f"{error} evaluating rule: {self.name}"

    def _word(self, value: Any, old: Any) -> str:
        default = self.message or f"failed rule: {self.name}"
        if self._words is None:
            return default
        try:
            words = self._words.evaluate(self._bind(value, old, self._read_all, self._read_all))
        except EvaluationError:
            return default
        words = words.strip() if isinstance(words, str) else ""
        usable = words and "\n" not in words and len(words.encode()) <= _MESSAGE_BYTES_MAX
        return words if usable else default


def _names_old(text: str) -> bool:
    """Whether a rule reads the old value; what its texts and comments say does not count."""
    return _OLD.search(TEXT.sub('""', strip_comments(text))) is not None


@dataclass(slots=True)
class _Place:
    """A node of a schema that has rules, at itself or below."""

    rules: list[Rule]
    list_keys: list[str] | None = None
    fields: "dict[str, _Place]" = field(default_factory=dict)
    items: "_Place | None" = None
    values: "_Place | None" = None


# A value, and the old value that it corresponds to, if there is one.
_Anchor = tuple[Any, Any] | None
_Visit = tuple[_Anchor, list[FieldError], Budget]


class Rules:
    """All rules of one schema."""

    def __init__(self, place: _Place) -> None:
        self._place = place

    def evaluate(self, obj: Object, old: Object | None) -> list[FieldError]:
        """The errors of all rules on an object."""
        errors: list[FieldError] = []
        anchor = None if old is None else (obj, old)
        try:
            _visit(self._place, "", obj, old, (anchor, errors, Budget()))
        except OutOfBudgetError:
            errors.append(FieldError(FieldErrorType.INVALID, "<nil>", _OUT_OF_BUDGET, OMITTED))
        return errors


def _visit(place: _Place, path: str, value: Any, old: Any, context: _Visit) -> None:
    if value is None:
        return
    anchor, errors, budget = context
    for rule in place.rules:
        found = rule.find_fault(value, old, budget)
        if found is None:
            continue
        if not rule.uses_old and anchor is not None and anchor[0] == anchor[1]:
            continue
        fault, words, shown = found
        where = f"{path}{rule.field_path}".removeprefix(".") or "<nil>"
        errors.append(
            FieldError(fault, where, "" if fault is FieldErrorType.DUPLICATE else words, shown)
        )
    if type(value) is dict:
        _visit_fields(place, path, value, old, context)
    elif type(value) is list and place.items is not None:
        for index, entry in enumerate(value):
            before = find_entry(place.list_keys, entry, old)
            inner = (entry, before) if before is not None and anchor is not None else anchor
            _visit(place.items, f"{path}[{index}]", entry, before, (inner, errors, budget))


def _visit_fields(
    place: _Place,
    path: str,
    value: Object,
    old: Any,
    context: _Visit,
) -> None:
    anchor, errors, budget = context
    before = old if type(old) is dict else {}
    for key in value if place.values is not None else place.fields:
        if key not in value:
            continue
        inner = place.fields.get(key) or place.values
        assert inner is not None
        where = f"{path}.{key}" if key in place.fields else f"{path}[{key}]"
        pair = (value[key], before[key]) if anchor is not None and key in before else anchor
        _visit(inner, where, value[key], before.get(key), (pair, errors, budget))


def find_entry(keys: list[str] | None, entry: Any, old: Any) -> Any:
    """The entry of the old list with the same keys; None in a list without keys."""
    if keys is None or type(old) is not list or type(entry) is not dict:
        return None
    wanted = [entry.get(key) for key in keys]
    for candidate in old:
        if type(candidate) is dict and [candidate.get(key) for key in keys] == wanted:
            return candidate
    return None


def find_rules(schema: Schema) -> Rules | None:
    """Compile the rules of a schema; None if it has none. Raises ``ExpressionError``."""
    place = _read_place(schema, root=True)
    return None if place is None else Rules(place)


def _read_place(schema: Schema, *, root: bool = False) -> _Place | None:
    fields = {}
    for name, inner in (schema.get("properties") or {}).items():
        if (found := _read_place(inner)) is not None:
            fields[name] = found
    items, values = schema.get("items"), schema.get("additionalProperties")
    below_items = _read_place(items) if isinstance(items, dict) else None
    below_values = _read_place(values) if isinstance(values, dict) else None
    raw = schema.get("x-kubernetes-validations")
    if not (raw or fields or below_items or below_values):
        return None
    embedded = root or schema.get("x-kubernetes-embedded-resource")
    seen = with_metadata(schema) if raw and embedded else schema
    rules = [Rule(entry, seen) for entry in raw or ()]
    keyed = schema.get("x-kubernetes-list-type") == "map"
    keys = (schema.get("x-kubernetes-list-map-keys") or []) if keyed else None
    return _Place(rules, keys, fields, below_items, below_values)


def _read_field_path(text: str) -> str:
    """A rule's fieldPath as errors write it."""
    return _BRACKET.sub(lambda match: f"[{match[1]}]", text.strip())
