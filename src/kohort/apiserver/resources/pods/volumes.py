"""Validation of a pod's volumes: each has a unique name and one source."""

from collections.abc import Callable

from kohort.apiserver.resources.pods.variables import validate_field, validate_resource
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    duplicate,
    forbidden,
    invalid,
    required,
)
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_label
from kohort.cluster.objects import Object

_HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File"),
    *("FileOrCreate", "Socket"),
)
_BAD_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
# The order in which a real server checks sources, which decides the error's field.
SOURCES = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret"),
    *("nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs"),
    *("quobyte", "downwardAPI", "fc", "azureFile", "configMap", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected"),
    *("scaleIO", "csi", "ephemeral", "image", "flexVolume"),
)


def validate_volumes(volumes: list[Object], path: str) -> tuple[list[FieldError], set[str]]:
    """The errors in volumes, and the names that containers may mount."""
    faults: list[FieldError] = []
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{path}[{index}]"
        name = volume.get("name") or ""
        faults += _validate_sources(volume, where)
        if not name:
            faults.append(required(f"{where}.name"))
        elif check_label(name):
            faults += [invalid(f"{where}.name", name, why) for why in check_label(name)]
        elif name in names:
            faults.append(duplicate(f"{where}.name", name))
        if name:
            names.add(name)
    return faults, names


def _validate_sources(volume: Object, path: str) -> list[FieldError]:
    if len(volume) == 2:
        source = next(field for field in volume if field != "name")
        check = _CHECKS.get(source)
        return check(volume[source] or {}, f"{path}.{source}") if check else []
    faults: list[FieldError] = []
    given = [source for source in SOURCES if volume.get(source) is not None]
    if not given:
        faults.append(required(path, "must specify a volume type"))
    for source in given[1:]:
        why = "may not specify more than 1 volume type"
        faults.append(forbidden(f"{path}.{source}", why))
    return faults


def _validate_secret(settings: Object, path: str) -> list[FieldError]:
    faults = [] if settings.get("secretName") else [required(f"{path}.secretName")]
    return faults + _validate_mode(settings, path) + _validate_items(settings, path)


def _validate_config_map(settings: Object, path: str) -> list[FieldError]:
    faults = [] if settings.get("name") else [required(f"{path}.name")]
    return faults + _validate_mode(settings, path) + _validate_items(settings, path)


def _validate_mode(settings: Object, path: str) -> list[FieldError]:
    mode = settings.get("defaultMode", 0)
    return [] if 0 <= mode <= 0o777 else [invalid(f"{path}.defaultMode", mode, _BAD_MODE)]


def _validate_items(settings: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, item in enumerate(settings.get("items") or ()):
        faults += [
            required(f"{path}.items[{index}].{field}")
            for field in ("key", "path")
            if not item.get(field)
        ]
    return faults


def _validate_claim(settings: Object, path: str) -> list[FieldError]:
    return [] if settings.get("claimName") else [required(f"{path}.claimName")]


def validate_host_path(settings: Object, path: str) -> list[FieldError]:
    """The errors in a path on a node."""
    where = settings.get("path") or ""
    if not where:
        return [required(f"{path}.path")]
    faults: list[FieldError] = []
    if ".." in where.split("/"):
        faults.append(invalid(f"{path}.path", where, "must not contain '..'"))
    return faults + check_choice(f"{path}.type", settings.get("type", ""), _HOST_PATH_TYPES)


def _validate_downward(settings: Object, path: str) -> list[FieldError]:
    faults = _validate_mode(settings, path)
    for index, item in enumerate(settings.get("items") or ()):
        where = f"{path}[{index}]"
        if not item.get("path"):
            faults.append(required(f"{where}.path"))
        if item.get("fieldRef") is not None:
            faults += validate_field(item["fieldRef"], f"{where}.fieldRef", in_file=True)
        elif item.get("resourceFieldRef") is not None:
            reference = item["resourceFieldRef"]
            faults += validate_resource(reference, f"{where}.resourceFieldRef", in_file=True)
        else:
            why = "one of fieldRef and resourceFieldRef is required"
            faults.append(required(f"{where}.fieldRef", why))
    return faults


def _validate_nfs(settings: Object, path: str) -> list[FieldError]:
    return [required(f"{path}.{field}") for field in ("server", "path") if not settings.get(field)]


_CHECKS: dict[str, Callable[[Object, str], list[FieldError]]] = {
    "secret": _validate_secret,
    "configMap": _validate_config_map,
    "persistentVolumeClaim": _validate_claim,
    "hostPath": validate_host_path,
    "downwardAPI": _validate_downward,
    "projected": _validate_mode,
    "nfs": _validate_nfs,
}
