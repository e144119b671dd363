"""Code reads every flag of every command: a flag without effect would be an empty promise."""

import ast
from collections.abc import Iterator

from source_files import CODE, parse

from kohort.cli.main import COMMANDS
from kohort.cli.table import Command, Group

NOT_OURS = {"help"}  # argparse answers it
# Upstream's Deployments name these flags, so that a drop-in has to take them. The first has one
# choice, which is what happens anyway; help does not show the others.
DROP_IN = {
    *("leader_elect_resource_lock", "zap_devel", "zap_stacktrace_level", "zap_time_encoding"),
}


def list_flags(group: Group = COMMANDS, path: str = "") -> Iterator[tuple[str, str]]:
    """The flags and arguments of all commands: the words of the command, and the name."""
    for name, entry in group.entries.items():
        words = f"{path} {name}".strip()
        found = entry.load()
        if isinstance(found, Command):
            for action in found.make_parser(words)._actions:
                yield words, action.dest
        else:
            yield from list_flags(found, words)


def list_read_names() -> set[str]:
    """The names of attributes that code reads, also by getattr or by the keys of a table."""
    found: set[str] = set()
    for node in (node for path in CODE for node in ast.walk(parse(path))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
            found |= {text.value for text in node.args if isinstance(text, ast.Constant)}
        elif isinstance(node, ast.Dict):
            found |= {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return found


def test_every_flag_of_every_command_is_read():
    read = list_read_names() | NOT_OURS | DROP_IN
    assert [f"{words}: {dest}" for words, dest in list_flags() if dest not in read] == []
