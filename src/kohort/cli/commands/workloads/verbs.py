"""
This is where rollouts are undone, restarted, paused, resumed and promoted: one write each.

A write replaces the object that was read, so that what another client wrote
meanwhile is never lost: then it is read and changed again.

No API has a verb to promote: the partition is removed and a pause is ended, so that all units get
the wanted revision within the budget; the answer names the fields that were changed.
"""

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser, whole
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import paint, show
from kohort.cli.workloads.arguments import (
    add_form,
    add_place,
    add_role,
    add_target,
    expect_role,
    read_target,
)

if TYPE_CHECKING:
    from kohort.apis.api import UserVerbs
    from kohort.cli.workloads.source import Source
    from kohort.cluster.objects import Object
    from kohort.views.forecasts import ForecastView
    from kohort.views.picture import Picture
    from kohort.views.verbs import VerbResult


_TRIES = 4


Verb = Callable[["Picture", "UserVerbs", argparse.Namespace], "VerbResult"]


def make_parser(prog: str, summary: str, examples: tuple[str, ...]) -> Parser:
    """The flags of all commands that change one workload."""
    parser = Parser(prog, summary, examples)
    add_target(parser)
    add_role(parser, "change this role only")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and its steps, only"
    )
    add_place(parser)
    add_form(parser, "json")
    return parser


def _make_undo_parser(prog: str) -> Parser:
    summary = "go back to the template of an earlier revision; it rolls within the budget"
    examples = ("lws/llama", "lws/llama --to-revision 3 --dry-run", "ms/llama --role decode")
    parser = make_parser(prog, summary, examples)
    parser.add_argument(
        "--to-revision",
        type=whole(0, 2**31),
        default=0,
        metavar="N",
        help="(default: the newest other one on which all groups were ready)",
    )
    return parser


def _make_restart_parser(prog: str) -> Parser:
    summary = "replace all groups by new ones of the same template, within the budget"
    return make_parser(prog, summary, ("lws/llama", "lws/llama -n prod", "ms/llama --role decode"))


def _make_pause_parser(prog: str) -> Parser:
    summary = "replace no further groups; groups that fail still come back"
    return make_parser(
        prog, summary, ("lws/llama", "lws/llama --dry-run", "rbg/llama --role decode")
    )


def _make_resume_parser(prog: str) -> Parser:
    summary = "go on with a rollout that was paused"
    return make_parser(prog, summary, ("lws/llama",))


def _use(verb: str) -> Verb:
    """A verb of the views, with the limits that the command line gives."""

    def use(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> "VerbResult":
        from kohort.views.verbs import VERBS, VerbLimits

        revision = getattr(arguments, "to_revision", 0) or None
        return VERBS[verb](picture, verbs, VerbLimits(arguments.role, revision))

    return use


def steer(verb: Verb) -> Callable[[argparse.Namespace], int]:
    """A command that changes one workload."""
    return lambda arguments: run_command(_apply(arguments, verb))


async def _apply(arguments: argparse.Namespace, verb: Verb) -> int:
    from kohort.cli.workloads.source import open_source
    from kohort.cluster.errors import Conflict
    from kohort.views.verbs import expect_verbs

    async with open_source(arguments, read_target(arguments.target)) as source:
        for _ in range(_TRIES):
            picture = await source.read_one()
            verbs = expect_verbs(picture)
            if arguments.role:
                expect_role(picture, arguments.role)
            result = verb(picture, verbs, arguments)
            try:
                if result.obj is not None and not arguments.dry_run:
                    await _write(source, picture, result.obj)
            except Conflict:
                continue
            view = await _forecast(source, picture, result) if arguments.dry_run else None
            _print_result(arguments, picture, result, view)
            return Exit.DONE
    raise Failure("other clients keep changing it; try again")


async def _write(source: "Source", picture: "Picture", obj: "Object") -> None:
    from kohort.cluster.port import Address

    kind = picture.api.kind
    typed = {"apiVersion": kind.api_version, "kind": kind.name, **obj}
    await source.cluster.update(Address(kind, picture.namespace, picture.name), typed)


async def _forecast(
    source: "Source", picture: "Picture", result: "VerbResult"
) -> "ForecastView | None":
    """The forecast of the rollout that the change causes; None if nothing changes."""
    from kohort.views.forecasts import forecast_picture

    if result.obj is None:
        return None
    changed = await source.read_changed(picture.api, result.obj)
    return forecast_picture(changed, picture.root)


def _print_result(
    arguments: argparse.Namespace,
    picture: "Picture",
    result: "VerbResult",
    view: "ForecastView | None",
) -> None:
    from kohort.cli.render.forecasts import write_course
    from kohort.cli.render.values import write_value

    if arguments.output == "json":
        told = {
            "target": picture.reference,
            "namespace": picture.namespace,
            "message": result.text,
            "details": result.details,
            "isChanged": result.obj is not None and not arguments.dry_run,
            "isDryRun": arguments.dry_run,
            **({"plan": view} if view is not None else {}),
        }
        print(write_value(told, "json"))
        return
    suffix = " (dry run: nothing was changed)" if arguments.dry_run else ""
    show(result.text + suffix, *(f"  {detail}" for detail in result.details))
    if view is not None:
        show(*write_course(view, lambda text, style: paint(text, style, sys.stdout)))


UNDO = Command(_make_undo_parser, steer(_use("undo")))
RESTART = Command(_make_restart_parser, steer(_use("restart")))
PAUSE = Command(_make_pause_parser, steer(_use("pause")))
RESUME = Command(_make_resume_parser, steer(_use("resume")))


def _make_promote_parser(prog: str) -> Parser:
    summary = "let a rollout go on to its end: past its partition, and after a pause"
    examples = ("lws/llama --dry-run", "lws/llama", "rbg/llama --role decode")
    return make_parser(prog, summary, examples)


def _promote(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> "VerbResult":
    from kohort.views.rollouts import find_changes
    from kohort.views.verbs import VerbResult, name_subject

    role = arguments.role
    who, changed = name_subject(picture, role), verbs.finish(picture.root, role)
    changes = find_changes(picture.root["spec"], changed["spec"])
    if not changes:
        return VerbResult(None, f"{who} has no partition and no pause: nothing holds it back")
    fields = ", ".join(dict.fromkeys(change.path.rpartition(".")[2] for change in changes))
    note = f"emulated: {picture.api.kind.name} has no promote; {fields} no longer holds it back"
    return VerbResult(changed, f"{who} goes on to the end", [*map(str, changes), note])


PROMOTE = Command(_make_promote_parser, steer(_promote))
