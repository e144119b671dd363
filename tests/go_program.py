"""
The small operator of ``tools/go_operator``, built once for each version of its source.

It is written with controller-runtime and knows nothing of Kohort: what it prints about
a real server and about ours must be the same.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "tools" / "go_operator"
TRANSCRIPT = Path(__file__).parent / "clients" / "go_operator.txt"
BUILD_SECONDS_MAX = 1800
RUN_SECONDS_MAX = 300


def find_any_go() -> str:
    """The Go that builds the real control plane, which is fetched where there is none."""
    asked = "from tools.controlplane.golang import find_go; print(find_go())"
    command = [sys.executable, "-c", asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def build_operator(go: str) -> Path:
    """The program; to build it takes minutes the first time."""
    cache = Path(os.environ.get("KOHORT_CACHE") or Path.home() / ".cache" / "kohort")
    found = cache / f"go_operator-{_fingerprint()}" / "go_operator"
    if not found.exists():
        fresh = found.with_name(f"building-{os.getpid()}")
        command = [go, "build", "-trimpath", "-buildvcs=false", "-o", str(fresh), "."]
        subprocess.run(command, cwd=SOURCE, check=True, timeout=BUILD_SECONDS_MAX)
        fresh.rename(found)
    return found


def run_operator(program: Path, kubeconfig: Path, namespace: str) -> list[str]:
    """What the program prints about the server of a kubeconfig, line by line."""
    done = subprocess.run(
        [str(program), namespace],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def _fingerprint() -> str:
    names = sorted([*SOURCE.glob("*.go"), SOURCE / "go.mod", SOURCE / "go.sum"])
    return hashlib.sha256(b"".join(name.read_bytes() for name in names)).hexdigest()[:12]
