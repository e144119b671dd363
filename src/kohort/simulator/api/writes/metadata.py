"""
Metadata: what the server sets itself, and what a client may never change.

What a client says of uid, times and generation is dropped when it creates and put back
as it was when it updates, so an object can be read, changed and sent whole. A new
object needs surroundings that stay; one that exists can always be changed, or what is
going could never be cleaned up.
"""

from kohort.cluster.errors import (
    BadRequest,
    BareError,
    Forbidden,
    forbidden,
    invalid,
    not_found,
)
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object
from kohort.simulator.api.context import Context
from kohort.simulator.api.requests import Target
from kohort.simulator.kinds import DEFINITION

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
    """Fill the metadata of a new object, and check that it may live where it is put."""
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
    """Put the object into the namespace of the request; another one is refused."""
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
    """Name each owner once; the client is told of those that it named again."""
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
    """A new object needs a namespace and a definition of its kind, and both must stay."""
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
    """Keep on an update what only the server may set."""
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
    """Let a field be as it was, which may be missing."""
    if field in old:
        obj[field] = old[field]
    else:
        obj.pop(field, None)
