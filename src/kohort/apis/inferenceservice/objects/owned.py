"""The common part of every object that a service owns: kind, metadata and owner reference."""

from collections.abc import Mapping

from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.objects import Kind, Object, owner_reference

FIELD_MANAGER = "kohort-inferenceservice"
FORMER_MANAGERS = ("manager",)  # the field manager of upstream's controller


def make_object(
    kind: Kind,
    service: InferenceService,
    name: str,
    labels: Mapping[str, str],
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """An object owned by a service, without a spec."""
    metadata: Object = {"name": name, "namespace": service.namespace}
    if labels:
        metadata["labels"] = dict(labels)
    if annotations:
        metadata["annotations"] = dict(annotations)
    metadata["ownerReferences"] = [owner_reference(service.obj)]
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}


def make_template(labels: Mapping[str, str], annotations: Mapping[str, str], pod: Object) -> Object:
    """A pod template with metadata."""
    metadata: Object = {"labels": dict(labels)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"metadata": metadata, "spec": pod}
