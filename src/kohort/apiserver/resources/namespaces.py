"""Namespaces, as a built-in kind: row, defaults, checks, columns."""

from collections.abc import Mapping

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.prepare import keep_status
from kohort.apiserver.resources.printers import AGE, NAME, make_printer, shown
from kohort.apiserver.resources.resource import ALL_VERBS, Behaviour
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
    validate_plain_status,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_undotted
from kohort.cluster.objects import Object

NAMESPACES = make_printer(
    NAME, shown("Status", lambda obj: (obj.get("status") or {}).get("phase", "")), AGE
)
_NO_DELETE_COLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")


def default_namespace(namespace: Object) -> None:
    """Set the defaults of a namespace; its name is a label too, so that selectors can name it."""
    metadata = namespace.setdefault("metadata", {})
    if metadata.get("name"):
        labels = metadata.get("labels") or {}
        labels.setdefault("kubernetes.io/metadata.name", metadata["name"])
        metadata["labels"] = labels
    namespace.setdefault("spec", {})
    namespace.setdefault("status", {}).setdefault("phase", "Active")


def validate_namespace(namespace: Object, old: Object | None) -> list[FieldError]:
    """The errors in a namespace."""
    if old is not None:
        return validate_metadata_update(namespace, old)
    return validate_metadata(namespace, kinds.NAMESPACE, check_undotted)


def prepare_namespace(namespace: Object) -> None:
    """Make a new namespace active, with the finalizer that waits for its contents."""
    namespace["spec"] = {"finalizers": ["kubernetes"]}
    namespace["status"] = {"phase": "Active"}


def prepare_namespace_update(namespace: Object, old: Object) -> None:
    """Keep the finalizers in the spec, which only the finalize subresource changes."""
    namespace["spec"] = old.get("spec", {})
    keep_status(namespace, old)


def namespace_fields(namespace: Object) -> Mapping[str, str]:
    """The selectable fields of a namespace."""
    return {"status.phase": (namespace.get("status") or {}).get("phase") or ""}


KINDS = (
    BuiltinKind(
        kinds.NAMESPACE,
        ("ns",),
        (),
        Behaviour(
            validate=validate_namespace,
            validate_status=validate_plain_status,
            default=default_namespace,
            prepare_create=prepare_namespace,
            prepare_update=prepare_namespace_update,
            prepare_status=prepare.keep_spec,
            fields=namespace_fields,
        ),
        NAMESPACES,
        verbs=_NO_DELETE_COLLECTION,
        subresources=("finalize", "status"),
        fields=("status.phase",),
    ),
)
