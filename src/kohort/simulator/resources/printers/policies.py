"""Where kinds of few columns become rows: data, identities, rights, leases and webhooks."""

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
