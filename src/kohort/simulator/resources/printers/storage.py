"""Where volumes, claims and storage classes become rows."""

from collections.abc import Sequence
from typing import Any

from kohort.cluster.objects import Object, annotations_of, is_leaving, name_of
from kohort.simulator.resources.printers.tables import (
    AGE,
    NAME,
    UNSET,
    Column,
    Printed,
    make_printer,
    shown,
    wide,
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
    """What a claim has got; nothing before it has a volume."""
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
