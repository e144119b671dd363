"""
This is where ``kohort lint`` checks manifests without a cluster.

Problems go to stdout, one line each with file and line, so that editors can jump to them. Errors
end the command with 1; warnings do so with ``--strict`` alone.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import Parser, add_output, suggest
from kohort.cli.table import Command
from kohort.cli.terminal import RED, YELLOW, paint, show

if TYPE_CHECKING:
    from kohort.apis.api import Settings
    from kohort.cli.lint.checks import Checked, Problem

_EXAMPLES = ("-f llama.yaml", "-f a.yaml -f b.yaml --strict", "-f - -o json < llama.yaml")


def _make_parser(prog: str) -> Parser:
    summary = (
        "check manifests without a cluster: schema, admission rules, name lengths, and fields "
        "that have no effect"
    )
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="FILE",
        help="YAML or JSON; - reads standard input; may be repeated",
    )
    add("files", nargs="*", metavar="FILE", help="the same, without a flag")
    add("--strict", action="store_true", help="end with 1 if there are warnings, too")
    add("--gang", metavar="NAME", help="as of the operator: for which scheduler it makes gangs")
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from kohort.cli.lint.checks import Level, check_sources
    from kohort.cli.lint.sources import read_sources

    files = [*arguments.filename, *arguments.files]
    if not files:
        raise UsageError("name a file with -f, or - for standard input; see 'kohort lint --help'")
    sources = [source for name in files for source in read_sources(name)]
    checked = check_sources(sources, _read_settings(arguments.gang))
    if arguments.output == "json":
        from kohort.cli.render.values import write_value

        print(write_value(checked, "json"))
    else:
        _print(checked)
    errors, warnings = checked.count(Level.ERROR), checked.count(Level.WARNING)
    return Exit.FAILED if errors or (warnings and arguments.strict) else Exit.DONE


def _read_settings(gang: str | None) -> "Settings":
    from kohort.apis.api import Settings
    from kohort.controller.process.gangs import find_known

    if gang is None:
        return Settings()
    known = find_known()
    if gang not in known:
        raise UsageError(
            f"--gang {gang}: unknown scheduler{suggest(gang, known)}; known: {', '.join(known)}"
        )
    return Settings(gangs=(known[gang][0],))


def _print(checked: "Checked") -> None:
    from kohort.cli.lint.checks import Level
    from kohort.cli.render.lines import count

    if checked.problems:
        show(*(_write(problem) for problem in checked.problems))
    errors, warnings = checked.count(Level.ERROR), checked.count(Level.WARNING)
    others = f"; {count(len(checked.skipped), 'object')} of other kinds" if checked.skipped else ""
    total = count(checked.objects, "object")
    text = f"{total} checked: {count(errors, 'error')}, {count(warnings, 'warning')}{others}"
    show(text, file=sys.stderr)


def _write(problem: "Problem") -> str:
    from kohort.cli.lint.checks import Level

    place = f"{problem.file}:{problem.line}" if problem.line else problem.file
    colours = {Level.ERROR: RED, Level.WARNING: YELLOW}
    level = f"{problem.level}:"
    if colour := colours.get(problem.level):
        level = paint(level, colour, sys.stdout)
    # Some messages begin with their field, which is then not printed twice.
    field = problem.field
    head = f"{field}: " if field and not problem.message.startswith(field) else ""
    return f"{place}: {level} {problem.object}: {head}{problem.message}"


LINT = Command(_make_parser, _run)
