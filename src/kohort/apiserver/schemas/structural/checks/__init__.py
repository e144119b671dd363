"""
Checks: a schema compiled into closures that return the errors of a value.

Each module makes the checks of one kind of value; ``compiler`` puts them together.
"""

from kohort.apiserver.schemas.structural.checks.compiler import compile_check

__all__ = ["compile_check"]
