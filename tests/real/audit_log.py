"""
What a real API server's audit log says about the operator: what it may not do, it has not done.

A write that changed nothing is answered with the version that the object had before,
and that version was the answer to somebody's earlier write.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OPERATOR = "system:serviceaccount:lws-system:lws-controller-manager"
OWN_SECRET = ("lws-system", "lws-webhook-server-cert")
Entry = dict[str, Any]


@dataclass
class AuditLog:
    """Reads a log from where it stopped, and remembers the versions of objects."""

    path: Path
    writes: Counter[str] = field(default_factory=Counter)  # of the operator: verb and resource
    _offset: int = 0
    _versions: dict[str, set[str]] = field(default_factory=dict)

    def read_breaches(self) -> list[str]:
        """What the operator did since, and should not have."""
        found = []
        for entry in self._read():
            breach = self._judge(entry)
            if breach:
                found.append(f"{breach}: {entry['verb']} {entry['requestURI']}")
        return found

    def _read(self) -> list[Entry]:
        with self.path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        # The last line may be half written.
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        entries = [json.loads(line) for line in whole.splitlines()]
        return [entry for entry in entries if entry["stage"] == "ResponseComplete"]

    def _judge(self, entry: Entry) -> str:
        is_known = self._note_version(entry)
        if entry["user"]["username"] != OPERATOR:
            return ""
        target = entry.get("objectRef") or {}
        resource = "/".join(filter(None, (target.get("resource"), target.get("subresource"))))
        if entry["verb"] not in ("get", "list", "watch"):
            self.writes[f"{entry['verb']} {resource}"] += 1
        code = (entry.get("responseStatus") or {}).get("code")
        if code == 403 and not _is_refused_by_admission(entry):
            return "forbidden"
        if target.get("resource") == "secrets" and not _is_own_secret(entry, target):
            return "a Secret that is not ours"
        if entry["verb"] in ("patch", "update") and is_known:
            return "a write without a change"
        return ""

    def _note_version(self, entry: Entry) -> bool:
        """Remember the version that a write led to; whether it was there before."""
        metadata = (entry.get("responseObject") or {}).get("metadata") or {}
        version, uid = metadata.get("resourceVersion"), metadata.get("uid")
        if not version or not uid or "dryRun" in entry["requestURI"]:
            return False
        versions = self._versions.setdefault(uid, set())
        is_known = version in versions
        versions.add(version)
        return is_known


def _is_refused_by_admission(entry: Entry) -> bool:
    """Whether not the roles refused it: writes into namespaces that end are answered so, too."""
    annotations = entry.get("annotations") or {}
    return annotations.get("authorization.k8s.io/decision") == "allow"


def _is_own_secret(entry: Entry, target: Entry) -> bool:
    namespace, name = OWN_SECRET
    if target.get("namespace") != namespace:
        return False
    return target.get("name") == name or entry["verb"] == "create" or name in entry["requestURI"]
