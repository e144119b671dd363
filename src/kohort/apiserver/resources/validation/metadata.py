"""
Metadata, which every kind has: names, labels, annotations, finalizers, owners.

Custom kinds are checked by the same functions.
"""

from typing import Any

from kohort.apiserver.resources.validation.field_errors import (
    IMMUTABLE,
    forbidden,
    invalid,
    ordered,
    required,
    too_long,
)
from kohort.cluster.fields import FieldError
from kohort.cluster.names import (
    Rule,
    check_label,
    check_label_value,
    check_qualified,
    check_subdomain,
)
from kohort.cluster.objects import Kind, Object

ANNOTATION_BYTES_MAX = 256 * 1024
_STANDARD_FINALIZERS = (
    "kubernetes",
    "orphan",
    "foregroundDeletion",
    "customresourcecleanup.apiextensions.k8s.io",
)
_IMMUTABLE_FIELDS = ("name", "namespace", "uid", "creationTimestamp")


def validate_metadata(
    obj: Object, kind: Kind, name_rule: Rule = check_subdomain, *, is_custom: bool = False
) -> list[FieldError]:
    """The errors in the metadata of a new object; custom kinds may have any finalizer."""
    metadata: Object = obj.get("metadata") or {}
    faults: list[FieldError] = []
    name, prefix = metadata.get("name"), metadata.get("generateName")
    if prefix:
        # The server appends a suffix to generateName, so a dash or a dot may end it.
        shown = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        faults += [invalid("metadata.generateName", prefix, why) for why in name_rule(shown)]
    if not name:
        faults.append(required("metadata.name", "name or generateName is required"))
    else:
        faults += [invalid("metadata.name", name, why) for why in name_rule(name)]
    faults += _validate_namespace(metadata, kind)
    return faults + _validate_rest(metadata, is_custom)


def check_metadata(
    obj: Object, old: Object | None, kind: Kind, name_rule: Rule = check_subdomain
) -> list[FieldError]:
    """The errors in the metadata of an object, new or changed."""
    if old is None:
        return validate_metadata(obj, kind, name_rule)
    return validate_metadata_update(obj, old)


def validate_plain_status(obj: Object, old: Object | None) -> list[FieldError]:
    """Validate a status update by its metadata only."""
    return validate_metadata_update(obj, old) if old is not None else []


def validate_metadata_update(
    obj: Object, old: Object, *, is_custom: bool = False
) -> list[FieldError]:
    """The errors in the metadata of an update."""
    metadata, before = obj.get("metadata") or {}, old.get("metadata") or {}
    faults = [
        invalid(f"metadata.{field}", metadata.get(field), IMMUTABLE)
        for field in _IMMUTABLE_FIELDS
        if metadata.get(field, before.get(field)) != before.get(field)
    ]
    if "deletionTimestamp" in before:
        kept = set(before.get("finalizers") or ())
        added = [name for name in metadata.get("finalizers") or () if name not in kept]
        if added:
            faults.append(
                forbidden(
                    "metadata.finalizers",
                    "no new finalizers can be added if the object is being deleted, "
                    f"found new finalizers {_go_list(added)}",
                )
            )
    return faults + _validate_rest(metadata, is_custom)


def _go_list(texts: list[str]) -> str:
    return "[]string{" + ", ".join(f'"{text}"' for text in texts) + "}"


def _validate_namespace(metadata: Object, kind: Kind) -> list[FieldError]:
    namespace = metadata.get("namespace")
    if not kind.namespaced:
        if namespace:
            return [forbidden("metadata.namespace", "not allowed on this type")]
        return []
    if not namespace:
        return [required("metadata.namespace")]
    return [invalid("metadata.namespace", namespace, why) for why in check_label(namespace)]


def _validate_rest(metadata: Object, is_custom: bool) -> list[FieldError]:
    faults: list[FieldError] = []
    if metadata.get("labels"):
        faults += validate_labels(metadata["labels"], "metadata.labels")
    if metadata.get("annotations"):
        faults += validate_annotations(metadata["annotations"], "metadata.annotations")
    if metadata.get("ownerReferences"):
        faults += _validate_owners(metadata["ownerReferences"])
    if metadata.get("finalizers"):
        faults += _validate_finalizers(metadata["finalizers"], is_custom)
    return faults


def validate_labels(labels: dict[str, str], path: str) -> list[FieldError]:
    """The errors in labels, or in a map that is compared with labels."""
    faults: list[FieldError] = []
    for key, value in labels.items():
        for why in check_qualified(key):
            faults.append(invalid(path, key, why))
        for why in check_label_value(value):
            faults.append(invalid(path, value, why))
    return faults


def validate_annotations(annotations: dict[str, str], path: str) -> list[FieldError]:
    """The errors in annotations."""
    faults: list[FieldError] = []
    size = 0
    for key, value in annotations.items():
        size += len(key) + (len(value) if value.isascii() else len(value.encode()))
        # Capitals are fine in the domain of an annotation's key.
        for why in check_qualified(key.lower()):
            faults.append(invalid(path, key, why))
    if size > ANNOTATION_BYTES_MAX:
        faults.append(too_long(path, ANNOTATION_BYTES_MAX))
    return faults


def _validate_owners(owners: list[Object]) -> list[FieldError]:
    path = "metadata.ownerReferences"
    faults: list[FieldError] = []
    controller: Object | None = None
    for owner in owners:
        faults += _validate_owner(owner, path)
        if owner.get("controller"):
            if controller is not None:
                shown = [_in_order(entry) for entry in owners]
                why = _two_controllers(controller, owner)
                faults.append(invalid(path, ordered(shown), why))
            controller = owner
    return faults


def _in_order(owner: Object) -> Object:
    fields = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {field: owner[field] for field in fields if field in owner}


def _two_controllers(first: Object, second: Object) -> str:
    return (
        'Only one reference can have Controller set to true. Found "true" in references for '
        f"{first.get('kind')}/{first.get('name')} and {second.get('kind')}/{second.get('name')}"
    )


def _validate_owner(owner: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    group, _, version = str(owner.get("apiVersion") or "").rpartition("/")
    if not version:
        why = "version must not be empty"
        faults.append(invalid(f"{path}.apiVersion", owner.get("apiVersion") or "", why))
    for field in ("kind", "name", "uid"):
        if not owner.get(field):
            faults.append(invalid(f"{path}.{field}", owner.get(field) or "", "must not be empty"))
    if owner.get("kind") == "Event" and version == "v1" and not group:
        faults.append(
            invalid(
                path, ordered(_in_order(owner)), "/v1, Kind=Event is disallowed from being an owner"
            )
        )
    return faults


_PATH = "including a path (/) "


def warn_of_finalizers(obj: Object, old: Object | None) -> list[str]:
    """Warnings about new finalizers without a domain, which may collide."""
    held = list((obj.get("metadata") or {}).get("finalizers") or ())
    before = ((old or {}).get("metadata") or {}).get("finalizers") or ()
    bare = [n for n in held if "/" not in n and n not in _STANDARD_FINALIZERS and n not in before]
    return [
        f'metadata.finalizers: "{name}": prefer a domain-qualified finalizer name '
        f"{_PATH if '.' in name else ''}to avoid accidental conflicts with other finalizer writers"
        for name in bare
    ]


def _validate_finalizers(finalizers: list[Any], is_custom: bool) -> list[FieldError]:
    path = "metadata.finalizers"
    faults: list[FieldError] = []
    for name in finalizers:
        faults += [invalid(path, name, why) for why in check_qualified(name)]
    for index, name in enumerate(() if is_custom else finalizers):
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            faults.append(invalid(f"{path}[{index}]", name, why))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        why = "finalizer orphan and finalizer foregroundDeletion cannot be both set"
        faults.append(invalid(path, finalizers, why))
    return faults
