"""
Match conditions of webhooks: CEL expressions over a request.

The variables are those of the API. There is no authorizer here, so a condition
that asks one is refused when its webhook is configured.
"""

import re
from collections.abc import Callable
from typing import Any

from kohort.apiserver.schemas.cel.environment import EvaluationError, Expression, ExpressionError

__all__ = ["EvaluationError", "compile_condition"]

_NAMES = ("object", "oldObject", "request")
_AUTHORIZER = re.compile(r"(?<![\w.])authorizer\b")


def compile_condition(expression: str) -> Callable[[dict[str, Any]], bool]:
    """Compile a condition; call it with ``object``, ``oldObject`` and ``request``.

    Variables that are left out are null. Raises ``ExpressionError`` when compiling and
    ``EvaluationError`` when called.
    """
    if _AUTHORIZER.search(expression):
        raise ExpressionError("the authorizer variable is not supported by Kohort")
    compiled = Expression(expression, tuple((name, "dyn") for name in _NAMES), "BOOL")

    def holds(values: dict[str, Any]) -> bool:
        found = compiled.evaluate({name: values.get(name) for name in _NAMES})
        return found is True

    return holds
