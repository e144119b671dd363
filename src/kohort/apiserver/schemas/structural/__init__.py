"""
Schemas of custom kinds: defaulting, pruning and validation, compiled once for each version.

``compile_schema`` reads the root of a definition's schema and returns at once;
everything below is read when the first object leads there. The texts of errors
are those of the API.
"""

from kohort.apiserver.schemas.structural.schema import Structural, compile_schema

__all__ = ["Structural", "compile_schema"]
