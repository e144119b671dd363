"""
This is where ``kohort rollout history`` and ``kohort rollout diff`` show revisions.

The history lists them with the fields that changed in each; a difference is that between two. The
way back to the earlier one is foretold, so that each field comes with what it restarts.
"""

import argparse
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import add_revision_flags, expect_role, read_target

if TYPE_CHECKING:
    from kohort.apis.api import StoredRevision, UserVerbs
    from kohort.cli.workloads.source import Source
    from kohort.views.picture import Picture
    from kohort.views.revision_differences import RevisionDifference


def _make_history_parser(prog: str) -> Parser:
    summary = "list the revisions of a workload, and what changed from one to the next"
    examples = ("lws/llama", "lws/llama --revision 3", "ms/llama --role decode -o json")
    parser = Parser(prog, summary, examples)
    add_revision_flags(
        parser,
        role="tell what changed in this role only",
        revision="all that changed with this one, and its template",
    )
    return parser


def _run_history(arguments: argparse.Namespace) -> int:
    return run_command(_list(arguments))


async def _list(arguments: argparse.Namespace) -> int:
    from kohort.cli.render.explanations import write_history
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.views.plain import to_plain
    from kohort.views.rollouts import choose_content, find_former, make_history
    from kohort.views.verbs import expect_revisions

    async with open_source(arguments, read_target(arguments.target)) as source:
        picture = await source.read_one()
    expect_revisions(picture, picture.api.verbs)
    if arguments.role:
        expect_role(picture, arguments.role)
    history = make_history(picture, arguments.role)
    if arguments.revision is not None:
        history = tuple(line for line in history if line.number == arguments.revision)
        if not history:
            raise Failure(f"{picture.reference} has no revision {arguments.revision}")
    revision = find_former(picture, arguments.revision) if arguments.revision is not None else None
    content = choose_content(revision.content, arguments.role) if revision else {}
    if arguments.output != "text":
        # One revision is printed with its template, in a list of one.
        shown = [{**to_plain(history[0]), "template": content}] if revision else history
        print(write_value(shown, arguments.output))
        return Exit.DONE
    show(*write_history(history, picture.now, is_one_group=picture.is_one_group))
    if revision is not None:
        show(*(f"  {change}" for change in history[0].changes))
        print(f"\n{write_value(content, 'yaml')}")
    return Exit.DONE


HISTORY = Command(_make_history_parser, _run_history)


def _make_diff_parser(prog: str) -> Parser:
    summary = "what differs between an earlier revision and the wanted one, and what restarts"
    examples = ("lws/llama", "lws/llama --revision 3", "ms/llama --role decode -o json")
    parser = Parser(prog, summary, examples)
    default = "the newest other one on which all groups were ready"
    add_revision_flags(
        parser, role="compare this role only", revision=f"compare this one (default: {default})"
    )
    return parser


def _run_diff(arguments: argparse.Namespace) -> int:
    return run_command(_compare(arguments))


async def _compare(arguments: argparse.Namespace) -> int:
    from kohort.cli.render.explanations import write_difference
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.views.rollouts import find_former
    from kohort.views.verbs import expect_revisions

    async with open_source(arguments, read_target(arguments.target)) as source:
        picture = await source.read_one()
        verbs = picture.api.verbs
        if verbs is None:
            raise Failure(f"{picture.api.kind.name} has no revisions to compare")
        expect_revisions(picture, verbs)
        if arguments.role:
            expect_role(picture, arguments.role)
        former = find_former(picture, arguments.revision)
        if former is None:
            known = ", ".join(str(e.number) for e in picture.revisions) or "none"
            what = f"revision {arguments.revision}" if arguments.revision else "earlier revision"
            raise Failure(f"{picture.reference} has no {what}; there are: {known}")
        told = await _make_difference(source, picture, verbs, former, arguments.role)
    if arguments.output == "text":
        show(*write_difference(told))
    else:
        print(write_value(told, arguments.output))
    return Exit.DONE


async def _make_difference(
    source: "Source", picture: "Picture", verbs: "UserVerbs", former: "StoredRevision", role: str
) -> "RevisionDifference":
    from kohort.views.forecasts import forecast_picture
    from kohort.views.revision_differences import RevisionDifference, blame_restarts
    from kohort.views.rollouts import find_changes, find_target

    back = verbs.go_back(picture.root, former, role)
    changes = find_changes(back["spec"], picture.root["spec"])
    changed = await source.read_changed(picture.api, back) if changes else None
    view = forecast_picture(changed, picture.root) if changed else None
    target = find_target(picture)
    return RevisionDifference(
        reference=picture.reference,
        kind=picture.api.kind.name,
        namespace=picture.namespace,
        name=picture.name,
        old=former.number,
        new=target.number if target else 0,
        fields=blame_restarts(changes, view),
    )


DIFF = Command(_make_diff_parser, _run_diff)
