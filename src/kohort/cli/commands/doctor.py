"""
This is where ``kohort doctor`` looks at a cluster and says what keeps Kohort from working.

It reads and asks, and changes nothing. It exits with 4 if there is a problem.
"""

import argparse
import asyncio
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit
from kohort.cli.parser import Parser, add_output
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import GREEN, RED, YELLOW, paint, show
from kohort.cli.workloads.arguments import add_place, read_wanted

if TYPE_CHECKING:
    from kohort.apis.api import Api
    from kohort.cli.doctor.findings import CheckResult
    from kohort.cli.workloads.source import Source

_WIDTH = 13


def _make_parser(prog: str) -> Parser:
    summary = (
        "check a cluster: definitions, permissions, webhooks, other controllers, schedulers, "
        "gates, clocks and plugins, each problem with a fix"
    )
    parser = Parser(prog, summary, ("", "-A", "--before-upgrade", "-o json"))
    parser.add_argument(
        "--before-upgrade",
        action="store_true",
        help="also: stored versions that would be lost, and workloads that are not at rest",
    )
    add_place(parser, everywhere=True)
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from kohort.cli.doctor.findings import Severity

    results = run_command(_examine(arguments))
    if arguments.output == "json":
        from kohort.cli.render.values import write_value

        print(write_value(results, "json"))
    else:
        show(*(line for result in results for line in _write(result)))
    problems = [result for result in results if result.severity is Severity.PROBLEM]
    if arguments.output == "text":
        count = len(problems)
        text = f"{count} problem{'' if count == 1 else 's'}" if problems else "no problems"
        show(text, file=sys.stderr)
    return Exit.BLOCKED if problems else Exit.DONE


async def _examine(arguments: argparse.Namespace) -> "list[CheckResult]":
    from kohort.apis.served import APIS
    from kohort.cli.doctor import definitions, operators, permissions, surroundings
    from kohort.cli.workloads.source import open_source

    async with open_source(arguments, read_wanted([])) as source:
        cluster, namespace = source.cluster, source.namespace
        version = await cluster.read_document("/version")
        clock = await surroundings.check_own_clock(cluster) or surroundings.check_clock(
            cluster.server_date, datetime.now(UTC)
        )
        served = await _list_served(source, APIS)
        results = [
            _describe_cluster(cluster.server, str(version.get("gitVersion", ""))),
            *await definitions.check_definitions(cluster, APIS, arguments.before_upgrade),
            *await permissions.check_permissions(cluster, served, namespace),
            *await operators.check_controllers(cluster, APIS, source.now()),
            *await operators.check_webhooks(cluster, APIS),
            *await surroundings.check_schedulers(cluster),
            *await surroundings.check_gates(cluster, namespace),
            *clock,
            *surroundings.check_plugins(),
        ]
        if arguments.before_upgrade:
            results += await _check_rest(source, served)
    return results


def _describe_cluster(server: str, version: str) -> "CheckResult":
    from kohort import __version__
    from kohort.cli.doctor.findings import ok

    return ok("versions", f"kohort {__version__}, {server} runs Kubernetes {version}")


async def _list_served(source: "Source", apis: "tuple[Api, ...]") -> "tuple[Api, ...]":
    """The APIs whose kind the cluster serves, also where the user may not list its objects."""
    from kohort.cluster.errors import ClusterError, NotFound
    from kohort.cluster.port import Selection

    async def is_served(api: "Api") -> bool:
        try:
            chosen = Selection(api.kind, source.namespace, fields="metadata.name=none")
            await source.cluster.list(chosen)
        except NotFound:
            return False
        except ClusterError:
            return True
        return True

    found = await asyncio.gather(*(is_served(api) for api in apis))
    return tuple(api for api, served in zip(apis, found, strict=True) if served)


async def _check_rest(source: "Source", served: "tuple[Api, ...]") -> "list[CheckResult]":
    """Whether every workload is ready: an upgrade in the middle of a rollout is hard to judge."""
    from kohort.cli.doctor.findings import note, ok
    from kohort.cli.exits import Failure
    from kohort.cluster.errors import ClusterError
    from kohort.views.table import make_table

    area = "upgrade"
    try:
        rows = make_table(await source.read()) if served else []
    except (Failure, ClusterError) as error:
        return [note(area, f"workloads cannot be read: {error}")]
    moving = [row for row in rows if row.health.word != "ready"]
    if not moving:
        return [ok(area, f"all {len(rows)} workloads are ready")]
    return [
        note(
            area,
            f"{row.kind} {row.namespace}/{row.name} is {row.health.word}: {row.health.reason}",
            f"kohort why {row.resource}/{row.name} -n {row.namespace}",
        )
        for row in moving
    ]


def _write(result: "CheckResult") -> "list[str]":
    from kohort.cli.doctor.findings import Severity
    from kohort.cli.render.lines import BLOCKED, DONE, MOVING

    symbol, style = {
        Severity.OK: (DONE, GREEN),
        Severity.NOTE: (MOVING, YELLOW),
        Severity.PROBLEM: (BLOCKED, RED),
    }[result.severity]
    head = paint(f"{symbol} {result.severity:<8}", style, sys.stdout)
    lines = [f"{head} {result.area:<{_WIDTH}} {result.message}"]
    if result.fix:
        lines.append(f"{'':<{_WIDTH + 12}}fix: {result.fix}")
    return lines


DOCTOR = Command(_make_parser, _run)
