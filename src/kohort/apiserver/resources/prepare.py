"""Fields that clients may not set, restored by the server on creates and updates.

A create starts with a fresh status, an update of the object keeps the status it
had, and an update of the status keeps everything but the status and metadata.
"""

from collections.abc import Callable

from kohort.cluster.objects import Object


def start_status(default: Callable[[Object], None]) -> Callable[[Object], None]:
    """Give a new object its default status, whatever the client sent."""

    def prepare(obj: Object) -> None:
        obj.pop("status", None)
        default(obj)

    return prepare


def keep_status(obj: Object, old: Object) -> None:
    """Keep the stored status on an update of the object."""
    if "status" in old:
        obj["status"] = old["status"]
    else:
        obj.pop("status", None)


def keep_spec(obj: Object, old: Object) -> None:
    """Keep spec and owner references on an update of the status."""
    if "spec" in old:
        obj["spec"] = old["spec"]
    else:
        obj.pop("spec", None)
    owners = old["metadata"].get("ownerReferences")
    if owners:
        obj["metadata"]["ownerReferences"] = owners
    else:
        obj["metadata"].pop("ownerReferences", None)


def keep_spec_and_labels(obj: Object, old: Object) -> None:
    """Keep spec, owner references and labels on an update of the status."""
    keep_spec(obj, old)
    if "labels" in old["metadata"]:
        obj["metadata"]["labels"] = old["metadata"]["labels"]
    else:
        obj["metadata"].pop("labels", None)


def count_change(obj: Object, old: Object, field: str) -> None:
    """Raise the generation when this part of the metadata changes."""
    metadata, before = obj["metadata"], old["metadata"]
    if (metadata.get(field) or {}) != (before.get(field) or {}):
        metadata["generation"] = before.get("generation", 0) + 1
