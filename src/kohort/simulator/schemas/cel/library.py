"""
Functions that the API adds to CEL.
"""

from typing import Any

from cel_expr_python import cel


def make_library() -> Any:
    """The functions, as an extension of the engine."""
    return cel.CelExtension("kohort", [])
