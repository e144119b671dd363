"""
What is wrong with claims, persistent volumes and storage classes.

Data may be there already: a claim only grows, and a class is made anew instead of changed.
"""

from typing import Any

from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified, check_subdomain
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity
from kohort.simulator import kinds
from kohort.simulator.resources.validation.faults import (
    check_choice,
    check_unchanged,
    forbidden,
    invalid,
    required,
    unsupported,
)
from kohort.simulator.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.simulator.resources.validation.pods.amounts import BAD_QUANTITY
from kohort.simulator.resources.validation.pods.volumes import SOURCES, validate_host_path

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_CLAIM_FROZEN = (
    "spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims"
)


def validate_claim(claim: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a claim; once made, it may only grow."""
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
    if _frozen_part(claim, old, spec) != _frozen_part(claim, old, before):
        return [forbidden("spec", _CLAIM_FROZEN)]
    new, was = _size_of(spec), _size_of(before)
    if new is not None and was is not None and parse_quantity(new) < parse_quantity(was):
        path = "spec.resources.requests.storage"
        return [forbidden(path, "field can not be less than status.capacity")]
    return _validate_claim_spec(spec)


def _frozen_part(claim: Object, old: Object, spec: Object) -> Object:
    part = dict(spec)
    # Who binds a claim writes the volume's name, and nobody changes it then.
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
    """What is wrong with a persistent volume."""
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
    """What is wrong with a storage class; hardly anything of it may change."""
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
