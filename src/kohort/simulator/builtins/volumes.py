"""
The volume controller: it binds claims to volumes, and deletes released volumes.

Steps look at one claim (``claim/namespace/name``) or one volume (``volume//name``).
A claim binds to a free volume that fits, or else its storage class makes one,
at once or when the first pod that uses it has a node. Claims and volumes that
are in use are held by finalizers until they are not.

Pods are found by an index over the claims that they use. A pod's volumes never change, so a pod
is read once, and only if it has claims. A claim is in use for as long as a pod that names it
exists and has a node, whatever has become of its containers. Only a claim that was made for its
pod (``ephemeral``) is free when the node is done with that pod, since the pod may wait for it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CLAIM, POD, STORAGE_CLASS, VOLUME
from kohort.cluster.objects import Kind, Object, annotations_of
from kohort.cluster.quantities import parse_quantity
from kohort.cluster.selectors import read_label_selector
from kohort.simulator.builtins.ownership import reference
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)

_Place = tuple[str, str]


class Usage:
    """The pods of each claim."""

    def __init__(self) -> None:
        self._claims: dict[_Place, tuple[str, tuple[str, ...]]] = {}
        self._pods: dict[_Place, set[str]] = defaultdict(set)

    def note(self, old: StoredObject | None, new: StoredObject | None) -> list[_Place]:
        """Note a change of a pod; returns the claims that it uses or used."""
        entry = new or old
        assert entry is not None
        known_uid, claims = self._claims.get(entry.key, ("", ()))
        places = [(entry.namespace, claim) for claim in claims]
        if new is None or new.uid != known_uid:
            for place in places:
                self._drop(place, entry.name)
            self._claims.pop(entry.key, None)
        if new is not None and new.uid != known_uid:
            read = _read_claims(new)
            if read:
                self._claims[new.key] = (new.uid, read)
            for claim in read:
                self._pods[new.namespace, claim].add(new.name)
                places.append((new.namespace, claim))
        return places

    def _drop(self, place: _Place, pod: str) -> None:
        """Forget that a pod uses a claim, and the claim if it was the last one."""
        pods = self._pods.get(place, set())
        pods.discard(pod)
        if not pods:
            self._pods.pop(place, None)

    def find_node(self, namespace: str, claim: str, view: View) -> str | None:
        """The node of a pod that uses the claim, if one has been scheduled."""
        for name in sorted(self._pods.get((namespace, claim), ())):
            pod = view.find(POD, namespace, name)
            if pod is None or _is_done_with(pod, claim):
                continue
            if pod.facts.spec and pod.facts.spec.node_name:
                return pod.facts.spec.node_name
        return None


def _is_done_with(pod: StoredObject, claim: str) -> bool:
    """Whether a claim is this pod's ephemeral volume, and the pod has ended."""
    if not pod.facts.is_leaving:
        return False
    obj = pod.decode()
    volumes = (obj.get("spec") or {}).get("volumes") or ()
    made = {f"{pod.name}-{volume['name']}" for volume in volumes if "ephemeral" in volume}
    return claim in made and obj["metadata"].get("deletionGracePeriodSeconds") == 0


def _read_claims(pod: StoredObject) -> tuple[str, ...]:
    if b'"persistentVolumeClaim"' not in pod.raw and b'"ephemeral"' not in pod.raw:
        return ()
    claims = []
    for volume in (pod.decode().get("spec") or {}).get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            claims.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            claims.append(f"{pod.name}-{volume['name']}")
    return tuple(claims)


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


CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class Volumes:
    """The component that binds claims to volumes and protects both while in use."""

    name = "volumes"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (CLAIM, VOLUME, STORAGE_CLASS, POD)

    def __init__(self) -> None:
        self._usage = Usage()
        self._pending: set[str] = set()

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of a changed claim or volume, or of the claims of a changed pod or class."""
        entry = new or old
        assert entry is not None
        if kind == POD:
            return [_claim_key(*place) for place in self._usage.note(old, new)]
        if kind == CLAIM:
            keys = {_claim_key(entry.namespace, entry.name), f"volume//{volume_name(entry)}"}
            bound = (entry.decode().get("spec") or {}).get("volumeName")
            return keys | {f"volume//{bound}"} if bound else keys
        if kind == VOLUME:
            claim = (entry.decode().get("spec") or {}).get("claimRef") or {}
            keys = {f"volume//{entry.name}"}
            if claim:
                return keys | {_claim_key(claim.get("namespace", ""), claim.get("name", ""))}
            return keys | self._pending
        return set(self._pending)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Reconcile one claim or volume."""
        what, namespace, name = key.split("/", 2)
        if what == "volume":
            volume = view.find(VOLUME, "", name)
            return Step(tuple(_keep_volume(volume, view))) if volume else Step()
        claim = view.find(CLAIM, namespace, name)
        self._pending.discard(key)
        if claim is None:
            return Step()
        if claim.facts.is_leaving:
            return Step(tuple(self._release_claim(claim, view)))
        obj = claim.decode()
        bound = obj["spec"].get("volumeName")
        if bound:
            return Step(tuple(_finish(claim, obj, view.find(VOLUME, "", bound))))
        self._pending.add(key)
        return Step(tuple(self._bind(claim, obj, view)))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""

    def _release_claim(self, claim: StoredObject, view: View) -> Iterator[ComponentAction]:
        finalizers = claim.facts.metadata.finalizers
        if CLAIM_PROTECTION in finalizers and not self._usage.find_node(
            claim.namespace, claim.name, view
        ):
            yield _drop_finalizer(CLAIM, claim, CLAIM_PROTECTION)

    def _bind(self, claim: StoredObject, obj: Object, view: View) -> Iterator[ComponentAction]:
        about = reference(CLAIM, claim)
        class_name = obj["spec"].get("storageClassName")
        if class_name is None:
            default = _find_default_class(view)
            if default is None:
                text = "no persistent volumes available for this claim and no storage class is set"
                yield EventRequest(about, "Normal", "FailedBinding", text)
                return
            patch: Object = {"spec": {"storageClassName": default.name}}
            yield MergeRequest(CLAIM, claim.namespace, claim.name, patch, uid=claim.uid)
            return
        volume = view.find(VOLUME, "", volume_name(claim)) or _find_free(claim, obj, view)
        if volume is not None:
            yield from _tie(claim, volume)
        elif class_name:
            yield from self._provision(claim, obj, class_name, view)

    def _provision(
        self, claim: StoredObject, obj: Object, class_name: str, view: View
    ) -> Iterator[ComponentAction]:
        about = reference(CLAIM, claim)
        found = view.find(STORAGE_CLASS, "", class_name)
        if found is None:
            text = f'storageclass.storage.k8s.io "{class_name}" not found'
            yield EventRequest(about, "Warning", "ProvisioningFailed", text)
            return
        storage_class = found.decode()
        waits = storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        if waits and not self._has_consumer(claim, obj, view):
            text = "waiting for first consumer to be created before binding"
            yield EventRequest(about, "Normal", "WaitForFirstConsumer", text)
            return
        if storage_class["provisioner"] == NO_PROVISIONER:
            return
        yield CreateRequest(VOLUME, render_volume(claim, obj, storage_class))
        text = f"Successfully provisioned volume {volume_name(claim)}"
        yield EventRequest(about, "Normal", "ProvisioningSucceeded", text)

    def _has_consumer(self, claim: StoredObject, obj: Object, view: View) -> bool:
        if annotations_of(obj).get(SELECTED_NODE):
            return True
        return self._usage.find_node(claim.namespace, claim.name, view) is not None


def _claim_key(namespace: str, name: str) -> str:
    return f"claim/{namespace}/{name}"


def _find_default_class(view: View) -> StoredObject | None:
    defaults = [
        entry
        for entry in view.all(STORAGE_CLASS)
        if annotations_of(entry.decode()).get(_DEFAULT_CLASS) == "true"
    ]
    # Of several default classes the newest counts, and of equally new ones the first by name.
    defaults.sort(key=lambda entry: entry.name)
    return max(defaults, key=lambda e: e.facts.metadata.creation_timestamp, default=None)


def _find_free(claim: StoredObject, obj: Object, view: View) -> StoredObject | None:
    """The volume reserved for the claim, or the smallest unbound volume that fits."""
    spec = obj["spec"]
    selector = read_label_selector(spec.get("selector") or {})
    fitting: list[tuple[int, str, StoredObject]] = []
    for entry in view.all(VOLUME):
        volume = entry.decode()["spec"]
        held = volume.get("claimRef")
        if held:
            if _is_for(held, claim):
                return entry
            continue
        size = parse_quantity((volume.get("capacity") or {}).get("storage", "0"))
        if (
            not entry.facts.is_leaving
            and volume.get("storageClassName", "") == spec.get("storageClassName", "")
            and volume.get("volumeMode", "Filesystem") == spec.get("volumeMode", "Filesystem")
            and set(spec.get("accessModes") or ()) <= set(volume.get("accessModes") or ())
            and size >= parse_quantity(requested(obj))
            and selector.matches(entry.labels)
        ):
            fitting.append((size, entry.name, entry))
    return min(fitting)[2] if fitting else None


def _is_for(held: Object, claim: StoredObject) -> bool:
    is_named = (held.get("namespace"), held.get("name")) == claim.key
    return is_named and held.get("uid", claim.uid) in {"", claim.uid}


def _tie(claim: StoredObject, volume: StoredObject) -> Iterator[ComponentAction]:
    """Bind a volume and a claim to each other."""
    spec = volume.decode()["spec"]
    held = spec.get("claimRef") or {}
    if held.get("uid") != claim.uid:
        patch: Object = {
            "metadata": {"resourceVersion": str(volume.rv)},
            "spec": {"claimRef": claim_reference(claim)},
        }
        if not held:
            patch["metadata"]["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
        yield MergeRequest(VOLUME, "", volume.name, patch, uid=volume.uid)
    annotations = {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
    provisioner = annotations_of(volume.decode()).get("pv.kubernetes.io/provisioned-by")
    if provisioner:
        annotations |= dict.fromkeys(PROVISIONERS, provisioner)
    patch = {"metadata": {"annotations": annotations}, "spec": {"volumeName": volume.name}}
    yield MergeRequest(CLAIM, claim.namespace, claim.name, patch, uid=claim.uid)


def _finish(
    claim: StoredObject, obj: Object, volume: StoredObject | None
) -> Iterator[ComponentAction]:
    """Write the status of a claim that has a volume."""
    phase = (obj.get("status") or {}).get("phase")
    if volume is None:
        if BIND_COMPLETED in annotations_of(obj) and phase != "Lost":
            status = {"status": {"phase": "Lost"}}
            yield MergeRequest(CLAIM, *claim.key, status, subresource="status", uid=claim.uid)
            text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            yield EventRequest(reference(CLAIM, claim), "Warning", "ClaimLost", text)
        return
    found = volume.decode()
    held = found["spec"].get("claimRef")
    if held and not _is_for(held, claim):
        return
    if not held or held.get("uid") != claim.uid or BIND_COMPLETED not in annotations_of(obj):
        yield from _tie(claim, volume)
    if phase != "Bound":
        status = {"status": bound_status(found)}
        yield MergeRequest(CLAIM, *claim.key, status, subresource="status", uid=claim.uid)


def _keep_volume(volume: StoredObject, view: View) -> Iterator[ComponentAction]:
    """Write the phase of a volume, and delete or release it when its claim is gone."""
    obj = volume.decode()
    held = obj["spec"].get("claimRef") or {}
    uid = held.get("uid", "")
    claim = view.find(CLAIM, held.get("namespace", ""), held.get("name", "")) if held else None
    is_bound = claim is not None and claim.uid == uid
    if volume.facts.is_leaving:
        if VOLUME_PROTECTION in volume.facts.metadata.finalizers and not is_bound:
            yield _drop_finalizer(VOLUME, volume, VOLUME_PROTECTION)
        return
    phase = "Bound" if is_bound else "Released" if uid else "Available"
    if (obj.get("status") or {}).get("phase") != phase:
        status = {"status": {"phase": phase}}
        yield MergeRequest(VOLUME, "", volume.name, status, subresource="status", uid=volume.uid)
    policy = obj["spec"].get("persistentVolumeReclaimPolicy", "Retain")
    if phase == "Released" and policy == "Delete":
        yield DeleteRequest(VOLUME, "", volume.name, volume.uid)


def _drop_finalizer(kind: Kind, entry: StoredObject, finalizer: str) -> MergeRequest:
    rest = [name for name in entry.facts.metadata.finalizers if name != finalizer]
    metadata = {"finalizers": rest or None, "resourceVersion": str(entry.rv)}
    return MergeRequest(kind, entry.namespace, entry.name, {"metadata": metadata}, uid=entry.uid)
