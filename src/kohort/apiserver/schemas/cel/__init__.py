"""
CEL: the rules of custom kinds and the conditions of webhooks.

Expressions are compiled once, when their owner is read. One that uses a
function which is missing here raises ``ExpressionError`` then, so that it is
refused with its owner and never skipped.
"""

from kohort.apiserver.schemas.cel.conditions import compile_condition
from kohort.apiserver.schemas.cel.environment import ExpressionError
from kohort.apiserver.schemas.cel.rules import Rules, find_rules

__all__ = ["ExpressionError", "Rules", "compile_condition", "find_rules"]
