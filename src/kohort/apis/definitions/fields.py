"""
The types and annotations in which models of workloads are written.

A model is a msgspec Struct: its docstring describes the object, ``about`` a
field, and a field that may be absent has a default; None is no value. Facts that
only Kubernetes has (formats, list types, embedded types) are passed as extra
schema, so that one line of a model says everything about one field.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from kohort.apis.definitions.embedded_types import POD_TEMPLATE, VOLUME_CLAIM

EMBEDS = "embeds"  # in the extra schema of a field: the built-in type that it holds

Int32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
Int64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
PodTemplate = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: POD_TEMPLATE})]
VolumeClaim = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: VOLUME_CLAIM})]


def about(description: str, **limits: Any) -> Meta:
    """The description of a field, and its limits."""
    return Meta(description=description, **limits)


def keyed_by(*keys: str) -> Meta:
    """A list of type map: the named fields of an entry are its key."""
    words = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    return Meta(extra_json_schema=words)


class Model(Struct, rename="camel"):
    """An object with fields; those that must be given come first."""


_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


class Condition(Model):
    """One thing that is so, is not so, or is not known."""

    last_transition_time: Annotated[Time, about("When the status last changed.")]
    message: Annotated[str, about("The reason in a sentence.", max_length=32768)]
    reason: Annotated[
        str,
        about(
            "The reason in one word.",
            min_length=1,
            max_length=1024,
            pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        ),
    ]
    status: Annotated[Literal["True", "False", "Unknown"], about("Whether it is so.")]
    type: Annotated[
        str,
        about(
            "What it is about.", max_length=316, pattern=rf"^({_LABEL}(\.{_LABEL})*/)?({_NAME})$"
        ),
    ]
    observed_generation: Annotated[
        Int64 | None, about("The generation of the spec that this is said of.", ge=0)
    ] = None


Conditions = Annotated[list[Condition], keyed_by("type")]
