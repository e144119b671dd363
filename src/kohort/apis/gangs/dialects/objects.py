"""
What most schedulers share: the marks of a pod, the metadata of a gang's object, its conditions.

Schedulers say in two forms why a gang is not placed: by a condition that says no, or by the lack of
one that says yes.
"""

from collections.abc import Iterator, Mapping

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


def find_minimum(obj: Object) -> int | None:
    """How many members a gang's object asks for; None if it does not say so in a field we know."""
    spec = obj.get("spec") or {}
    gang = (spec.get("schedulingPolicy") or {}).get("gang") or {}
    found = spec.get("minMember", gang.get("minCount"))
    return found if isinstance(found, int) else None


_SCHEDULED = ("PodGroupScheduled", "PodGroupInitiallyScheduled")


def find_objections(obj: Object) -> Iterator[str]:
    """The messages of conditions which say that the gang could not be placed."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        name, is_true = condition.get("type"), condition.get("status") == "True"
        says_no = (name == "Unschedulable" and is_true) or (name in _SCHEDULED and not is_true)
        if says_no and condition.get("message"):
            yield condition["message"]
