"""
This is where ``kohort controller`` reads its flags and starts the operator as this process.

The flags of LeaderWorkerSet's own controller are accepted as they are, single dashes
included, so a Deployment can change its image and nothing else. A flag overrides the
configuration file; a setting that neither names has its default.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kohort import __version__
from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import Parser, add_apis, add_gangs, add_settings, typed, whole
from kohort.cli.table import Command

_EXAMPLES = (
    "--kubeconfig ~/.kube/config --install",
    "--kubeconfig dev.yaml --install --webhook-url https://127.0.0.1:9443",
    "--config /controller_manager_config.yaml --zap-log-level=2",
)
_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false")


class _GoParser(Parser):
    """Takes long flags with one dash too, as Go programs do."""

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Read a command line to its end."""
        known = {flag[1:] for flag in self._option_string_actions if flag.startswith("--")}
        words = [f"-{word}" if word.partition("=")[0] in known else word for word in argv]
        return super().read(words)


def _make_parser(prog: str) -> Parser:
    parser = _GoParser(prog, "run the operator against a cluster, until it is stopped", _EXAMPLES)
    _add_own(parser.add_argument)
    add_apis(parser)
    add_settings(parser)
    add_gangs(parser)
    _add_upstream(parser.add_argument)
    _add_accepted(parser.add_argument)
    return parser


def _add_own(add: Callable[..., Any]) -> None:
    add("--kubeconfig", type=Path, metavar="FILE", help="of the cluster (default: as kubectl)")
    add("--context", metavar="NAME", help="of the kubeconfig (default: its current one)")
    add("--namespace", metavar="NAME", help="of the operator's own objects (default: lws-system)")
    add(
        "--no-pod-patches",
        action="store_true",
        help="do not patch counts and missing keys into running pods of ModelServings",
    )
    add(
        "--install", action="store_true", help="first write definitions and webhooks to the cluster"
    )
    add(
        "--replace-crds",
        action="store_true",
        help="also replace definitions that another project installed",
    )
    add(
        "--ignore-disaggregated",
        "--ignore-disaggregatedsets",
        action="store_true",
        help="install although there are DisaggregatedSets, which no controller will look after",
    )
    add(
        "--webhook-url",
        metavar="URL",
        help="where the API server reaches this process (default inside the cluster: its Service; "
        "for a cluster on this machine: https://127.0.0.1:9443)",
    )
    add("--webhook-port", type=whole(0, 65_535), metavar="P", help="to listen on (default: 9443)")
    add("--cert-dir", type=Path, metavar="DIR", help="take certificates from files there")
    add("--log-format", choices=("text", "json"), help="(default: text)")


def _add_upstream(add: Callable[..., Any]) -> None:
    from kohort.controller.process.configuration import read_address, read_duration

    address, duration = typed(read_address), typed(read_duration)
    add("--config", type=Path, metavar="FILE", help="configuration file")
    add(
        "--metrics-bind-address",
        type=address,
        metavar="ADDR",
        help="where metrics are served, 0: nowhere; unless on loopback, over HTTPS and for tokens "
        "that may get /metrics (default: :8443, outside of a cluster 127.0.0.1:8443)",
    )
    add(
        "--health-probe-bind-address",
        type=address,
        metavar="ADDR",
        help="where health is served, 0: nowhere (default: :8081, outside of a cluster "
        "127.0.0.1:8081)",
    )
    add("--kube-api-qps", type=float, metavar="N", help="requests per second (default: 500)")
    add(
        "--kube-api-burst",
        type=whole(0, 2**31 - 1),
        metavar="N",
        help="requests at once (default: 500)",
    )
    add("--leader-elect", **_switch(), help="work only while holding the lease (default: true)")
    for name in ("lease-duration", "renew-deadline", "retry-period"):
        add(f"--leader-elect-{name}", type=duration, metavar="TIME", help="such as 15s")
    add("--leader-elect-resource-lock", choices=("leases",), help="(default: leases)")
    add("--leader-elect-resource-name", metavar="NAME", help="of the lease")
    add("--version", action="version", version=f"kohort {__version__}", help="print the version")


def _add_accepted(add: Callable[..., Any]) -> None:
    add("--zap-log-level", metavar="LEVEL", help="debug, info, error, or a number from 1")
    add("--zap-encoder", choices=("json", "console"), help="as --log-format")
    add("--zap-devel", **_switch(), help=argparse.SUPPRESS)
    add("--zap-stacktrace-level", help=argparse.SUPPRESS)
    add("--zap-time-encoding", help=argparse.SUPPRESS)


def _switch() -> dict[str, Any]:
    return {"type": _read_switch, "nargs": "?", "const": True, "metavar": "true|false"}


def _read_switch(text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise argparse.ArgumentTypeError(f"must be true or false, not {text!r}")
    return text.lower() in _TRUE


def _run(arguments: argparse.Namespace) -> int:
    from kohort.cli.processes.launch import launch

    if arguments.replace_crds and not arguments.install:
        raise UsageError("--replace-crds is for --install only")
    launch(arguments)
    return Exit.DONE


CONTROLLER = Command(_make_parser, _run)
