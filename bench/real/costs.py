"""
Costs: what the operator and the control plane spent between two moments.

CPU time and memory come from the kernel, requests from the API server's audit log,
webhook calls from its metrics. Events and leases are counted apart from other
writes, and so are simulations, which store nothing.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from bench.processes import cpu_seconds
from bench.real.sites import USER, Site

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_REFUSED = 400
_WEBHOOK = re.compile(
    r'^apiserver_admission_webhook_request_total\{.*?name="([^"]+)".*\} (\S+)$', re.M
)


class Meter:
    """Counts from the moment at which it was started."""

    def __init__(self, place: Site, operator: int) -> None:
        self._place = place
        self._processes = {**place.processes(), "operator": operator, "harness": os.getpid()}
        self._operator = operator
        self._offset = 0
        self._cpu: dict[str, float] = {}
        self._calls: Counter[str] = Counter()

    def operator_cpu(self) -> float:
        """What the operator has used in its life."""
        return cpu_seconds(self._operator)

    def server_cpu(self) -> float:
        """What the API server has used in its life."""
        return cpu_seconds(self._processes["kube-apiserver"])

    async def start(self) -> None:
        """Count from now."""
        self._offset = self._place.audit.stat().st_size
        self._calls = await self._read_calls()
        self._cpu = self._read_cpu()

    async def read(self) -> dict[str, Any]:
        """What was spent since."""
        cpu = self._read_cpu()
        spent = {name: round(cpu[name] - self._cpu[name], 2) for name in cpu}
        calls = await self._read_calls() - self._calls
        return {
            "cpu_s": spent.pop("operator"),
            "others_cpu_s": spent,
            "peak_mib": _peak_mib(self._operator),
            "webhook_calls": calls.total(),
            "webhook_calls_by_name": dict(calls),
            **count_requests(self._place.audit, self._offset),
        }

    def _read_cpu(self) -> dict[str, float]:
        return {name: cpu_seconds(pid) for name, pid in self._processes.items()}

    async def _read_calls(self) -> Counter[str]:
        text = (await self._place.server.ask("GET", "/metrics")).decode()
        found: Counter[str] = Counter()
        for name, number in _WEBHOOK.findall(text):
            found[name] += int(float(number))
        return found


def _peak_mib(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) // 1024


def count_requests(log: Path, offset: int) -> dict[str, Any]:
    """What the operator asked since an offset of the log, and what was refused."""
    asked: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    simulated = 0
    with log.open("rb") as lines:
        lines.seek(offset)
        for line in lines:
            entry = _read_entry(line)
            if entry is None:
                continue
            what = describe(entry)
            if "dryRun=All" in entry["requestURI"]:
                simulated += 1
                continue
            asked[what] += 1
            code = (entry.get("responseStatus") or {}).get("code", 0)
            if code >= _REFUSED:
                refused[f"{what} {code}"] += 1
    return {**_sort(asked), "simulations": simulated, "refused": _refused(refused)}


def _refused(refused: Counter[str]) -> dict[str, int]:
    return {what: n for what, n in refused.most_common() if what.split()[0] in WRITES}


def _read_entry(line: bytes) -> dict[str, Any] | None:
    """A request of the operator that has ended; a watch counts when it begins."""
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return None  # The last line may be half written.
    if entry["user"]["username"] != USER:
        return None
    ends = "ResponseStarted" if entry["verb"] == "watch" else "ResponseComplete"
    return entry if entry["stage"] == ends else None


def describe(entry: dict[str, Any]) -> str:
    """The verb and the kind of a request."""
    target = entry.get("objectRef") or {}
    parts = filter(None, (target.get("resource"), target.get("subresource")))
    return f"{entry['verb']} {'/'.join(parts)}"


def _sort(asked: Counter[str]) -> dict[str, Any]:
    writes: dict[str, int] = {}
    apart = {"events": 0, "leases": 0, "reads": 0}
    for what, number in asked.most_common():
        verb, _, kind = what.partition(" ")
        if verb not in WRITES:
            apart["reads"] += number
        elif kind in ("events", "leases"):
            apart[kind] += number
        else:
            writes[what] = number
    return {"writes": sum(writes.values()), "writes_by_kind": writes, **apart}
