"""
The template of a RoleBasedGroupSet, and how the operator compares groups with it.

The order of roles does not matter, and replicas of a role with a scaling adapter belong to the
adapter as soon as the group exists. An annotation on each group lists the labels and annotations
that came from the template: the operator removes these when the user takes them out of the
template, and keeps those that it or another client wrote on the group.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kohort.apis.revision_hash import hash_revision
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.names import child_name
from kohort.apis.rolebasedgroup.roles import as_map, as_objects, as_texts
from kohort.cluster.objects import (
    Object,
    annotations_of,
    encode_json,
    name_of,
    namespace_of,
    owner_reference,
)

# Groups inherit these from the set: conversion writes v1alpha1's spec fields on the set alone.
INHERITED = (
    labels.GANG,
    labels.GANG_TIMEOUT,
    labels.GANG_QUEUE,
    labels.GANG_PRIORITY,
    labels.EXCLUSIVE_TOPOLOGY,
)


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """The annotation on a group that records which template it was made from."""

    revision: str = ""
    labels: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    at: float = 0.0  # when the set last changed the group; 0: never


@dataclass(frozen=True, slots=True)
class Template:
    """The spec, labels and annotations that every group of a set should have."""

    spec: Object
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    content: Object = field(repr=False)  # the spec in the normal form in which specs are compared
    revision: str = ""


def read_template(group_set: Object) -> Template:
    """The template of a set."""
    template = as_map(as_map(group_set.get("spec")).get("groupTemplate"))
    own, spec = annotations_of(group_set), as_map(template.get("spec"))
    inherited = {key: own[key] for key in INHERITED if key in own}
    annotations = {**inherited, **as_texts(template.get("annotations"))}
    annotations.pop(labels.SET_TEMPLATE, None)
    named = as_texts(template.get("labels"))
    content = read_content(spec)
    facts = {"spec": content, "labels": named, "annotations": annotations}
    revision = hash_revision(encode_json(facts, sort=True))
    return Template(spec, named, annotations, content, revision)


def read_content(spec: Object) -> Object:
    """The normal form of a group's spec, in which two specs are compared."""
    roles = {str(role.get("name")): _drop_scaled(role) for role in as_objects(spec.get("roles"))}
    templates = {str(each.get("name")): each for each in as_objects(spec.get("roleTemplates"))}
    content: Object = _drop_empty({"roles": roles, "roleTemplates": templates})
    return content


def _drop_scaled(role: Object) -> Object:
    if not is_scaled(role):
        return role
    return {key: value for key, value in role.items() if key != "replicas"}


def is_scaled(role: Object) -> bool:
    """Whether a role has a scaling adapter."""
    return as_map(role.get("scalingAdapter")).get("enable") is True


def _drop_empty(value: Any) -> Any:
    """A value without empty fields, which the API server may or may not have stored."""
    if isinstance(value, dict):
        kept = {key: _drop_empty(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner not in ({}, [], None)}
    if isinstance(value, list):
        return [_drop_empty(inner) for inner in value]
    return value


def make_child(group_set: Object, template: Template, ordinal: int) -> Object:
    """A new group of a set."""
    note = Note(template.revision, tuple(template.labels), tuple(template.annotations))
    return {
        "apiVersion": labels.KIND.api_version,
        "kind": labels.KIND.name,
        "metadata": {
            "name": child_name(name_of(group_set), ordinal),
            "namespace": namespace_of(group_set),
            "labels": list_labels(group_set, template, ordinal),
            "annotations": {**template.annotations, labels.SET_TEMPLATE: write_note(note)},
            "ownerReferences": [owner_reference(group_set)],
        },
        "spec": template.spec,
    }


def list_labels(group_set: Object, template: Template, ordinal: int) -> dict[str, str]:
    """The labels that a group of the set should have."""
    own = {labels.SET_NAME: name_of(group_set), labels.SET_INDEX: str(ordinal)}
    return {**template.labels, **own}


def write_note(note: Note) -> str:
    """The note as the text of its annotation."""
    return msgspec.json.encode(note).decode()


def read_note(annotations: Mapping[str, str]) -> Note:
    """The note of a group; an empty one if the annotation is missing or invalid."""
    try:
        return msgspec.json.decode(annotations.get(labels.SET_TEMPLATE, "{}"), type=Note)
    except msgspec.MsgspecError:
        return Note()
