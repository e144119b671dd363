"""
This is where ``kohort takeover apply`` moves to Kohort's operator, and ``undo`` back.

Both ask before they write, and may be run again after any end. ``apply`` exits with 4 if the check
is not empty or something surprising happened, and with 3 if something took too long.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kohort.cli.commands.takeovers.arguments import add_operator, open_scope
from kohort.cli.commands.takeovers.check import print_report
from kohort.cli.exits import Exit, Failure, TimedOut, UsageError
from kohort.cli.parser import Parser, some_time, typed
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import add_form, add_place

if TYPE_CHECKING:
    from kohort.cli.commands.takeovers.arguments import TakeoverScope
    from kohort.takeover.apply import ApplyOptions
    from kohort.takeover.record import Record
    from kohort.takeover.site import Site

_NAMESPACE = "lws-system"
_WAYS = "see 'kohort takeover undo' for the way back, or run this again to go on"


class _Stopped(Failure):
    """A takeover stopped at a surprise."""

    code = Exit.BLOCKED


def _make_apply(prog: str) -> Parser:
    summary = (
        "stop the other controller, let webhooks lead to Kohort, start its operator, and wait "
        "until it has nothing to do; stops at the first surprise"
    )
    examples = (
        "--image registry.example.com/kohort:1 --dry-run",
        "--image registry.example.com/kohort:1",
        "--apis lws,rbg --operator-running --webhook-url https://10.0.0.7:9443 --yes",
        "--apis isvc --image registry.example.com/kohort:1 --accept Deployment:metadata",
    )
    parser = Parser(prog, summary, examples)
    add = parser.add_argument
    _add_common(parser)
    add_operator(parser)
    add("--image", default="", help="of Kohort's operator, which is deployed in the cluster")
    add(
        "--operator-running",
        action="store_true",
        help="you start the operator yourself, when the other controller has stopped",
    )
    add("--webhook-url", default="", metavar="URL", help="where API servers reach the operator")
    add(
        "--accept",
        action="append",
        default=[],
        type=typed(_read_acceptance),
        metavar="KIND[/NAME][:FIELD]",
        help="a difference of the check that may happen, such as Pod:metadata; may be repeated",
    )
    add(
        "--deployment",
        action="append",
        default=[],
        type=typed(_read_deployment),
        metavar="NAMESPACE/NAME",
        help="of the other controller, where it has a name of its own; may be repeated",
    )
    add("--stopped", action="store_true", help="no other controller runs, and none is looked for")
    add("--silence", type=some_time, default=10.0, metavar="TIME", help="(default: 10s)")
    return parser


def _make_undo(prog: str) -> Parser:
    summary = "undo a takeover: stop Kohort's operator, put everything back, start the other one"
    parser = Parser(prog, summary, ("", "--yes", "--dry-run"))
    _add_common(parser)
    return parser


def _add_common(parser: Parser) -> None:
    add_place(parser)
    add = parser.add_argument
    add("--yes", "-y", action="store_true", help="do not ask")
    add("--dry-run", action="store_true", help="say what would be done, and do nothing")
    add("--timeout", type=some_time, default=300.0, metavar="TIME", help="of each wait (5m)")
    add_form(parser, "json", "yaml")
    parser.set_defaults(all_namespaces=True)


def _read_acceptance(text: str) -> object:
    from kohort.takeover.report import read_acceptance

    return read_acceptance(text)


def _read_deployment(text: str) -> tuple[str, str]:
    namespace, slash, name = text.partition("/")
    if not (namespace and slash and name) or "/" in name:
        raise ValueError(f"must look like NAMESPACE/NAME, not {text!r}")
    return namespace, name


def _run_apply(arguments: argparse.Namespace) -> int:
    if bool(arguments.image) == bool(arguments.operator_running):
        raise UsageError(
            "say how Kohort's operator is started: --image IMAGE deploys it in the cluster, "
            "--operator-running leaves it to you"
        )
    return run_command(_guard(arguments, _apply(arguments)))


def _run_undo(arguments: argparse.Namespace) -> int:
    return run_command(_guard(arguments, _undo(arguments)))


async def _guard(arguments: argparse.Namespace, work: "asyncio.Future[int] | object") -> int:
    from kohort.takeover.steps import Surprise, TookTooLong

    try:
        return int(await work)  # type: ignore[misc]
    except Surprise as error:
        raise _Stopped(f"{error}; {_WAYS}") from error
    except TookTooLong as error:
        raise TimedOut(f"{error}; {_WAYS}") from error


@contextmanager
def _hinting() -> Iterator[None]:
    """Say how to go on where writes have begun, and a request fails or the user interrupts."""
    from kohort.cluster.errors import ClusterError

    try:
        yield
    except ClusterError as error:
        raise Failure(f"{error}; what was done is recorded: {_WAYS}") from error
    except asyncio.CancelledError:
        show(f"stopped here, and what was done is recorded: {_WAYS}", file=sys.stderr)
        raise


def _list_undone(record: "Record") -> list[str]:
    """The objects that an undo changes, one line each."""
    from kohort.takeover.record import place_of

    lines = [f"{o.place}: to be started with {o.replicas} replicas" for o in record.deployments]
    lines += [f"{place_of(obj)}: to be put back" for obj in record.saved]
    lines += [f"{place_of(obj)}: its conversion to be put back" for obj in record.conversions]
    if count := len(record.made):
        lines.append(f"{count} object{'' if count == 1 else 's'} that Kohort made: to be removed")
    return lines


def _print_progress(text: str) -> None:
    show(text, file=sys.stderr)


async def _apply(arguments: argparse.Namespace) -> int:
    from kohort.takeover.apply import NotEmpty, apply, prepare

    async with open_scope(arguments) as scope:
        site, options = _make_site(arguments, scope), _read_options(arguments, scope)
        try:
            record = await prepare(site, options, _print_progress)
            lines = [f"{o.place}: {o.replicas} replicas, to be stopped" for o in record.deployments]
            lines += [f"{place}: to be replaced" for place in record.hooks]
            if not arguments.dry_run:
                _print_plan(arguments, lines)
                _confirm(arguments, "stop these and start Kohort's operator?")
                with _hinting():
                    record = await apply(site, options, _print_progress)
                lines = ["taken over: Kohort's operator leads, and has nothing to do"]
        except NotEmpty as error:
            print_report(error.report, arguments.output)
            raise _Stopped(str(error)) from error
    _print_end(arguments, record, lines)
    return Exit.DONE


def _print_plan(arguments: argparse.Namespace, lines: list[str]) -> None:
    """Print the planned writes before the question; with ``-o json`` they go to stderr."""
    show(*lines, file=sys.stdout if arguments.output == "text" else sys.stderr)


def _print_end(arguments: argparse.Namespace, record: "Record | None", lines: list[str]) -> None:
    from kohort.cli.render.values import write_value

    if arguments.output == "text":
        show(*lines)
        return
    told = {
        "apis": list(record.apis) if record else [],
        "deployments": list(record.deployments) if record else [],
        "webhooks": [str(place) for place in record.hooks] if record else [],
        "done": not arguments.dry_run and record is not None,
    }
    print(write_value(told, arguments.output))


async def _undo(arguments: argparse.Namespace) -> int:
    from kohort.apis.served import choose_apis
    from kohort.cli.workloads.arguments import Wanted
    from kohort.cli.workloads.source import open_source
    from kohort.controller.clock import LoopTime
    from kohort.takeover.apply import undo
    from kohort.takeover.site import Site
    from kohort.takeover.step_runner import Limits

    namespace = arguments.namespace or _NAMESPACE
    async with open_source(arguments, Wanted(())) as source:
        record = await Site(source.cluster, (), namespace, LoopTime()).records.find()
        if record is None:
            lines = [f"nothing to undo: no takeover is recorded in namespace {namespace}"]
            _print_end(arguments, None, lines)
            return Exit.DONE
        lines = _list_undone(record)
        if not arguments.dry_run:
            _print_plan(arguments, lines)
            _confirm(arguments, "stop Kohort's operator and go back to these?")
            site = Site(source.cluster, choose_apis(record.apis), namespace, LoopTime())
            is_embedded = _runs_embedded(source.cluster.server)
            limits = Limits(arguments.timeout)
            with _hinting():
                await undo(site, limits, _print_progress, is_embedded=is_embedded)
            lines = ["undone: the other controller runs as before"]
    _print_end(arguments, record, lines)
    return Exit.DONE


def _confirm(arguments: argparse.Namespace, question: str) -> None:
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("this is not a terminal, so you cannot be asked: use --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was changed")


def _make_site(arguments: argparse.Namespace, scope: "TakeoverScope") -> "Site":
    from kohort.controller.clock import LoopTime
    from kohort.takeover.site import Site

    namespace = arguments.namespace or _NAMESPACE
    return Site(scope.cluster, scope.apis, namespace, LoopTime())


def _runs_embedded(server: str) -> bool:
    """Whether the API server is one of ``kohort up`` with an operator in its process."""
    from kohort.cli.state import list_running

    running = [state.find_control() or {} for state in list_running()]
    return any(control.get("url") == server and control.get("operator") for control in running)


def _read_options(arguments: argparse.Namespace, scope: "TakeoverScope") -> "ApplyOptions":
    from kohort.apis.served import USUAL
    from kohort.takeover.apply import ApplyOptions
    from kohort.takeover.step_runner import Limits

    return ApplyOptions(
        names=arguments.apis or USUAL,
        settings=scope.settings,
        image=arguments.image,
        webhook_url=arguments.webhook_url,
        gang=arguments.gang or "",
        accepted=tuple(arguments.accept),
        named=tuple(arguments.deployment),
        is_stopped=arguments.stopped,
        has_lease=not (arguments.operator_running and _runs_embedded(scope.cluster.server)),
        limits=Limits(arguments.timeout, arguments.silence),
    )


APPLY = Command(_make_apply, _run_apply)
UNDO = Command(_make_undo, _run_undo)
