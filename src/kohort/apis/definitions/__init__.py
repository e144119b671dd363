"""CustomResourceDefinitions, generated from our models."""

from kohort.apis.definitions.definition import (
    Column,
    Definition,
    ScalePaths,
    write_definition,
)

__all__ = ["Column", "Definition", "ScalePaths", "write_definition"]
