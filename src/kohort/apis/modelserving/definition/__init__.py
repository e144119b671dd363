"""
The CustomResourceDefinitions of ModelServing: one kind in two groups, with one schema.

Several host aliases of one address are valid, as upstream's CRD allows them: the list has no keys.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.definitions import Column, Definition, write_definition
from kohort.apis.definitions.definition import AGE, ScalePaths
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.definition.model import ModelServingSpec, ModelServingStatus
from kohort.cluster.objects import Kind, Object

_DESCRIPTION = "Groups of roles, each with an entry pod and workers, that serve a model."
_LIST_WORDS = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys")


def define_model_serving() -> Object:
    """The CustomResourceDefinition of the current group, made afresh at each call."""
    return _define(labels.KIND, _DESCRIPTION)


def define_alias() -> Object:
    """The CustomResourceDefinition of the former API group, with the same schema."""
    text = f"{_DESCRIPTION} The current group of this kind is {labels.KIND.group}."
    return _define(labels.ALIAS_KIND, text)


def _define(kind: Kind, description: str) -> Object:
    definition = write_definition(
        Definition(
            kind=kind,
            short_names=(),
            description=description,
            spec=ModelServingSpec,
            status=ModelServingStatus,
            columns=(
                Column("Replicas", ".status.replicas", "integer"),
                Column("Available", ".status.availableReplicas", "integer"),
                Column("Updated", ".status.updatedReplicas", "integer"),
                AGE,
            ),
            scale=ScalePaths(".status.labelSelector"),
            is_spec_required=True,
        )
    )
    for aliases in _find_all(definition, "hostAliases"):
        for word in _LIST_WORDS:
            aliases.pop(word, None)
    return definition


def _find_all(value: Any, name: str) -> Iterator[Object]:
    """All schemas of fields with this name, at any depth."""
    if isinstance(value, list):
        for inner in value:
            yield from _find_all(inner, name)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == name and isinstance(inner, dict) and "type" in inner:
                yield inner
            else:
                yield from _find_all(inner, name)
