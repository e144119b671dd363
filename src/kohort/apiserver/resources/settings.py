"""ConfigMaps, Secrets, ServiceAccounts, Leases and PriorityClasses, as built-in kinds.

Some fields never change, since other objects rely on them or have copied them: the data of an
immutable ConfigMap or Secret, the type of a Secret, and the value of a PriorityClass.
"""

from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Mapping

from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.printers import AGE, NAME, make_printer, shown
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_not_negative,
    check_unchanged,
    forbidden,
    invalid,
    required,
    too_long,
)
from kohort.apiserver.resources.validation.metadata import (
    check_metadata,
    validate_metadata,
    validate_metadata_update,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_config_key
from kohort.cluster.objects import Object, annotations_of, name_of

DATA_BYTES_MAX = 1024 * 1024
USER_PRIORITY_MAX = 10**9
_ACCOUNT = "kubernetes.io/service-account.name"
_FROZEN = "field is immutable when `immutable` is set"
_PARTS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
SYSTEM_PRIORITIES = {
    "system-cluster-critical": 2 * 10**9,
    "system-node-critical": 2 * 10**9 + 1000,
}
SERVICE_ACCOUNTS = make_printer(NAME, AGE)
LEASES = make_printer(
    NAME, shown("Holder", lambda lease: (lease.get("spec") or {}).get("holderIdentity", "")), AGE
)
PRIORITY_CLASSES = make_printer(
    NAME,
    shown("Value", lambda obj: obj.get("value", 0), type="integer"),
    shown("Global-Default", lambda obj: bool(obj.get("globalDefault")), type="boolean"),
    AGE,
    shown("PreemptionPolicy", lambda obj: obj.get("preemptionPolicy", "")),
)


def default_secret(secret: Object) -> None:
    """Set the defaults of a Secret, with ``stringData`` moved into ``data``."""
    secret.setdefault("type", "Opaque")
    plain = secret.pop("stringData", None)
    if plain:
        data = secret.get("data") or {}
        data.update({key: b64encode(text.encode()).decode() for key, text in plain.items()})
        secret["data"] = data


def default_priority_class(priority_class: Object) -> None:
    """Set the defaults of a priority class."""
    priority_class.setdefault("value", 0)
    priority_class.setdefault("preemptionPolicy", "PreemptLowerPriority")


def default_lease(lease: Object) -> None:
    """Set the defaults of a lease."""
    lease.setdefault("spec", {})


def validate_account(account: Object, old: Object | None) -> list[FieldError]:
    """The errors in a service account."""
    if old is not None:
        return validate_metadata_update(account, old)
    return validate_metadata(account, kinds.SERVICE_ACCOUNT)


def validate_config_map(config_map: Object, old: Object | None) -> list[FieldError]:
    """The errors in a config map."""
    faults = check_metadata(config_map, old, kinds.CONFIG_MAP)
    if old is not None and old.get("immutable"):
        faults += _check_frozen(config_map, old, ("data", "binaryData"))
    text, binary = config_map.get("data") or {}, config_map.get("binaryData") or {}
    size = 0
    for key, value in text.items():
        faults += [invalid(f"data[{key}]", key, why) for why in check_config_key(key)]
        if key in binary:
            faults.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        size += len(value) if value.isascii() else len(value.encode())
    for key, value in binary.items():
        faults += [invalid(f"binaryData[{key}]", key, why) for why in check_config_key(key)]
        size += _decoded_size(value)
    if size > DATA_BYTES_MAX:
        # An error of the whole map has an empty path.
        faults.append(too_long("[]", DATA_BYTES_MAX))
    return faults


def validate_secret(secret: Object, old: Object | None) -> list[FieldError]:
    """The errors in a secret."""
    faults = check_metadata(secret, old, kinds.SECRET)
    if old is not None:
        faults += check_unchanged("type", secret.get("type"), old.get("type"))
        if old.get("immutable"):
            faults += _check_frozen(secret, old, ("data",))
    data = secret.get("data") or {}
    size = 0
    for key, value in data.items():
        faults += [invalid(f"data[{key}]", key, why) for why in check_config_key(key)]
        size += _decoded_size(value)
    if size > DATA_BYTES_MAX:
        faults.append(too_long("data", DATA_BYTES_MAX))
    return faults + _validate_parts(secret, data)


def _validate_parts(secret: Object, data: Object) -> list[FieldError]:
    kind = secret.get("type")
    if kind == "kubernetes.io/service-account-token":
        if annotations_of(secret).get(_ACCOUNT):
            return []
        return [required(f"metadata.annotations[{_ACCOUNT}]")]
    if kind == "kubernetes.io/basic-auth":
        if "username" in data or "password" in data:
            return []
        return [required("data[username]"), required("data[password]")]
    return [required(f"data[{part}]") for part in _PARTS.get(str(kind), ()) if part not in data]


def _check_frozen(obj: Object, old: Object, fields: tuple[str, ...]) -> list[FieldError]:
    faults: list[FieldError] = []
    if not obj.get("immutable"):
        faults.append(forbidden("immutable", _FROZEN))
    for field in fields:
        if (obj.get(field) or {}) != (old.get(field) or {}):
            faults.append(forbidden(field, _FROZEN))
    return faults


def _decoded_size(text: str | None) -> int:
    try:
        return len(b64decode(text or ""))
    except BadBase64:
        return len(text or "")


def validate_lease(lease: Object, old: Object | None) -> list[FieldError]:
    """The errors in a lease."""
    spec = lease.get("spec") or {}
    faults = check_metadata(lease, old, kinds.LEASE)
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        faults.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    return faults + check_not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


def validate_priority_class(priority_class: Object, old: Object | None) -> list[FieldError]:
    """The errors in a PriorityClass; its value may not change, since pods have copied it."""
    faults = check_metadata(priority_class, old, kinds.PRIORITY_CLASS)
    value, policy = priority_class.get("value") or 0, priority_class.get("preemptionPolicy")
    if old is not None:
        if value != (old.get("value") or 0):
            faults.append(forbidden("value", "may not be changed in an update."))
        return faults + check_unchanged("preemptionPolicy", policy, old.get("preemptionPolicy"))
    name = name_of(priority_class)
    if name.startswith("system-"):
        faults += _validate_system_priority(name, value)
    elif value > USER_PRIORITY_MAX:
        why = f"maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}"
        faults.append(forbidden("value", why))
    return faults + check_choice("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def _validate_system_priority(name: str, value: int) -> list[FieldError]:
    known = SYSTEM_PRIORITIES.get(name)
    if known == value:
        return []
    why = (
        f"{name} is not a known system priority class"
        if known is None
        else f"value of {name} PriorityClass must be {known}"
    )
    reserved = "priority class names with 'system-' prefix are reserved for system use only"
    return [forbidden("metadata.name", f"{reserved}. error: {why}")]


def _read_entries(obj: Object) -> int:
    return len(obj.get("data") or {}) + len(obj.get("binaryData") or {})


_DATA = shown("Data", _read_entries, "How many entries it has.")
CONFIG_MAPS = make_printer(NAME, _DATA, AGE)
SECRETS = make_printer(NAME, shown("Type", lambda secret: secret.get("type", "")), _DATA, AGE)


def prepare_priority_class(priority_class: Object) -> None:
    """Set generation 1, which never rises, as the value of a class never changes."""
    priority_class["metadata"]["generation"] = 1


def secret_fields(secret: Object) -> Mapping[str, str]:
    """The selectable fields of a secret."""
    return {"type": secret.get("type") or ""}


KINDS = (
    BuiltinKind(
        kinds.CONFIG_MAP, ("cm",), (), Behaviour(validate=validate_config_map), CONFIG_MAPS
    ),
    BuiltinKind(
        kinds.SECRET,
        (),
        (),
        Behaviour(validate=validate_secret, default=default_secret, fields=secret_fields),
        SECRETS,
        fields=("type",),
    ),
    BuiltinKind(
        kinds.SERVICE_ACCOUNT,
        ("sa",),
        (),
        Behaviour(validate=validate_account),
        SERVICE_ACCOUNTS,
        subresources=("token",),
    ),
    BuiltinKind(
        kinds.PRIORITY_CLASS,
        ("pc",),
        (),
        Behaviour(
            validate=validate_priority_class,
            default=default_priority_class,
            prepare_create=prepare_priority_class,
        ),
        PRIORITY_CLASSES,
    ),
    BuiltinKind(
        kinds.LEASE,
        (),
        (),
        Behaviour(validate=validate_lease, default=default_lease),
        LEASES,
        may_appear=True,
    ),
)
