"""
Object metadata: the fields that the server sets, and those that a client may not change.

A create drops the client's values of uid, times and generation, and an update restores
the stored ones, so a client can read an object, change it and send it whole. A new object
needs a namespace and a definition that are not being deleted. An existing object can always
be changed: otherwise the finalizers in a namespace that is being deleted could not be removed.
"""

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.requests import Target
from kohort.cluster.errors import (
    BadRequest,
    BareError,
    Forbidden,
    forbidden,
    invalid,
    not_found,
)
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Object

_SERVER_SET = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
GENERATED_NAME_MAX = 63


def start_metadata(context: Context, target: Target, obj: Object) -> None:
    """Set the server's metadata on a new object, and check its namespace and name."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        metadata = obj["metadata"] = {}
    if metadata.get("resourceVersion"):
        raise BareError("resourceVersion should not be set on objects to be created")
    place(target, metadata)
    for field in _SERVER_SET:
        metadata.pop(field, None)
    if not metadata.get("name"):
        metadata["name"] = _generate_name(context, target, metadata)
    metadata["uid"] = context.new_uid()
    metadata["creationTimestamp"] = context.stamp()
    if target.resource.has_generation:
        metadata["generation"] = 1


def place(target: Target, metadata: Object) -> None:
    """Set the namespace of the request; refuse an object that names another namespace."""
    if not target.resource.kind.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace", target.namespace) != target.namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = target.namespace


def _generate_name(context: Context, target: Target, metadata: Object) -> str:
    prefix = metadata.get("generateName")
    if not prefix:
        kind = target.resource.kind
        detail = "name or generateName is required"
        raise invalid(
            kind.name,
            kind.group,
            "",
            [FieldError(FieldErrorType.REQUIRED, "metadata.name", detail)],
        )
    return f"{prefix[: GENERATED_NAME_MAX - 5]}{context.new_suffix()}"


def drop_repeated_owners(metadata: Object) -> list[str]:
    """Remove repeated owner references; returns a warning for the client."""
    owners = metadata.get("ownerReferences") or ()
    if len(owners) < 2:
        return []
    kept: list[Object] = []
    repeated: list[str] = []
    for owner in owners:
        if owner in kept:
            repeated.append(owner.get("uid", ""))
        else:
            kept.append(owner)
    if not repeated:
        return []
    metadata["ownerReferences"] = kept
    return [
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
        "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
        f"duplicate UID(s) observed: {', '.join(repeated)}"
    ]


def check_surroundings(context: Context, target: Target) -> None:
    """Refuse a new object whose namespace or definition is missing or being deleted."""
    resource = target.resource
    if resource.structural is not None:
        definition = context.store.find(DEFINITION.group_resource, ("", resource.bucket))
        if definition is not None and definition.is_leaving:
            why = "create not allowed while custom resource definition is terminating"
            raise _refuse(target, why)
    if not resource.kind.namespaced:
        return
    namespace = context.store.find("namespaces", ("", target.namespace))
    if namespace is None:
        raise not_found("namespaces", "", target.namespace)
    if namespace.is_leaving:
        raise _refuse_content(target)


def _refuse_content(target: Target) -> Forbidden:
    namespace = target.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = _refuse(target, why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    error.details = {**(error.details or {}), "causes": [cause]}
    return error


def _refuse(target: Target, why: str) -> Forbidden:
    kind = target.resource.kind
    return forbidden(kind.plural, kind.group, target.name, why)


def carry_metadata(target: Target, obj: Object, old: Object) -> None:
    """Keep the metadata that only the server may set, on an update."""
    metadata, before = obj["metadata"], old["metadata"]
    place(target, metadata)
    metadata.pop("selfLink", None)
    for field in _KEPT:
        keep_field(metadata, before, field)
    if target.resource.has_generation or "generation" in before:
        metadata["generation"] = before.get("generation", 1)
    if metadata.get("generateName", "") != before.get("generateName", ""):
        keep_field(metadata, before, "generateName")


def keep_field(obj: Object, old: Object, field: str) -> None:
    """Give a field its old value, or remove it if it had none."""
    if field in old:
        obj[field] = old[field]
    else:
        obj.pop(field, None)
