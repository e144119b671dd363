"""Validation of environment variables: their names, and the sources of their values."""

from kohort.apiserver.resources.validation.field_errors import invalid, required, unsupported
from kohort.cluster.fields import FieldError
from kohort.cluster.names import (
    check_config_key,
    check_qualified,
    check_subdomain,
    check_variable,
)
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_ONE_OF = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` "
    "or `fileKeyRef`"
)
_TOO_MANY = "may not have more than one field specified at a time"
_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName"),
    *("spec.serviceAccountName", "status.hostIP", "status.hostIPs"),
    *("status.podIP", "status.podIPs"),
)
# Fields that selectors know, but that are no source for a variable.
_OTHER_FIELDS = (
    *("metadata.labels", "metadata.annotations", "spec.restartPolicy", "spec.schedulerName"),
    *("status.phase", "status.nominatedNodeName", "spec.hostNetwork"),
)
_FILE_FIELDS = (
    *("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace"),
    "metadata.uid",
)
_RESOURCES = tuple(
    f"{kind}.{name}"
    for kind in ("limits", "requests")
    for name in ("cpu", "ephemeral-storage", "memory")
)


def validate_variables(container: Object, path: str) -> list[FieldError]:
    """The errors in the environment of a container."""
    faults: list[FieldError] = []
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name")
        if not name:
            faults.append(required(f"{path}.env[{index}].name"))
        elif check_variable(name):
            faults.append(invalid(f"{path}.env[{index}].name", name, check_variable(name)[0]))
        if variable.get("valueFrom") is not None:
            faults += _validate_value(variable, f"{path}.env[{index}].valueFrom")
    for index, source in enumerate(container.get("envFrom") or ()):
        faults += _validate_whole(source, f"{path}.envFrom", index)
    return faults


def _validate_value(variable: Object, path: str) -> list[FieldError]:
    source = variable["valueFrom"]
    given = [field for field in _SOURCES if source.get(field) is not None]
    faults: list[FieldError] = []
    if source.get("fieldRef") is not None:
        faults += validate_field(source["fieldRef"], f"{path}.fieldRef")
    if source.get("resourceFieldRef") is not None:
        faults += validate_resource(source["resourceFieldRef"], f"{path}.resourceFieldRef")
    for field in ("configMapKeyRef", "secretKeyRef"):
        if source.get(field) is not None:
            faults += _validate_key(source[field], f"{path}.{field}")
    if not given:
        faults.append(invalid(path, "", _ONE_OF))
    elif variable.get("value"):
        faults.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        faults.append(invalid(path, "", _TOO_MANY))
    return faults


def validate_field(reference: Object, path: str, *, in_file: bool = False) -> list[FieldError]:
    """The errors in a reference to a field of the pod; files may hold all labels."""
    field = reference.get("fieldPath") or ""
    if not field:
        return [required(f"{path}.fieldPath")]
    where = f"{path}.fieldPath"
    name, bracket, rest = field.partition("['")
    if bracket and name in ("metadata.labels", "metadata.annotations"):
        key = rest.removesuffix("']").lower()
        return [invalid(path, rest.removesuffix("']"), why) for why in check_qualified(key)]
    allowed = _FILE_FIELDS if in_file else _FIELDS
    if field in allowed:
        return []
    if field in _OTHER_FIELDS or field in _FIELDS:
        return [unsupported(where, field, allowed)]
    why = f"error converting fieldPath: field label not supported: {field}"
    return [invalid(where, field, why)]


def validate_resource(reference: Object, path: str, *, in_file: bool = False) -> list[FieldError]:
    """The errors in a reference to a resource of a container."""
    resource = reference.get("resource") or ""
    if in_file and not reference.get("containerName"):
        return [required(f"{path}.containerName")]
    if not resource:
        return [required(f"{path}.resource")]
    known = resource in _RESOURCES or ".hugepages-" in resource
    faults = [] if known else [unsupported(f"{path}.resource", resource, _RESOURCES)]
    try:
        parse_quantity(str(reference.get("divisor") or "0"))
    except ValueError:
        faults.append(invalid(f"{path}.divisor", reference["divisor"], "must be a quantity"))
    return faults


def _validate_key(reference: Object, path: str) -> list[FieldError]:
    name, key = reference.get("name") or "", reference.get("key")
    faults = [invalid(f"{path}.name", name, why) for why in check_subdomain(name)]
    if not key:
        return [*faults, required(f"{path}.key")]
    return faults + [invalid(f"{path}.key", key, why) for why in check_config_key(key)]


def _validate_whole(source: Object, path: str, index: int) -> list[FieldError]:
    faults: list[FieldError] = []
    prefix = source.get("prefix")
    if prefix:
        faults += [invalid(f"{path}[{index}].prefix", prefix, w) for w in check_variable(prefix)]
    given = [field for field in ("configMapRef", "secretRef") if source.get(field) is not None]
    for field in given:
        name = source[field].get("name") or ""
        where = f"{path}[{index}].{field}.name"
        if not name:
            faults.append(required(where))
        else:
            faults += [invalid(where, name, why) for why in check_subdomain(name)]
    if not given:
        faults.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
    elif len(given) > 1:
        faults.append(invalid(path, "", _TOO_MANY))
    return faults
