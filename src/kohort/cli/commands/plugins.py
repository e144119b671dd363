"""This is where ``kohort plugins`` lists plugins of other packages, and begins a new one."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit
from kohort.cli.parser import Parser, add_output, place
from kohort.cli.table import Command, CommandEntry, Group
from kohort.cli.terminal import show

if TYPE_CHECKING:
    from kohort.cli.plugins.installed import InstalledPlugin

# As in cli.plugins.skeletons, which is not imported for a help text.
KINDS = ("strategy", "api", "gang", "plugin", "workload-strategy")
_HERE = "kohort.cli.commands.plugins"

PLUGINS = Group(
    summary="list the plugins of installed packages, or begin a new one",
    examples=("list", "new strategy rack-by-rack"),
    entries={
        "list": CommandEntry(_HERE, "LIST", "list installed plugins, and why one does not load"),
        "new": CommandEntry(_HERE, "NEW", "write the package of a new plugin, with a test"),
    },
)


def _make_list_parser(prog: str) -> Parser:
    summary = (
        "list the plugins that installed packages offer by entry points; ends with 4 if one of "
        "them cannot be used"
    )
    parser = Parser(prog, summary, ("", "-o json"))
    add_output(parser)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    from kohort.cli.plugins.installed import list_installed

    found = list(list_installed())
    if arguments.output == "json":
        from kohort.cli.render.values import write_value

        print(write_value(found, "json"))
    elif found:
        show(*_write_table(found))
    else:
        text = "no package brings a plugin here; begin one with 'kohort plugins new KIND NAME'"
        show(text, file=sys.stderr)
    return Exit.DONE if all(plugin.is_usable for plugin in found) else Exit.BLOCKED


def _write_table(found: "list[InstalledPlugin]") -> list[str]:
    from kohort.cli.render.lines import align

    head = ("GROUP", "NAME", "PACKAGE", "VERSION", "ENTRY POINT", "STATE")
    rows = [
        (each.group, each.name, each.package or "-", each.version or "-", each.target, _state(each))
        for each in found
    ]
    return align([head, *rows])


def _state(plugin: "InstalledPlugin") -> str:
    return "✓ loaded" if plugin.is_usable else f"✗ cannot be used: {plugin.fault}"


def _make_new_parser(prog: str) -> Parser:
    summary = "write the package of a new plugin: a module, a test and an entry point"
    parser = Parser(
        prog,
        summary,
        ("strategy rack-by-rack", "plugin zone --dir ~/plugins/zone", "api tide"),
    )
    add = parser.add_argument
    add(
        "kind",
        choices=KINDS,
        help="a rollout strategy, an API, a gang dialect, a ModelServing plugin, or a workload "
        "strategy of InferenceServices",
    )
    add("name", metavar="NAME", help="of the plugin and of its package: rack-by-rack")
    add("--dir", type=place, metavar="DIR", help="an empty or new folder (default: ./NAME)")
    return parser


def _new(arguments: argparse.Namespace) -> int:
    from kohort.cli.plugins.skeletons import SKELETONS, write_skeleton

    name = arguments.name
    folder = (arguments.dir or Path(name)).expanduser()
    written = write_skeleton(arguments.kind, name, folder)
    show(*(f"wrote {path}" for path in written))
    more = SKELETONS[arguments.kind].more
    steps = (f"cd {folder}", "pytest", "pip install -e . && kohort plugins list")
    lines = [*steps, *(step.format(name=name) for step in more)]
    show("next:", *(f"  {line}" for line in lines), file=sys.stderr)
    return Exit.DONE


LIST = Command(_make_list_parser, _list)
NEW = Command(_make_new_parser, _new)
