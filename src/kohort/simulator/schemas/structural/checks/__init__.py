"""
Checks: a schema as closures that say what is wrong with a value.

Each module makes the checks of one kind of value; ``compiling`` puts them
together.
"""

from kohort.simulator.schemas.structural.checks.compiler import compile_check

__all__ = ["compile_check"]
