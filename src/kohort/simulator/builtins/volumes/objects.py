"""The volumes provisioned for claims, and the status of a bound claim."""

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import CLAIM, VOLUME
from kohort.cluster.objects import Object

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONERS = (
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
)


def volume_name(claim: StoredObject) -> str:
    """The name of the volume that is made for a claim."""
    return f"pvc-{claim.uid}"


def claim_reference(claim: StoredObject) -> Object:
    """The claimRef of a volume."""
    return {
        "apiVersion": CLAIM.api_version,
        "kind": CLAIM.name,
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
        "resourceVersion": str(claim.rv),
    }


def render_volume(claim: StoredObject, obj: Object, storage_class: Object) -> Object:
    """A volume for a claim, as its storage class makes it."""
    spec = obj["spec"]
    name = volume_name(claim)
    return {
        "apiVersion": VOLUME.api_version,
        "kind": VOLUME.name,
        "metadata": {
            "name": name,
            "annotations": {PROVISIONED_BY: storage_class["provisioner"]},
        },
        "spec": {
            "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
            "capacity": {"storage": requested(obj)},
            "claimRef": claim_reference(claim),
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "hostPath": {"path": f"/var/lib/volumes/{name}", "type": "DirectoryOrCreate"},
        },
    }


def requested(claim: Object) -> str:
    """How much storage a claim asks for."""
    resources = claim["spec"].get("resources") or {}
    return str((resources.get("requests") or {}).get("storage", "1Gi"))


def bound_status(volume: Object) -> Object:
    """The status of a claim that has this volume."""
    spec = volume["spec"]
    return {
        "phase": "Bound",
        "accessModes": spec.get("accessModes") or [],
        "capacity": spec.get("capacity") or {},
    }
