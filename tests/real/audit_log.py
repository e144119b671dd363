"""
What a real API server's audit log says about the operator: what it may not do, it has not done.

A write that changed nothing is answered with the version that the object had before,
and that version was the answer to an earlier write of some client.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from kohort.cluster.objects import Kind, Object

OPERATOR = "system:serviceaccount:lws-system:lws-controller-manager"
# People, as whom tests act; and nodes, which now and then delete a pod's namesake for it.
OUTSIDERS = ("admin", "kwok")
OWN_SECRET = ("lws-system", "lws-webhook-server-cert")
AuditRecord = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One write that the operator asked for."""

    verb: str
    resource: str
    namespace: str
    name: str
    uid: str  # of the object that it means, if it says so
    at: float


class Changed(NamedTuple):
    """What a write led to."""

    kind: Kind
    type: str
    obj: Object
    at: float


@dataclass
class AuditLog:
    """Reads a log from where it stopped, and remembers what happened to objects."""

    path: Path
    writes: Counter[str] = field(default_factory=Counter)  # of the operator: verb and resource
    asked: list[Asked] = field(default_factory=list)  # of the operator
    written: set[str] = field(default_factory=set)  # versions that the operator's writes led to
    written_by_outsiders: set[str] = field(default_factory=set)  # the same, of no controller
    failed: list[str] = field(default_factory=list)  # of any client: what the server could not do
    deleted: set[str] = field(default_factory=set)  # uids of what the operator deleted
    _offset: int = 0
    _versions: dict[str, set[str]] = field(default_factory=dict)
    _breaches: list[tuple[str, str]] = field(default_factory=list)  # namespace, what

    def read(self) -> None:
        """Take in what was noted since."""
        for entry in self._read():
            breach = self._judge(entry)
            if breach:
                namespace = (entry.get("objectRef") or {}).get("namespace", "")
                text = f"{breach}: {entry['verb']} {entry['requestURI']}"
                self._breaches.append((namespace, text))

    def read_breaches(self, namespace: str = "") -> list[str]:
        """What the operator did and should not have, in one namespace or all, told once."""
        self.read()
        told = [pair for pair in self._breaches if namespace in ("", pair[0])]
        self._breaches = [pair for pair in self._breaches if pair not in told]
        return [text for _, text in told]

    def _read(self) -> list[AuditRecord]:
        entries, self._offset = _read_entries(self.path, self._offset)
        return entries

    def find_changes(self, kinds: Sequence[Kind], namespace: str) -> list[Changed]:
        """What all writes in a namespace led to, as they were answered."""
        known = {kind.plural: kind for kind in kinds}
        found = []
        for entry in _read_entries(self.path)[0]:
            target, answer = entry.get("objectRef") or {}, entry.get("responseObject") or {}
            kind = known.get(target.get("resource", ""))
            version = (answer.get("metadata") or {}).get("resourceVersion")
            if kind is None or not version or target.get("namespace") != namespace:
                continue
            if (
                target.get("subresource") in (None, "status")
                and "dryRun" not in entry["requestURI"]
            ):
                found.append(Changed(kind, _find_change(entry), answer, _find_time(entry)))
        return found

    def _judge(self, entry: AuditRecord) -> str:
        is_known = self._note_version(entry)
        status = entry.get("responseStatus") or {}
        if status.get("code", 0) >= 500:
            self.failed.append(f"{entry['verb']} {entry['requestURI']}: {status.get('message')}")
        if entry["user"]["username"] in OUTSIDERS:
            self.written_by_outsiders.add(_find_version(entry))
        if entry["user"]["username"] != OPERATOR:
            return ""
        target = entry.get("objectRef") or {}
        code = status.get("code")
        if entry["verb"] not in ("get", "list", "watch"):
            self._note_write(entry, target, code)
        if code == 403 and not _is_refused_by_admission(entry):
            return "forbidden"
        if target.get("resource") == "secrets" and not _is_own_secret(entry, target):
            return "a Secret that is not ours"
        if entry["verb"] in ("patch", "update") and is_known:
            return "a write without a change"
        return ""

    def _note_write(self, entry: AuditRecord, target: AuditRecord, code: int) -> None:
        resource = "/".join(filter(None, (target.get("resource"), target.get("subresource"))))
        self.writes[f"{entry['verb']} {resource}"] += 1
        options = (entry.get("requestObject") or {}) if entry["verb"] == "delete" else {}
        wanted = options.get("preconditions") or {}
        place = target.get("namespace", ""), target.get("name", "")
        uid = wanted.get("uid", "")
        self.asked.append(Asked(entry["verb"], resource, *place, uid, _find_time(entry)))
        answer = entry.get("responseObject") or {}
        if code is None or code >= 300 or "dryRun" in entry["requestURI"]:
            return
        self.written.add(_find_version(entry))
        if entry["verb"] == "delete":
            self.deleted.add((answer.get("details") or {}).get("uid", ""))

    def _note_version(self, entry: AuditRecord) -> bool:
        """Remember the version that a write led to; whether it was there before."""
        metadata = (entry.get("responseObject") or {}).get("metadata") or {}
        version, uid = metadata.get("resourceVersion"), metadata.get("uid")
        if not version or not uid or "dryRun" in entry["requestURI"]:
            return False
        versions = self._versions.setdefault(uid, set())
        is_known = version in versions
        versions.add(version)
        return is_known


def _read_entries(path: Path, offset: int = 0) -> tuple[list[AuditRecord], int]:
    """What was answered since an offset, and the next one; the last line may be half written."""
    with path.open("rb") as file:
        file.seek(offset)
        text = file.read()
    whole = text[: text.rfind(b"\n") + 1]
    entries = [orjson.loads(line) for line in whole.splitlines()]
    done = [entry for entry in entries if entry["stage"] == "ResponseComplete"]
    return done, offset + len(whole)


def _find_version(entry: AuditRecord) -> str:
    """The version that a write led to; empty if it was not answered with an object."""
    version: str = ((entry.get("responseObject") or {}).get("metadata") or {}).get(
        "resourceVersion", ""
    )
    return version


def _find_change(entry: AuditRecord) -> str:
    options = entry.get("requestObject") or {}
    is_end = entry["verb"] == "delete" and options.get("gracePeriodSeconds") == 0
    return "DELETED" if is_end else "MODIFIED"


def _find_time(entry: AuditRecord) -> float:
    return datetime.fromisoformat(entry["requestReceivedTimestamp"]).timestamp()


def _is_refused_by_admission(entry: AuditRecord) -> bool:
    """Whether not the roles refused it: writes into namespaces that end are answered so, too."""
    annotations = entry.get("annotations") or {}
    return annotations.get("authorization.k8s.io/decision") == "allow"


def _is_own_secret(entry: AuditRecord, target: AuditRecord) -> bool:
    namespace, name = OWN_SECRET
    if target.get("namespace") != namespace:
        return False
    return target.get("name") == name or entry["verb"] == "create" or name in entry["requestURI"]
