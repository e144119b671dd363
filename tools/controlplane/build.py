"""
This is where binaries are built from Go modules, once, into the cache.

What is there is not built again. A binary appears under its name only when it is
whole, so a build that was interrupted goes on where it stopped.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.folders import MODULES, find_binaries, is_built, read_kubernetes_version
from tools.controlplane.golang import find_go, go_environment

PROGRESS_SECONDS = 15.0
_KUBERNETES = "k8s.io/kubernetes/cmd"


class BuildError(Exception):
    """A module could not be fetched or compiled."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of ours, and the commands that are built in it."""

    name: str
    commands: dict[str, str]  # binary → package


MODULES_BUILT = (
    Module("etcd", {"etcd": "."}),
    Module("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
    Module(
        "k8s",
        {
            name: f"{_KUBERNETES}/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
    ),
)


def build() -> Path:
    """Build what is not there yet; the answer is the folder of the binaries."""
    folder = find_binaries()
    if is_built(folder):
        print(f"the control plane is built: {folder}", flush=True)
        return folder
    go = find_go()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"building Kubernetes {read_kubernetes_version()} with {go} into {folder}", flush=True)
    print("the first time this takes about ten minutes on two cores", flush=True)
    started = time.monotonic()
    for module in MODULES_BUILT:
        if not all((folder / name).exists() for name in module.commands):
            _download(go, module)
            _compile(go, module, folder)
    print(f"built in {time.monotonic() - started:.0f} s", flush=True)
    return folder


def _download(go: str, module: Module) -> None:
    print(f"  {module.name}: fetching modules", flush=True)
    try:
        _run([go, "mod", "download"], module, go)
    except BuildError as error:
        proxy = _ask(go, "GOPROXY")
        raise BuildError(
            f"the Go modules of {module.name} could not be fetched (GOPROXY={proxy}; is it "
            f"reachable from here?): {error}"
        ) from error


def _compile(go: str, module: Module, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as place:
        # Nothing here is stamped with the state of a repository, so none needs to be there.
        flags = ["-v", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w {_stamp(module)}"]
        _run([go, "build", *flags, "-o", f"{place}/", *module.commands.values()], module, go)
        for name in module.commands:
            os.replace(Path(place, name), folder / name)
            print(f"  {module.name}: {name} is built", flush=True)


def _stamp(module: Module) -> str:
    """Linker flags that tell Kubernetes its version."""
    if module.name != "k8s":
        return ""
    version = read_kubernetes_version()
    major, minor = version.lstrip("v").split(".")[:2]
    told = {"Version": version, "Major": major, "Minor": minor, "TreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {p}.git{name}={value}" for p in packages for name, value in told.items())


def _run(command: list[str], module: Module, go: str) -> None:
    """Run Go, and say now and then how far it is; its last words become the error."""
    with subprocess.Popen(
        command,
        cwd=MODULES / module.name,
        env=go_environment(go),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = list(_follow(process.stdout, module.name))
    if process.returncode:
        raise BuildError("; ".join(said[-5:]) or f"go ended with code {process.returncode}")


def _follow(lines: Iterator[str], name: str) -> Iterator[str]:
    started = told = time.monotonic()
    for count, line in enumerate(lines, 1):
        yield line.strip()
        if time.monotonic() - told > PROGRESS_SECONDS:
            told = time.monotonic()
            print(f"  {name}: {count} packages, {told - started:.0f} s", flush=True)


def _ask(go: str, name: str) -> str:
    asked = subprocess.run(
        [go, "env", name], env=go_environment(go), capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"
