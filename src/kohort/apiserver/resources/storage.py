"""Claims, persistent volumes and storage classes, as built-in kinds."""

from collections.abc import Sequence
from typing import Any

from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.pods.amounts import BAD_QUANTITY
from kohort.apiserver.resources.pods.defaults import default_claim_spec
from kohort.apiserver.resources.pods.volumes import SOURCES, validate_host_path
from kohort.apiserver.resources.pods.warnings import warn_of_amounts
from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    UNSET,
    Column,
    Printed,
    make_printer,
    shown,
    wide,
)
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_unchanged,
    forbidden,
    invalid,
    required,
    unsupported,
)
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified, check_subdomain
from kohort.cluster.objects import Object, annotations_of, is_leaving, name_of
from kohort.cluster.quantities import parse_quantity

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_CLAIM_FROZEN = (
    "spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims"
)
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_RECYCLE = (
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
    "recommended approach is to use dynamic provisioning."
)
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def default_claim(claim: Object) -> None:
    """Set the defaults of a claim."""
    spec = claim.setdefault("spec", {})
    default_claim_spec(spec)
    claim.setdefault("status", {}).setdefault("phase", "Pending")


def default_claim_template(claim: Object) -> None:
    """Set the defaults of a claim template of a StatefulSet, which is stored as a whole object."""
    claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
    claim.setdefault("metadata", {})
    default_claim(claim)


def default_persistent_volume(volume: Object) -> None:
    """Set the defaults of a persistent volume."""
    spec = volume.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")
    volume.setdefault("status", {}).setdefault("phase", "Pending")


def default_storage_class(storage_class: Object) -> None:
    """Set the defaults of a storage class."""
    storage_class.setdefault("reclaimPolicy", "Delete")
    storage_class.setdefault("volumeBindingMode", "Immediate")


def validate_claim(claim: Object, old: Object | None) -> list[FieldError]:
    """The errors in a claim; an update may only raise its request."""
    spec = claim.get("spec") or {}
    if old is not None:
        faults = validate_metadata_update(claim, old)
        return faults if spec == old.get("spec") else faults + _validate_claim_update(claim, old)
    return validate_metadata(claim, kinds.CLAIM) + _validate_claim_spec(spec)


def _validate_claim_spec(spec: Object) -> list[FieldError]:
    modes = spec.get("accessModes") or []
    faults: list[FieldError] = []
    if not modes:
        faults.append(required("spec.accessModes", "at least 1 access mode is required"))
    faults += _validate_modes(modes)
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        faults.append(required("spec.resources[storage]"))
    else:
        faults += _validate_size(requests["storage"], "spec.resources[storage]")
    name = spec.get("storageClassName")
    if name:
        faults += [invalid("spec.storageClassName", name, why) for why in check_subdomain(name)]
    return faults + check_choice("spec.volumeMode", spec.get("volumeMode"), _VOLUME_MODES)


def _validate_modes(modes: list[str]) -> list[FieldError]:
    return [
        unsupported("spec.accessModes", mode, _ACCESS_MODES)
        for mode in modes
        if mode not in _ACCESS_MODES
    ]


def _validate_size(size: Any, path: str) -> list[FieldError]:
    try:
        amount = parse_quantity(size)
    except ValueError:
        return [invalid(path, size, BAD_QUANTITY)]
    return [] if amount > 0 else [invalid(path, size, "must be greater than zero")]


def _validate_claim_update(claim: Object, old: Object) -> list[FieldError]:
    spec, before = claim["spec"], old["spec"]
    if _frozen_part(old, spec) != _frozen_part(old, before):
        return [forbidden("spec", _CLAIM_FROZEN)]
    new, was = _size_of(spec), _size_of(before)
    if new is not None and was is not None and parse_quantity(new) < parse_quantity(was):
        path = "spec.resources.requests.storage"
        return [forbidden(path, "field can not be less than status.capacity")]
    return _validate_claim_spec(spec)


def _frozen_part(old: Object, spec: Object) -> Object:
    part = dict(spec)
    # The binder of a claim writes the volume's name; no later update may change it.
    if not old["spec"].get("volumeName"):
        part.pop("volumeName", None)
    if old["spec"].get("storageClassName") is None:
        part.pop("storageClassName", None)
    if (old.get("status") or {}).get("phase") == "Bound":
        part.pop("resources", None)
        part.pop("volumeAttributesClassName", None)
    return part


def _size_of(spec: Object) -> Any:
    return ((spec.get("resources") or {}).get("requests") or {}).get("storage")


def validate_persistent_volume(volume: Object, old: Object | None) -> list[FieldError]:
    """The errors in a persistent volume."""
    spec = volume.get("spec") or {}
    if old is None:
        faults = validate_metadata(volume, kinds.VOLUME)
    else:
        faults = validate_metadata_update(volume, old)
    modes, capacity = spec.get("accessModes") or [], spec.get("capacity")
    if not modes:
        faults.append(required("spec.accessModes"))
    faults += _validate_modes(modes)
    if not capacity:
        faults.append(required("spec.capacity"))
    if "storage" not in (capacity or {}) or len(capacity or {}) > 1:
        faults.append(unsupported("spec.capacity", capacity, ("storage",)))
    for name, size in (capacity or {}).items():
        faults += _validate_size(size, f"spec.capacity[{name}]")
    policy = spec.get("persistentVolumeReclaimPolicy")
    faults += _validate_place(spec)
    faults += check_choice("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES)
    name = spec.get("storageClassName")
    if name:
        faults += [invalid("spec.storageClassName", name, why) for why in check_subdomain(name)]
    return faults + check_choice("spec.volumeMode", spec.get("volumeMode"), _VOLUME_MODES)


def _validate_place(spec: Object) -> list[FieldError]:
    given = [source for source in (*SOURCES, "local") if spec.get(source) is not None]
    if not given:
        return [required("spec", "must specify a volume type")]
    faults = [
        forbidden(f"spec.{source}", "may not specify more than 1 volume type")
        for source in given[1:]
    ]
    if given[0] == "hostPath":
        faults = validate_host_path(spec["hostPath"], "spec.hostPath") + faults
    return faults


def validate_storage_class(storage_class: Object, old: Object | None) -> list[FieldError]:
    """The errors in a StorageClass; an update may change few fields."""
    if old is not None:
        faults = validate_metadata_update(storage_class, old)
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            faults += check_unchanged(field, storage_class.get(field), old.get(field))
        return faults
    faults = validate_metadata(storage_class, kinds.STORAGE_CLASS)
    maker = storage_class.get("provisioner") or ""
    if not maker:
        faults.append(required("provisioner"))
    else:
        complaints = check_qualified(maker.lower())
        faults += [invalid("provisioner", maker, why) for why in complaints]
    policy = storage_class.get("reclaimPolicy")
    faults += check_choice("reclaimPolicy", policy, ("Delete", "Retain"))
    mode = storage_class.get("volumeBindingMode")
    return faults + check_choice("volumeBindingMode", mode, ("Immediate", "WaitForFirstConsumer"))


def _segment(obj: Object, part: str, field: str, default: Any = "") -> Any:
    return (obj.get(part) or {}).get(field) or default


def _show_modes(modes: Sequence[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _read_phase(obj: Object) -> str:
    return "Terminating" if is_leaving(obj) else str(_segment(obj, "status", "phase"))


def _read_class(obj: Object) -> str:
    annotated = annotations_of(obj).get(_CLASS_ANNOTATION)
    return annotated or str(_segment(obj, "spec", "storageClassName"))


def _read_claim(volume: Object) -> str:
    claim = _segment(volume, "spec", "claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _read_capacity(claim: Object) -> str:
    """The capacity of a claim's volume; empty before the claim is bound."""
    if not _segment(claim, "spec", "volumeName"):
        return ""
    return str(_segment(claim, "status", "capacity", {}).get("storage", "0"))


def _read_modes(claim: Object) -> str:
    is_bound = _segment(claim, "spec", "volumeName")
    return _show_modes(_segment(claim, "status", "accessModes", [])) if is_bound else ""


def _read_class_name(storage_class: Object) -> str:
    annotations = annotations_of(storage_class)
    is_default = any(annotations.get(key) == "true" for key in _DEFAULT_ANNOTATIONS)
    return name_of(storage_class) + (" (default)" if is_default else "")


_STATUS = shown("Status", _read_phase)
_CLASS = shown("StorageClass", _read_class)
_ATTRIBUTES = shown(
    "VolumeAttributesClass",
    lambda obj: _segment(obj, "spec", "volumeAttributesClassName", UNSET),
)
_MODE = wide("VolumeMode", lambda obj: _segment(obj, "spec", "volumeMode", UNSET))
PERSISTENT_VOLUMES = make_printer(
    NAME,
    shown("Capacity", lambda volume: _segment(volume, "spec", "capacity", {}).get("storage", "0")),
    shown("Access Modes", lambda volume: _show_modes(_segment(volume, "spec", "accessModes", []))),
    shown(
        "Reclaim Policy", lambda volume: _segment(volume, "spec", "persistentVolumeReclaimPolicy")
    ),
    _STATUS,
    shown("Claim", _read_claim, "The claim that holds the volume."),
    _CLASS,
    _ATTRIBUTES,
    shown("Reason", lambda volume: _segment(volume, "status", "reason")),
    AGE,
    _MODE,
)
PERSISTENT_VOLUME_CLAIMS = make_printer(
    NAME,
    _STATUS,
    shown("Volume", lambda claim: _segment(claim, "spec", "volumeName")),
    shown("Capacity", _read_capacity),
    shown("Access Modes", _read_modes),
    _CLASS,
    _ATTRIBUTES,
    AGE,
    _MODE,
)
STORAGE_CLASSES = make_printer(
    Printed(Column("Name", "string", "name"), lambda obj, now: _read_class_name(obj)),
    shown("Provisioner", lambda obj: obj.get("provisioner", "")),
    shown("ReclaimPolicy", lambda obj: obj.get("reclaimPolicy") or "Delete"),
    shown("VolumeBindingMode", lambda obj: obj.get("volumeBindingMode") or "Immediate"),
    shown("AllowVolumeExpansion", lambda obj: bool(obj.get("allowVolumeExpansion"))),
    AGE,
)


def prepare_persistent_volume(volume: Object) -> None:
    """Set the phase of a new volume to Pending, since now."""
    status = {"phase": "Pending"}
    if volume["metadata"].get("creationTimestamp"):
        status["lastPhaseTransitionTime"] = volume["metadata"]["creationTimestamp"]
    volume["status"] = status


def warn_of_claim(claim: Object, old: Object | None) -> list[str]:
    """Warnings for the author of a claim."""
    found = []
    if _BETA_CLASS in ((claim.get("metadata") or {}).get("annotations") or {}):
        found.append(
            f"metadata.annotations[{_BETA_CLASS}]: deprecated since v1.8; "
            'use "storageClassName" attribute instead'
        )
    resources = (claim.get("spec") or {}).get("resources") or {}
    return found + warn_of_amounts(resources, "spec.resources", ("storage",))


def warn_of_volume(volume: Object, old: Object | None) -> list[str]:
    """Warnings for the author of a persistent volume."""
    policy = (volume.get("spec") or {}).get("persistentVolumeReclaimPolicy")
    return [_RECYCLE] if policy == "Recycle" else []


KINDS = (
    BuiltinKind(
        kinds.CLAIM,
        ("pvc",),
        (),
        reported(validate_claim, default_claim, warn=warn_of_claim),
        PERSISTENT_VOLUME_CLAIMS,
        subresources=("status",),
    ),
    BuiltinKind(
        kinds.VOLUME,
        ("pv",),
        (),
        reported(
            validate_persistent_volume,
            default_persistent_volume,
            warn=warn_of_volume,
            prepare_create=prepare_persistent_volume,
        ),
        PERSISTENT_VOLUMES,
        subresources=("status",),
    ),
    BuiltinKind(
        kinds.STORAGE_CLASS,
        ("sc",),
        (),
        Behaviour(validate=validate_storage_class, default=default_storage_class),
        STORAGE_CLASSES,
    ),
)
