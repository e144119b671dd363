"""
The table of commands: which module runs the command that the user typed.

Commands are named here as text and imported when they are called: help must
answer at once, whatever the commands need.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import Parser, describe, suggest


@dataclass(frozen=True, slots=True)
class Command:
    """One command: a parser of its arguments, and the function that runs it."""

    make_parser: Callable[[str], Parser]
    run: Callable[[argparse.Namespace], int]


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command or a group of them is found."""

    module: str
    name: str
    summary: str

    def load(self) -> "Command | Group":
        """Import it."""
        found: Command | Group = getattr(import_module(self.module), self.name)
        return found


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under one word."""

    summary: str
    examples: Sequence[str]
    entries: Mapping[str, CommandEntry]
    footer: str = ""

    def help(self, prog: str) -> str:
        """The help text."""
        width = max(len(name) for name in self.entries) + 2
        rows = "\n".join(f"  {name:<{width}}{e.summary}" for name, e in self.entries.items())
        start = f"usage: {prog} COMMAND ...\n\n{describe(prog, self.summary, self.examples)}"
        closing = f"Ask for more with '{prog} COMMAND --help'."
        return f"{start}\n\ncommands:\n{rows}\n{self.footer}\n{closing}"


def dispatch(prog: str, argv: Sequence[str], group: Group) -> int:
    """Find the command that is meant and run it."""
    word, *rest = argv or ("--help",)
    if word in ("-h", "--help", "help"):
        return _explain(prog, rest, group)
    entry = group.entries.get(word)
    if entry is None:
        what = "flag" if word.startswith("-") else "command"
        hint = suggest(word, group.entries)
        raise UsageError(f"unknown {what} {word!r}{hint}; see '{prog} --help'")
    found = entry.load()
    if isinstance(found, Group):
        return dispatch(f"{prog} {word}", rest, found)
    return found.run(found.make_parser(f"{prog} {word}").read(rest))


def _explain(prog: str, words: Sequence[str], group: Group) -> int:
    """Print the help of the group, or with ``help WORD`` that of a command in it."""
    if words and words[0] in group.entries:
        return dispatch(prog, [*words, "--help"], group)
    print(group.help(prog))
    return Exit.DONE
