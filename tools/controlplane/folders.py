"""
This is where things lie: modules in the repository, binaries and Go in the cache.

Binaries are kept by what they were built from, so that another version, or another
line in a go.mod, gives another folder and never a mixture.
"""

import hashlib
import os
from pathlib import Path

HERE = Path(__file__).parent
MODULES = HERE / "modules"
BINARIES = (
    "etcd",
    "kwok",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
)


def find_binaries() -> Path:
    """The folder of the binaries: one that was named, else that of the cache."""
    named = os.environ.get("KOHORT_CONTROLPLANE_BIN")
    return Path(named) if named else _cache() / read_version() / "bin"


def find_go_folder() -> Path:
    """Where a Go of our own is kept."""
    return _cache() / "go"


def find_run_folder() -> Path:
    """Where an instance lives if the caller names no folder."""
    return _cache() / "run"


def read_version() -> str:
    """The Kubernetes version, and a hash of all that is built."""
    digest = hashlib.sha256()
    for path in sorted(MODULES.glob("*/*")):
        digest.update(path.read_bytes())
    return f"{read_kubernetes_version()}-{digest.hexdigest()[:8]}"


def read_kubernetes_version() -> str:
    """The version that the module of Kubernetes is required in."""
    for line in (MODULES / "k8s" / "go.mod").read_text().splitlines():
        if line.startswith("require k8s.io/kubernetes "):
            return line.split()[-1]
    raise AssertionError("the go.mod of k8s requires no Kubernetes")


def is_built(folder: Path) -> bool:
    """Whether every binary is there."""
    return all((folder / name).exists() for name in BINARIES)


def _cache() -> Path:
    named = os.environ.get("KOHORT_CACHE")
    base = Path(named) if named else Path.home() / ".cache" / "kohort"
    return base / "controlplane"
