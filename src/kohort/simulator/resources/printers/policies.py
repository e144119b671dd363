"""Where kinds of few columns become rows: data, identities, rights, leases and webhooks."""

from collections.abc import Callable

from kohort.cluster.objects import Object
from kohort.simulator.resources.printers.tables import (
    AGE,
    NAME,
    Printed,
    make_printer,
    shown,
    wide,
)


def _read_role(binding: Object) -> str:
    role = binding["roleRef"]
    return f"{role['kind']}/{role['name']}"


def _subjects(name: str, kind: str) -> Printed:
    def read(binding: Object) -> str:
        subjects = [s for s in binding.get("subjects") or [] if s["kind"] == kind]
        return ", ".join(_show_subject(subject) for subject in subjects)

    return wide(name, read)


def _show_subject(subject: Object) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"{subject.get('namespace', '')}/{subject['name']}"
    return str(subject["name"])


def _read_entries(obj: Object) -> int:
    return len(obj.get("data") or {}) + len(obj.get("binaryData") or {})


_DATA = shown("Data", _read_entries, "How many entries it has.")

NAMESPACES = make_printer(
    NAME, shown("Status", lambda obj: (obj.get("status") or {}).get("phase", "")), AGE
)
CONFIG_MAPS = make_printer(NAME, _DATA, AGE)
SECRETS = make_printer(NAME, shown("Type", lambda secret: secret.get("type", "")), _DATA, AGE)
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
ROLE_BINDINGS = make_printer(
    NAME,
    shown("Role", _read_role),
    AGE,
    _subjects("Users", "User"),
    _subjects("Groups", "Group"),
    _subjects("ServiceAccounts", "ServiceAccount"),
)
WEBHOOK_CONFIGURATIONS = make_printer(
    NAME, shown("Webhooks", lambda obj: len(obj.get("webhooks") or []), type="integer"), AGE
)


def _read_quota(prefix: str) -> Callable[[Object], str]:
    """The amounts of a quota that are limits, or those that are not, each as used of allowed."""

    def read(quota: Object) -> str:
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        names = sorted(name for name in hard if name.startswith("limits.") == bool(prefix))
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return read


RESOURCE_QUOTAS = make_printer(
    NAME,
    shown("Request", _read_quota(""), "What is used, of what may be requested."),
    shown("Limit", _read_quota("limits."), "What is used, of what limits may add up to."),
    AGE,
)
