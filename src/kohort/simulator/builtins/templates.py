"""Pods from pod templates, as every controller of pods makes them."""

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object


def pod_from_template(template: Object, owner: StoredObject, reference: Object) -> Object:
    """A pod in the owner's namespace, controlled by it; takes parts of the template over."""
    given = template.get("metadata") or {}
    metadata: Object = {
        "generateName": f"{owner.name}-",
        "namespace": owner.namespace,
        "labels": dict(given.get("labels") or {}),
        "ownerReferences": [reference],
    }
    if given.get("annotations"):
        metadata["annotations"] = dict(given["annotations"])
    if given.get("finalizers"):
        metadata["finalizers"] = list(given["finalizers"])
    return {
        "apiVersion": POD.api_version,
        "kind": POD.name,
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }
