"""
Label and field selectors: the small languages in which clients choose objects.

A selector is parsed once into a value and then asked about many objects, so
matching does no parsing. The values of a clause are sorted, so clauses
that say the same are equal. Errors carry the words of a real API server.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kohort.cluster.errors import BadRequest
from kohort.cluster.fields import show
from kohort.cluster.names import check_label_value, check_qualified
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Object

_TOKEN = re.compile(r"\s*(!=|==|=|!|,|\(|\)|>|<|[^\s=!,()<>]+)")
_SYMBOLS = {",", "(", ")", "=", "==", "!="}
_OPERATORS = {"=", "==", "!=", "in", "notin", ">", "<"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One clause of a label selector."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist, Gt, Lt
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels satisfies the clause."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "Gt" | "Lt":
                return value is not None and _compares(value, self.operator, self.values[0])
        return value is None


def _compares(value: str, operator: str, limit: str) -> bool:
    try:
        number, bound = int(value), int(limit)
    except ValueError:
        return False
    return number > bound if operator == "Gt" else number < bound


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All clauses must hold; without any, everything matches, unless it chooses nothing at all."""

    requirements: tuple[Requirement, ...] = ()
    chooses_nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is chosen."""
        if self.chooses_nothing:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING = LabelSelector()
NOTHING = LabelSelector(chooses_nothing=True)


def read_label_selector(selector: Object | None) -> LabelSelector:
    """
    A selector from an object (``matchLabels``, ``matchExpressions``).

    As in Kubernetes, an empty selector chooses everything, and a missing one nothing. Where a
    missing one means everything, the caller passes an empty one.
    """
    if selector is None:
        return NOTHING
    labels: Mapping[str, str] = selector.get("matchLabels") or {}
    expressions: Sequence[Object] = selector.get("matchExpressions") or ()
    return LabelSelector((*require_labels(labels), *map(read_requirement, expressions)))


def require_labels(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    """The clauses that an object with all these labels satisfies."""
    return tuple(Requirement(key, "In", (value,)) for key, value in labels.items())


def read_requirement(expression: Object) -> Requirement:
    """A clause from an entry of ``matchExpressions``; one of no known operator is DoesNotExist."""
    values = tuple(sorted(expression.get("values") or ()))
    return Requirement(expression.get("key") or "", expression.get("operator") or "", values)


def parse_label_selector(text: str) -> LabelSelector:
    """A selector from a query, such as ``app=web,tier in (a, b),!old``."""
    if not text.strip():
        return EVERYTHING
    return LabelSelector(tuple(_Parser(text).requirements()))


class _Parser:
    """Reads clauses from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            found = _TOKEN.match(text, position)
            assert found is not None
            self.tokens.append(found[1])
            position = found.end()
        self.position = 0

    def requirements(self) -> list[Requirement]:
        """All clauses of the text."""
        clauses: list[Requirement] = []
        while True:
            token = self._peek()
            if token in _SYMBOLS or (not token and clauses):
                where = "identifier after ','"
                expected = where if clauses else "!, identifier, or 'end of string'"
                raise BadRequest(f"found '{token}', expected: {expected}")
            clauses.append(self._clause())
            token = self._next()
            if not token:
                return clauses
            if token != ",":
                raise BadRequest(f"found '{token}', expected: ',' or 'end of string'")

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self.position += 1
        return token

    def _clause(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return Requirement(self._key(), "DoesNotExist")
        key = self._key()
        token = self._peek()
        if token in ("", ","):
            return Requirement(key, "Exists")
        if token not in _OPERATORS:
            raise _unparsable(f"found '{token}', expected: in, notin, =, ==, !=, gt, lt")
        self._next()
        return self._comparison(key, token)

    def _comparison(self, key: str, token: str) -> Requirement:
        if token in ("in", "notin"):
            return Requirement(key, "In" if token == "in" else "NotIn", self._values(key))
        value = "" if self._peek() in ("", ",") else self._next()
        if token in (">", "<"):
            if find_whole(value.removeprefix("-")) is None:
                raise _unparsable(
                    f"values[0]: Invalid value: {show(value)}: "
                    "for 'Gt', 'Lt' operators, the value must be an integer"
                )
            return Requirement(key, "Gt" if token == ">" else "Lt", (value,))
        self._check_value(key, value)
        return Requirement(key, "NotIn" if token == "!=" else "In", (value,))

    def _key(self) -> str:
        token = self._next()
        if not token or token in {",", "(", ")", "=", "==", "!=", "!", "<", ">"}:
            raise _unparsable(f"found '{token}', expected: identifier")
        problems = check_qualified(token)
        if problems:
            raise _unparsable(f"<nil>: Invalid value: {show(token)}: {'; '.join(problems)}")
        return token

    def _values(self, key: str) -> tuple[str, ...]:
        if self._peek() != "(":
            raise _unparsable(f"found '{self._peek()}' expected: '('")
        self._next()
        values: list[str] = []
        expects_value = True
        while (token := self._next()) != ")":
            if not token:
                raise _unparsable("found '', expected: ',' or ')'")
            if token == ",":
                if expects_value:
                    values.append("")
                expects_value = True
                continue
            self._check_value(key, token)
            values.append(token)
            expects_value = False
        if expects_value:
            values.append("")
        return tuple(sorted(set(values)))

    @staticmethod
    def _check_value(key: str, value: str) -> None:
        problems = check_label_value(value)
        if problems:
            raise _unparsable(
                f"values[0][{key}]: Invalid value: {show(value)}: {'; '.join(problems)}"
            )


def _unparsable(why: str) -> BadRequest:
    return BadRequest(f"unable to parse requirement: {why}")


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Clauses of (field, equal or not, value); all must hold."""

    clauses: tuple[tuple[str, bool, str], ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether an object with these field values is chosen."""
        return all(
            (fields.get(field, "") == value) is equal for field, equal, value in self.clauses
        )


ANY_FIELDS = FieldSelector()


def parse_field_selector(text: str) -> FieldSelector:
    """A selector from a query, such as ``spec.nodeName=gpu-0,status.phase!=Failed``."""
    clauses = []
    for term in re.split(r"(?<!\\),", text):
        if not term:
            continue
        found = re.match(r"^(.*?)(!=|==|=)(.*)$", term)
        if not found:
            raise BadRequest(f"invalid selector: '{text}'; can't understand '{term}'")
        field, operator, value = found.groups()
        if re.search(r"(?<!\\)(\\\\)*\\$", value):
            raise BadRequest("invalid field selector: invalid escape sequence: \\")
        clauses.append((field.strip(), operator != "!=", re.sub(r"\\(.)", r"\1", value)))
    return FieldSelector(tuple(clauses))


def format_selector(selector: Object) -> str:
    """The selector as text, its clauses in the order of their keys."""
    labels: dict[str, str] = selector.get("matchLabels") or {}
    clauses = [(key, f"{key}={value}") for key, value in labels.items()]
    for expression in selector.get("matchExpressions") or ():
        clauses.append((expression["key"], _format_expression(expression)))
    return ",".join(text for _, text in sorted(clauses))


def _format_expression(expression: Object) -> str:
    key: str = expression["key"]
    values = ",".join(sorted(expression.get("values") or ()))
    forms: dict[str, str] = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    return forms[expression["operator"]]
