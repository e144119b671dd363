"""
Parts of objects that most schedulers share: the marks of a pod, and the metadata of
a group.

A label holds fewer characters than a name may have. The API server would refuse a pod whose
gang has too long a name, so the pod is not marked, and a loss is reported.
"""

from collections.abc import Mapping

from kohort.apis.gangs.intent import Intent
from kohort.cluster.objects import Kind, Object, annotations_of, labels_of

LABEL_CHARACTERS_MAX = 63


def mark_pod(
    pod: Object,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """The pod with more labels and annotations; the given pod is not changed."""
    metadata = dict(pod.get("metadata") or {})
    if labels:
        metadata["labels"] = {**labels_of(pod), **labels}
    if annotations:
        metadata["annotations"] = {**annotations_of(pod), **annotations}
    return {**pod, "metadata": metadata}


def fits_label(name: str) -> bool:
    """Whether a name is short enough for a label."""
    return len(name) <= LABEL_CHARACTERS_MAX


def write_group(
    kind: Kind, intent: Intent, spec: Object, annotations: Mapping[str, str] | None = None
) -> Object:
    """The object of a gang, with its metadata and owner."""
    metadata: Object = {
        "name": intent.name,
        "namespace": intent.namespace,
        "labels": dict(intent.labels),
        "ownerReferences": [intent.owner],
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": metadata,
        "spec": spec,
    }
