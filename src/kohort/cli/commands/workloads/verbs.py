"""
This is where rollouts are undone, restarted, paused and resumed: one write each.

A write replaces the object that was read, so that what somebody else wrote
meanwhile is never lost: then it is read and changed again.
"""

import argparse
import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser, whole
from kohort.cli.table import Command
from kohort.cli.terminal import show
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
    from kohort.views.picture import Picture

_TRIES = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """What a command wants done: the object as it should be, and the words for it."""

    obj: "Object | None"  # None: nothing needs to be done
    text: str
    details: list[str] = field(default_factory=list)


Turning = Callable[["Picture", "UserVerbs", argparse.Namespace], Turn]


def _make_parser(prog: str, summary: str, examples: tuple[str, ...]) -> Parser:
    parser = Parser(prog, summary, examples)
    add_target(parser)
    add_role(parser, "change this role only")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, only")
    add_place(parser)
    add_form(parser, "json")
    return parser


def _make_undo_parser(prog: str) -> Parser:
    summary = "go back to the template of an earlier revision; it rolls within the budget"
    examples = ("lws/llama", "lws/llama --to-revision 3 --dry-run", "ms/llama --role decode")
    parser = _make_parser(prog, summary, examples)
    parser.add_argument(
        "--to-revision",
        type=whole(0, 2**31),
        default=0,
        metavar="N",
        help="(default: the newest other one on which all groups were ready)",
    )
    return parser


def _undo(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> Turn:
    from kohort.views.rollouts import find_changes, find_former

    number = arguments.to_revision or None
    revision = find_former(picture, number)
    if revision is None:
        what = f"revision {number}" if number else "other revision that is known to have served"
        known = ", ".join(str(e.number) for e in picture.revisions) or "none"
        hint = "" if number else "; choose one with --to-revision"
        raise Failure(f"{picture.reference} has no {what}{hint}; there are: {known}")
    changed = verbs.go_back(picture.root, revision, arguments.role)
    changes = find_changes(picture.root["spec"], changed["spec"])
    who = name_subject(picture, arguments.role)
    if not changes:
        return Turn(None, f"{who} asks for revision {revision.number} already")
    text = f"{who} goes back to revision {revision.number}"
    return Turn(changed, text, [str(change) for change in changes])


def _make_restart_parser(prog: str) -> Parser:
    summary = "replace all groups by new ones of the same template, within the budget"
    return _make_parser(prog, summary, ("lws/llama", "lws/llama -n prod", "ms/llama --role decode"))


def _restart(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> Turn:
    from kohort.apis.user_edits import restart_templates

    stamp = picture.now.strftime("%Y-%m-%dT%H:%M:%SZ")
    changed = restart_templates(verbs, picture.root, stamp, arguments.role)
    text = f"{name_subject(picture, arguments.role)} restarts"
    return Turn(changed, text, list_companions(picture, arguments.role))


def _make_pause_parser(prog: str) -> Parser:
    summary = "replace no further groups; groups that fail still come back"
    return _make_parser(
        prog, summary, ("lws/llama", "lws/llama --dry-run", "rbg/llama --role decode")
    )


def _pause(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> Turn:
    role, roles = arguments.role, verbs.list_roles(picture.root)
    _expect_own_rollout(picture, role)
    who, held = name_subject(picture, role), set(picture.held)
    if held and ("" in held or held >= ({role} if role else set(roles))):
        return Turn(None, f"{who} is paused already")
    boundary = _find_boundary(picture)
    note = f"emulated: the partition is {boundary} until it is resumed, since there is no pause"
    return Turn(
        verbs.hold(picture.root, boundary, role), f"{who} is paused", [] if roles else [note]
    )


def _expect_own_rollout(picture: "Picture", name: str) -> None:
    """Fail where a role rolls with its groups: it can neither be held nor let go by itself."""
    role = picture.reading.workload.find_role(name) if picture.reading and name else None
    if role is not None and role.rollout is None:
        raise Failure(
            f"role {name} of {picture.reference} rolls with its groups and cannot be paused by "
            "itself; leave out --role, or choose a rollout by role in its spec"
        )


def _find_boundary(picture: "Picture") -> int:
    """Where a rollout stands, so that what it has replaced stays; all groups if none runs."""
    reading = picture.reading
    if reading is None or picture.plan is None:
        raise Failure(f"{picture.reference} cannot be paused: {picture.fault}")
    progress, workload = reading.observed.progress, reading.workload
    if progress is None or progress.target != workload.revision:
        return workload.groups
    return progress.boundary if picture.plan.report.is_updating else workload.groups


def _make_resume_parser(prog: str) -> Parser:
    summary = "go on with a rollout that was paused"
    return _make_parser(prog, summary, ("lws/llama",))


def _resume(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> Turn:
    _expect_own_rollout(picture, arguments.role)
    who = name_subject(picture, arguments.role)
    if not picture.held or (arguments.role and arguments.role not in picture.held):
        return Turn(None, f"{who} is not paused")
    note = "the partition is again what it was before the pause"
    details = [] if verbs.list_roles(picture.root) else [note]
    return Turn(verbs.release(picture.root, arguments.role), f"{who} goes on", details)


def name_subject(picture: "Picture", role: str) -> str:
    """What a command has changed, as a person names it."""
    return f"role {role} of {picture.reference}" if role else picture.reference


def list_companions(picture: "Picture", name: str) -> list[str]:
    """A remark where a change of one role takes others along."""
    role = picture.reading.workload.find_role(name) if picture.reading and name else None
    if role is None or role.rollout is not None:
        return []
    return ["its groups roll as one, so the other roles of each group are replaced with it"]


def steer(turning: Turning) -> Callable[[argparse.Namespace], int]:
    """A command that changes one workload."""
    return lambda arguments: asyncio.run(_turn(arguments, turning))


async def _turn(arguments: argparse.Namespace, turning: Turning) -> int:
    from kohort.cli.workloads.source import open_source
    from kohort.cluster.errors import Conflict

    async with open_source(arguments, read_target(arguments.target)) as source:
        for _ in range(_TRIES):
            picture = await source.read_one()
            verbs = picture.api.verbs
            if verbs is None:
                raise Failure(f"{picture.api.kind.name} has no rollouts to steer")
            if misfit := picture.api.find_misfit(picture.root):
                raise Failure(f"{picture.reference} is malformed: {misfit}; mend or delete it")
            if arguments.role:
                expect_role(picture, arguments.role)
            turn = turning(picture, verbs, arguments)
            try:
                if turn.obj is not None and not arguments.dry_run:
                    await _write(source, picture, turn.obj)
            except Conflict:
                continue
            _print_turn(arguments, picture, turn)
            return Exit.DONE
    raise Failure("somebody else keeps changing it; try again")


async def _write(source: "Source", picture: "Picture", obj: "Object") -> None:
    from kohort.cluster.port import Address

    kind = picture.api.kind
    typed = {"apiVersion": kind.api_version, "kind": kind.name, **obj}
    await source.cluster.update(Address(kind, picture.namespace, picture.name), typed)


def _print_turn(arguments: argparse.Namespace, picture: "Picture", turn: Turn) -> None:
    from kohort.cli.render.values import write_value

    if arguments.output == "json":
        told = {
            "target": picture.reference,
            "namespace": picture.namespace,
            "message": turn.text,
            "details": turn.details,
            "isChanged": turn.obj is not None and not arguments.dry_run,
            "isDryRun": arguments.dry_run,
        }
        print(write_value(told, "json"))
        return
    suffix = " (dry run: nothing was changed)" if arguments.dry_run else ""
    show(turn.text + suffix, *(f"  {detail}" for detail in turn.details))


UNDO = Command(_make_undo_parser, steer(_undo))
RESTART = Command(_make_restart_parser, steer(_restart))
PAUSE = Command(_make_pause_parser, steer(_pause))
RESUME = Command(_make_resume_parser, steer(_resume))
