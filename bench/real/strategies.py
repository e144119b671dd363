"""
``python -m bench.real.strategies``: one InferenceService under each workload strategy.

The same service is made as workloads of their own and as one RoleBasedGroup, in turn, on one real
control plane. What counts is the time until it is Ready, the operator's CPU time, and the writes in
its namespace by all clients: the operator, the controller manager, the scheduler and the
node agent that stands in for kubelets. Events and leases are left out.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.processes import cpu_seconds
from bench.real.costs import WRITES, describe
from bench.real.server import Refused
from bench.real.sites import USER, Site, before_others, operator, site

APIS = "lws,rbg,isvc"
APART, GROUP = "apart", "RoleBasedGroup"
MODES = (APART, GROUP)
MODE = "ome.io/deploymentMode"
SECONDS_MAX = 180.0
QUIET_SECONDS = 3.0
SECONDS_RATIO_MAX = 1.2
_GROUP = "/apis/ome.io/v1beta1"
_FORMAT = {
    "modelFormat": {"name": "safetensors", "version": "1.0.0"},
    "modelFramework": {"name": "transformers", "version": "4.43.0"},
    "modelArchitecture": "LlamaForCausalLM",
}
_RUNNER = {"name": "ome-container", "image": "engine:1", "ports": [{"containerPort": 8080}]}
_ROUTER = {**_RUNNER, "name": "router", "image": "router:1"}


def main(words: Sequence[str]) -> int:
    """Measure both strategies in turn, and print a table."""
    parser = argparse.ArgumentParser(prog="bench.real.strategies", description=__doc__)
    parser.add_argument("--replicas", type=int, default=20, help="of engine and of decoder")
    parser.add_argument("--size", type=int, default=1, help="pods of one replica")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--readiness", default="instant", help="instant or slow")
    told = parser.parse_args(words)
    with before_others(), tempfile.TemporaryDirectory(prefix="kohort-real-") as folder:
        lines = asyncio.run(_measure(Path(folder, "plane"), told))
    print(*_write_table(lines, 2 * told.replicas * told.size + 1), sep="\n")
    return 0


async def _measure(folder: Path, told: argparse.Namespace) -> list[dict[str, Any]]:
    lines = []
    async with site(folder, told.readiness) as place, operator(place, apis=APIS) as pid:
        _bring_model(place, told.size)
        for number, mode in enumerate(MODES):
            await _run(place, pid, f"warm-{number}", _make_service(mode, 1, told.size))
        for run in range(told.runs):
            for mode in MODES[:: 1 if run % 2 else -1]:
                name = f"{mode.lower()}-{run}"
                service = _make_service(mode, told.replicas, told.size)
                line = {"mode": mode, **await _run(place, pid, name, service)}
                print(json.dumps(line), file=sys.stderr, flush=True)
                lines.append(line)
    return lines


def _bring_model(place: Site, size: int) -> None:
    component: dict[str, Any] = {"runner": _RUNNER}
    if size > 1:
        component = {part: {"runner": _RUNNER} for part in ("leader", "worker")}
    meta = {"name": "bench"}
    model = {
        "apiVersion": "ome.io/v1beta1",
        "kind": "ClusterBaseModel",
        "metadata": meta,
        "spec": {**_FORMAT, "modelParameterSize": "8B", "storage": {"storageUri": "hf://a/b"}},
    }
    runtime = {
        "apiVersion": "ome.io/v1beta1",
        "kind": "ClusterServingRuntime",
        "metadata": meta,
        "spec": {
            "supportedModelFormats": [{**_FORMAT, "autoSelect": True, "priority": 1}],
            "engineConfig": component,
            "decoderConfig": component,
            "routerConfig": {"runner": _ROUTER},
        },
    }
    for each in (model, runtime):
        place.kubectl("apply", "--server-side", "-f", "-", feed=json.dumps(each))
    place.kubectl("label", "nodes", "--all", "models.ome.io/clusterbasemodel.bench=Ready")


async def _run(place: Site, pid: int, name: str, service: dict[str, Any]) -> dict[str, Any]:
    """Make one service, wait until it is Ready and no client writes any more, and delete it."""
    place.kubectl("create", "namespace", name)
    await _wait(lambda: _has_account(place, name))
    offset, cpu, begun = place.audit.stat().st_size, cpu_seconds(pid), time.monotonic()
    path = f"{_GROUP}/namespaces/{name}/inferenceservices"
    await place.server.ask("POST", path, service)
    await _wait(lambda: _is_ready(place, f"{path}/chat"))
    seconds = time.monotonic() - begun
    await _settle(place, offset, name)
    writes = _count_writes(place.audit, offset, name)
    kinds = _count_writes(place.audit, offset, name, by_kind=True)
    spent = cpu_seconds(pid) - cpu
    place.kubectl("delete", "namespace", name, "--wait=true", "--timeout=180s")
    return {
        "seconds": seconds,
        "cpu": spent,
        "writes": dict(writes),
        "kinds": dict(kinds.most_common()),
    }


def _make_service(mode: str, replicas: int, size: int) -> dict[str, Any]:
    component: dict[str, Any] = {"minReplicas": replicas, "maxReplicas": replicas}
    if size > 1:
        component |= {"leader": {}, "worker": {"size": size - 1}}
    return {
        "apiVersion": "ome.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "chat", "annotations": {MODE: mode} if mode == GROUP else {}},
        "spec": {
            "model": {"name": "bench"},
            "runtime": {"name": "bench"},
            "engine": component,
            "decoder": component,
            "router": {"minReplicas": 1, "maxReplicas": 1},
        },
    }


async def _has_account(place: Site, namespace: str) -> bool:
    try:
        await place.server.read(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")
    except Refused:
        return False
    return True


async def _is_ready(place: Site, path: str) -> bool:
    conditions = ((await place.server.read(path)).get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


async def _wait(holds: Any) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not await holds():
        if time.monotonic() > end:
            raise TimeoutError("it took too long")
        await asyncio.sleep(0.02)


async def _settle(place: Site, offset: int, namespace: str) -> None:
    """Wait until there is no more write in the namespace for some seconds."""
    known = -1
    while (found := _count_writes(place.audit, offset, namespace).total()) != known:
        known = found
        await asyncio.sleep(QUIET_SECONDS)


def _count_writes(log: Path, offset: int, namespace: str, *, by_kind: bool = False) -> Counter[str]:
    """The writes in a namespace, by writer, or by writer, verb and kind."""
    found: Counter[str] = Counter()
    with log.open("rb") as lines:
        lines.seek(offset)
        for entry in _read_writes(lines):
            target = entry.get("objectRef") or {}
            if target.get("namespace") == namespace:
                what = f" {describe(entry)}" if by_kind else ""
                found[_name_writer(entry["user"]["username"]) + what] += 1
    return found


def _read_writes(lines: Any) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # The last line may be half written.
        target = entry.get("objectRef") or {}
        is_apart = target.get("resource") in ("events", "leases")
        if entry["stage"] == "ResponseComplete" and entry["verb"] in WRITES and not is_apart:
            yield entry


def _name_writer(user: str) -> str:
    if user == USER:
        return "operator"
    if user.startswith(("system:serviceaccount:kube-system:", "system:kube-controller-manager")):
        return "controller manager"
    return {"system:kube-scheduler": "scheduler", "kwok": "node agent"}.get(user, "user")


def _write_table(lines: Sequence[dict[str, Any]], pods: int) -> Iterator[str]:
    writers = sorted({writer for line in lines for writer in line["writes"]})
    yield f"{pods} pods, medians of {len(lines) // len(MODES)} runs; writes for each pod"
    yield " | ".join(("strategy", "seconds to Ready", "operator CPU", "all writes", *writers))
    rows = {mode: [line for line in lines if line["mode"] == mode] for mode in MODES}
    for mode, held in rows.items():
        middle = [_median(held, "seconds"), _median(held, "cpu")]
        each = [
            statistics.median(line["writes"].get(w, 0) / pods for line in held) for w in writers
        ]
        total = statistics.median(sum(line["writes"].values()) / pods for line in held)
        yield " | ".join([mode, *(f"{number:.2f}" for number in (*middle, total, *each))])
    apart, group = (rows[mode] for mode in MODES)
    for name, limit in (("seconds", SECONDS_RATIO_MAX), ("cpu", None)):
        ratio = _median(group, name) / _median(apart, name)
        goal = f" (goal: at most {limit})" if limit else ""
        yield f"{name}: RoleBasedGroup takes {ratio:.2f} times{goal}"


def _median(lines: Sequence[dict[str, Any]], name: str) -> float:
    return float(statistics.median(line[name] for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
