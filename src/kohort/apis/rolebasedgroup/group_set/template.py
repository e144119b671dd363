"""
What the groups of a set should be, and what they are compared by.

The order of roles says nothing, and replicas of a role that has a scaling adapter belong to the
adapter as soon as the group exists. Of labels and annotations only those are ours that came from
the template: a note on each group lists them, so that what the operator itself or another client
wrote on a group stays (rbg defect 18), and what was taken out of the template goes.
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

# What v1alpha1 says in its spec, and what a conversion writes on the set alone.
INHERITED = (
    labels.GANG,
    labels.GANG_TIMEOUT,
    labels.GANG_QUEUE,
    labels.GANG_PRIORITY,
    labels.EXCLUSIVE_TOPOLOGY,
)


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a group of a set was made from, as it says itself."""

    revision: str = ""
    labels: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    at: float = 0.0  # when it was last changed; 0: it is as it was made


@dataclass(frozen=True, slots=True)
class Template:
    """What every group of a set should be."""

    spec: Object
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    content: Object = field(repr=False)  # the spec, as specs are compared
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
    """What two specs of groups are compared by."""
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
    """A value without what says as much as nothing: a server may have stored it or not."""
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
    """A note, as annotations carry it."""
    return msgspec.json.encode(note).decode()


def read_note(annotations: Mapping[str, str]) -> Note:
    """The note of a group; an empty one where there is none that can be read."""
    try:
        return msgspec.json.decode(annotations.get(labels.SET_TEMPLATE, "{}"), type=Note)
    except msgspec.MsgspecError:
        return Note()
