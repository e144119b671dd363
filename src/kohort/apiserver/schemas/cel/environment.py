"""
The CEL engine: environments, compiled expressions, and its errors in the API's words.

An environment is made once for each combination of variable types and kept.
The engine counts no cost, but it ends loops after ten thousand turns. An expression that
could take too long for its values is split into parts, or refused before it runs.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import (
    ext_bindings,
    ext_encoders,
    ext_math,
    ext_optional,
    ext_strings,
)

from kohort.apiserver.schemas.cel.costs import CALL_MAX, Budget, read_costs, strip_comments
from kohort.apiserver.schemas.cel.library import make_library
from kohort.apiserver.schemas.cel.unrolled_rules import (
    INDEX,
    find_loop,
    split_conjunction,
)
from kohort.apiserver.schemas.cel.values import read_wanted
from kohort.cluster.errors import KohortError

_NO_FIELDS = re.compile(r"expression of type '([^']+)' cannot be the operand of a select operation")
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)'")
_KEY = re.compile(r'Key not found in map : "?(.*?)"?$')
_INDEX = re.compile(r"index=(-?\d+)")

_BUDGET = "Iteration budget exceeded"
_TOO_EXPENSIVE = "call cost exceeds limit"

_RESULTS = {
    "INT": "the expression must evaluate to an int",
    "BOOL": "cel expression must evaluate to a bool",
    "STRING": "messageExpression must evaluate to a string",
}

# Variable names with the types of their values, as the engine writes types.
Variables = tuple[tuple[str, str], ...]


class ExpressionError(KohortError):
    """An expression that does not compile, or uses functions that this engine lacks."""


class EvaluationError(KohortError):
    """An expression failed on a value; the text is that of a real API server."""


class _OverBudget(Exception):
    """The engine ended a loop that took too many iterations."""


class Expression:
    """A compiled expression."""

    def __init__(self, text: str, variables: Variables, result: str) -> None:
        self._text, self._variables, self._result = strip_comments(text), variables, result
        self._costs = read_costs(text)
        self._wanted = read_wanted(text, "self")
        try:
            self._compiled = _environment(variables).compile(text)
        except RuntimeError as error:
            raise ExpressionError(_explain(str(error))) from error
        found = self._compiled.return_type().name()
        if found not in (result, "DYN"):
            raise ExpressionError(_RESULTS[result])

    def evaluate(self, values: Mapping[str, Any], budget: Budget | None = None) -> Any:
        """The result with these variables; raises ``EvaluationError``."""
        cost = self._costs.estimate(values.values())
        if budget is not None:
            budget.spend(min(cost, CALL_MAX))
        if cost > CALL_MAX:
            return self._evaluate_parts(values)
        try:
            return self._evaluate(values)
        except _OverBudget:
            return self._evaluate_parts(values)

    def _choose(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values without the fields that the expression does not read."""
        seen = values.get("self")
        if self._wanted is None or not isinstance(seen, dict):
            return values
        return {**values, "self": {key: seen[key] for key in self._wanted if key in seen}}

    def _is_cheap(self, values: Mapping[str, Any], times: int = 1) -> bool:
        return self._costs.estimate(values.values(), times) <= CALL_MAX

    def _evaluate(self, values: Mapping[str, Any]) -> Any:
        try:
            result = self._compiled.eval(data=values)
        except RuntimeError as error:
            # The engine raises some errors of expressions instead of returning them.
            if _BUDGET in str(error):
                raise _OverBudget from error
            raise EvaluationError(_translate(str(error))) from error
        if result.type() == cel.Type.ERROR:
            raise EvaluationError(_translate(str(result.value())))
        return result.value()

    def _evaluate_parts(self, values: Mapping[str, Any]) -> bool:
        """Evaluate a rule whose loops are too long, entry by entry of the outer loops."""
        if self._result != "BOOL":
            raise EvaluationError(_TOO_EXPENSIVE)
        try:
            return all(self._holds(part, values) for part in split_conjunction(self._text))
        except (_OverBudget, ExpressionError):
            raise EvaluationError(_TOO_EXPENSIVE) from None

    def _holds(self, text: str, values: Mapping[str, Any]) -> bool:
        part = _compile(text, self._variables, "BOOL")
        values = part._choose(values)
        if part._is_cheap(values):
            with suppress(_OverBudget):
                return bool(part._evaluate(values))
        loop = find_loop(text)
        if loop is None:
            raise _OverBudget
        count = _compile(loop.count, self._variables, "INT")._evaluate(values)
        body = _compile(loop.body, (*self._variables, (INDEX, "int")), "BOOL")
        if not body._is_cheap(values, count):
            raise _OverBudget
        found = (bool(body._evaluate({**values, INDEX: index})) for index in range(count))
        match loop.macro:
            case "all":
                return all(found)
            case "exists":
                return any(found)
        return sum(found) == 1


@lru_cache(maxsize=256)
def _compile(text: str, variables: Variables, result: str) -> Expression:
    return Expression(text, variables, result)


@cache
def _environment(variables: Variables) -> Any:
    return cel.NewEnv(
        variables={name: cel.Type(signature) for name, signature in variables},
        extensions=[
            ext_strings.ExtStrings(),
            ext_optional.ExtOptional(),
            ext_math.ExtMath(),
            ext_bindings.ExtBindings(),
            ext_encoders.ExtEncoders(),
            make_library(),
        ],
    )


def _explain(text: str) -> str:
    """The compiler's message, without the engine's prefix."""
    text = text.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    text = _NO_FIELDS.sub(r"type '\1' does not support field selection", text)
    missing = sorted(set(_UNDECLARED.findall(text)))
    hint = ""
    if missing:
        hint = (
            f" (functions and macros that Kohort does not have are refused: {', '.join(missing)})"
        )
    return f"compilation failed: {text}{hint}"


def _translate(text: str) -> str:
    """An error of the engine as the API words it."""
    if match := _KEY.search(text):
        return f"no such key: {match[1]}"
    if "No matching overloads" in text:
        return "no such overload"
    if "Index error" in text and (match := _INDEX.search(text)):
        return f"index out of bounds: {match[1]}"
    if "divide by zero" in text:
        return "division by zero"
    return text.partition(": ")[2] or text
