"""
A real Kubernetes control plane on loopback.

    python -m tools.controlplane build                    binaries into the cache, once
    python -m tools.controlplane start [--dir DIR] …      build if needed, and bring one up
    python -m tools.controlplane stop  [--dir DIR] [--wipe]
    python -m tools.controlplane restart NAME [--dir DIR] kill one process, start it again
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.controlplane.build import BuildError, build
from tools.controlplane.folders import find_run_folder
from tools.controlplane.golang import NoGo
from tools.controlplane.instance import NODES, ORDER, Options, restart, start, stop
from tools.controlplane.requests import NotReady

FAILED, NO_GO = 1, 3


def main(words: Sequence[str]) -> int:
    """Do what the words say; code 3 means that there is no Go to build with."""
    told = _read(words)
    try:
        _run(told)
    except NoGo as error:
        print(error, file=sys.stderr)
        return NO_GO
    except (BuildError, NotReady) as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


def _run(told: argparse.Namespace) -> None:
    match told.command:
        case "build":
            build()
        case "start":
            binaries = build()
            start(
                told.dir.resolve(),
                binaries.resolve(),
                Options(
                    nodes=told.nodes,
                    ready_ms=told.ready_ms,
                    gone_ms=told.gone_ms,
                    gates=told.feature_gates,
                    runtime_config=told.runtime_config,
                    crds=tuple(told.crds),
                ),
            )
        case "stop":
            stop(told.dir.resolve(), wipe=told.wipe)
        case "restart":
            restart(told.dir.resolve(), told.name)


def _read(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="controlplane", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build")
    for name in ("start", "stop", "restart"):
        command = commands.add_parser(name)
        command.add_argument("--dir", type=Path, default=find_run_folder())
        if name == "start":
            command.add_argument("--nodes", type=int, default=NODES)
            command.add_argument("--ready-ms", type=int, default=0)
            command.add_argument("--gone-ms", type=int, default=0)
            command.add_argument("--feature-gates", default="", metavar="NAME=true,…")
            command.add_argument("--runtime-config", default="", metavar="GROUP/VERSION=true,…")
            command.add_argument("--crds", type=Path, nargs="+", default=(), metavar="FILE")
        if name == "stop":
            command.add_argument("--wipe", action="store_true", help="forget what it stored")
        if name == "restart":
            command.add_argument("name", choices=ORDER)
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
