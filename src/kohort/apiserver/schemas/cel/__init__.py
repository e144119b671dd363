"""
CEL: the rules of custom kinds and the conditions of webhooks.

The rules of a definition are compiled when it is written, to check them, and once more when its
first object is checked; conditions of webhooks when their configuration is read. An expression
that uses a function which is missing here raises ``ExpressionError`` when its owner is written,
so that it is refused with its owner and never skipped.
"""

from kohort.apiserver.schemas.cel.conditions import compile_condition
from kohort.apiserver.schemas.cel.environment import ExpressionError
from kohort.apiserver.schemas.cel.rules import Rules, find_rules

__all__ = ["ExpressionError", "Rules", "compile_condition", "find_rules"]
