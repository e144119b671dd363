"""
This is where an instance is brought up and taken down: all its state lies in one folder.

Everything listens on loopback, on ports that were free a moment ago. The API server
speaks TLS, asks RBAC, and keeps an audit log. Controllers act as accounts of their
own, as on any cluster, so the log says who did what.
"""

import json
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.folders import HERE
from tools.controlplane.keys import make_keys
from tools.controlplane.nodes import write_node
from tools.controlplane.processes import find_process, start_process, stop_process
from tools.controlplane.requests import READY_SECONDS_MAX, NotReady, ask, wait_for

ORDER = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
NODES = 20
STAY_SECONDS = 1.0
USERS = ("admin", "kube-controller-manager", "kube-scheduler", "kwok")


@dataclass(frozen=True, slots=True)
class Options:
    """How an instance is to be."""

    nodes: int = NODES
    ready_ms: int = 0  # from bound to ready
    gone_ms: int = 0  # from deleted to gone
    gates: str = ""  # feature gates; the release's own defaults if empty
    runtime_config: str = ""  # API versions that are off by default, as NAME=true,…
    crds: tuple[Path, ...] = ()  # files with definitions, stored before it is ready
    audit: Path = HERE / "audit.yaml"


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports on which the processes listen."""

    api: int
    etcd: int
    peer: int
    manager: int
    scheduler: int
    kwok: int


def start(folder: Path, binaries: Path, options: Options) -> None:
    """Bring an instance up, unless it runs."""
    if all(find_process(folder, name) for name in ORDER):
        print(f"already running: {folder}", flush=True)
        return
    stop(folder)
    folder.mkdir(parents=True, exist_ok=True)
    make_keys(folder / "pki")
    link = folder / "bin"
    link.unlink(missing_ok=True)
    link.symlink_to(binaries)
    ports = _find_ports(folder / "ports.json")
    for user in USERS:
        _write_kubeconfig(folder, user, ports.api)
    _write_settings(folder, options)
    commands = _write_commands(folder, binaries, ports, options)
    (folder / "commands.json").write_text(json.dumps(commands, indent=1))
    try:
        _bring_up(folder, commands, options)
    except BaseException:
        # Half an instance would be taken for a whole one the next time.
        stop(folder)
        raise
    print(f"running: {options.nodes} nodes, KUBECONFIG={folder / 'kubeconfig'}", flush=True)


def _bring_up(folder: Path, commands: dict[str, list[str]], options: Options) -> None:
    for name in ORDER[:2]:
        start_process(folder, name, commands[name])
    _wait_until_ready(folder)
    for name in ORDER[2:]:
        start_process(folder, name, commands[name])
    _bring_nodes(folder, options.nodes)
    if options.crds:
        install_crds(folder, options.crds)


def install_crds(folder: Path, files: Sequence[Path]) -> None:
    """Apply files with definitions of kinds, and wait until all are served."""
    named = [word for path in files for word in ("-f", str(path))]
    _kubectl(folder, "apply", "--server-side", *named)
    _kubectl(folder, "wait", "--for=condition=Established", "--timeout=300s", *named)


def _kubectl(folder: Path, *words: str) -> None:
    command = [str(folder / "bin" / "kubectl"), "--kubeconfig", str(folder / "kubeconfig"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotReady(f"kubectl {words[0]} failed: {done.stderr.strip()}")


def stop(folder: Path, *, wipe: bool = False) -> None:
    """Take an instance down, and throw away what it stored if told so."""
    for name in reversed(ORDER):
        stop_process(folder, name)
    if wipe and folder.exists():
        shutil.rmtree(folder)


def restart(folder: Path, name: str) -> None:
    """Kill one process and start it again as it was."""
    command = json.loads((folder / "commands.json").read_text())[name]
    stop_process(folder, name, now=True)
    start_process(folder, name, command)
    began = time.monotonic()
    end = began + READY_SECONDS_MAX
    while not (time.monotonic() - began > STAY_SECONDS and _is_ready(folder)):
        if time.monotonic() > end:
            raise NotReady(f"{name} does not come back; see {folder / 'log' / name}")
        if find_process(folder, name) is None:
            # The threads of the one that was killed may hold its port for a moment yet.
            start_process(folder, name, command)
            began = time.monotonic()
        time.sleep(0.1)


def _is_ready(folder: Path) -> bool:
    return ask(folder, "GET", "/readyz")[0] == 200


def _wait_until_ready(folder: Path) -> None:
    wait_for(folder, "the API server's getting ready", "/readyz")


def _bring_nodes(folder: Path, count: int) -> None:
    for index in range(count):
        code, body = ask(folder, "POST", "/api/v1/nodes", write_node(index))
        if code not in (201, 409):
            raise NotReady(f"a node was refused: {body.decode()}")
    wait_for(folder, "the nodes' getting ready", "/api/v1/nodes", lambda b: _are_ready(b, count))
    account = "/api/v1/namespaces/default/serviceaccounts/default"
    wait_for(folder, "the controllers' getting to work", account)


def _are_ready(body: bytes, count: int) -> bool:
    found = [
        condition["status"]
        for node in json.loads(body)["items"]
        for condition in node["status"].get("conditions") or ()
        if condition["type"] == "Ready" and not node["spec"].get("taints")
    ]
    return found.count("True") >= count


def _find_ports(path: Path) -> Ports:
    """The ports of an instance, which it keeps, so that kubeconfigs stay good."""
    if path.exists():
        return Ports(*json.loads(path.read_text()))
    # Below the range that systems give to clients, or a client could sit on the port of a
    # server that is being restarted.
    wanted = random.sample(range(20_000, 32_000), 100)
    ports = [port for port in wanted if _is_free(port)][:6]
    path.write_text(json.dumps(ports))
    return Ports(*ports)


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _write_kubeconfig(folder: Path, user: str, port: int) -> None:
    keys = folder / "pki"
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(keys / "ca.crt"),
    }
    pair = {
        "client-certificate": str(keys / f"{user}.crt"),
        "client-key": str(keys / f"{user}.key"),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "real",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": user, "user": pair}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": user}}],
    }
    path = folder / "kubeconfig" if user == "admin" else keys / f"{user}.kubeconfig"
    path.write_text(json.dumps(config, indent=1))


def _write_settings(folder: Path, options: Options) -> None:
    stages = (HERE / "stages.yaml.tmpl").read_text()
    stages = stages.replace("@READY_MS@", str(options.ready_ms))
    (folder / "stages.yaml").write_text(stages.replace("@GONE_MS@", str(options.gone_ms)))
    scheduler = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(folder / "pki" / "kube-scheduler.kubeconfig"),
            "qps": 500,
            "burst": 1000,
        },
        # Pods that ask for volcano are bound too.
        "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "volcano"}],
    }
    (folder / "scheduler.yaml").write_text(json.dumps(scheduler, indent=1))


def _write_commands(
    folder: Path, binaries: Path, ports: Ports, options: Options
) -> dict[str, list[str]]:
    keys = folder / "pki"
    gates = [f"--feature-gates={options.gates}"] if options.gates else []
    local = [f"--cert-dir={keys}", "--bind-address=127.0.0.1", *gates]
    flags = {
        "etcd": _etcd_flags(folder, ports),
        "kube-apiserver": [*_api_flags(folder, ports, options), *local],
        "kube-controller-manager": [
            f"--kubeconfig={keys / 'kube-controller-manager.kubeconfig'}",
            "--leader-elect=false",
            "--use-service-account-credentials=true",
            f"--secure-port={ports.manager}",
            f"--root-ca-file={keys / 'ca.crt'}",
            f"--service-account-private-key-file={keys / 'sa.key'}",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            "--concurrent-statefulset-syncs=50",
            "--concurrent-endpoint-syncs=10",
            *local,
        ],
        "kube-scheduler": [
            f"--config={folder / 'scheduler.yaml'}",
            f"--secure-port={ports.scheduler}",
            *local,
        ],
        "kwok": [
            f"--kubeconfig={keys / 'kwok.kubeconfig'}",
            f"--config={folder / 'stages.yaml'}",
            "--manage-all-nodes=true",
            "--cidr=10.64.0.1/10",
            "--node-ip=127.0.0.1",
            "--node-lease-duration-seconds=40",
            f"--server-address=127.0.0.1:{ports.kwok}",
        ],
    }
    return {name: [str(binaries / name), *flags[name]] for name in ORDER}


def _etcd_flags(folder: Path, ports: Ports) -> list[str]:
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.peer}"
    return [
        f"--data-dir={folder / 'etcd'}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=8589934592",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=warn",
    ]


def _api_flags(folder: Path, ports: Ports, options: Options) -> list[str]:
    keys = folder / "pki"
    extra = [f"--runtime-config={options.runtime_config}"] if options.runtime_config else []
    return [
        *extra,
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        "--advertise-address=127.0.0.1",
        f"--secure-port={ports.api}",
        f"--tls-cert-file={keys / 'apiserver.crt'}",
        f"--tls-private-key-file={keys / 'apiserver.key'}",
        f"--client-ca-file={keys / 'ca.crt'}",
        "--authorization-mode=Node,RBAC",
        "--anonymous-auth=false",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={keys / 'sa.pub'}",
        f"--service-account-signing-key-file={keys / 'sa.key'}",
        "--service-cluster-ip-range=10.96.0.0/12",
        "--enable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        f"--audit-policy-file={options.audit}",
        f"--audit-log-path={folder / 'audit.log'}",
        # One file, so that a reader sees all of it or nothing.
        "--audit-log-maxsize=100000",
    ]
