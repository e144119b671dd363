"""
This is where completion scripts are made, from the same tables that commands are found in.

The scripts are static: a shell that completes a word never starts a process.
"""

import argparse
from collections.abc import Iterator

from kohort.cli.exits import Exit
from kohort.cli.parser import Parser
from kohort.cli.table import Command, Group

_SHELLS = ("bash", "zsh", "fish")


def _make_parser(prog: str) -> Parser:
    examples = (
        "bash > ~/.local/share/bash-completion/completions/kohort",
        "zsh > ~/.zfunc/_kohort",
        "fish > ~/.config/fish/completions/kohort.fish",
    )
    parser = Parser(prog, "print a completion script for a shell", examples)
    parser.add_argument("shell", choices=_SHELLS)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from kohort.cli.main import COMMANDS

    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    print(write(dict(_words((), COMMANDS))))
    return Exit.DONE


def _words(path: tuple[str, ...], group: Group) -> Iterator[tuple[str, list[str]]]:
    """For each sequence of commands, the words that may come next."""
    yield " ".join(path), [*group.entries, "--help"]
    for name, entry in group.entries.items():
        found = entry.load()
        if isinstance(found, Command):
            parser = found.make_parser(name)
            yield " ".join((*path, name)), [*parser.words(), *parser.flags()]
        else:
            yield from _words((*path, name), found)


def _cases(words: dict[str, list[str]]) -> str:
    rows = (f"    '{path}') words='{' '.join(next_)}' ;;" for path, next_ in words.items())
    return "\n".join(rows)


def _bash(words: dict[str, list[str]]) -> str:
    return f"""\
_kohort() {{
  local word path='' words=''
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{_cases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _kohort kohort"""


def _zsh(words: dict[str, list[str]]) -> str:
    return f"""\
#compdef kohort
_kohort() {{
  local word before='' words_=''
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$word" in -*) ;; *) before="${{before:+$before }}$word" ;; esac
  done
  local words=''
  case "$before" in
{_cases(words)}
  esac
  compadd -- ${{=words}}
}}
compdef _kohort kohort"""


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["complete -c kohort -f"]
    for path, next_ in words.items():
        plain = " ".join(word for word in next_ if not word.startswith("-"))
        test = f'test (string join " " (__kohort_words)) = "{path}"'
        if plain:
            lines.append(f"complete -c kohort -n '{test}' -a '{plain}'")
        for flag in (word for word in next_ if word.startswith("--")):
            lines.append(f"complete -c kohort -n '{test}' -l {flag.removeprefix('--')}")
    start = """\
function __kohort_words
  commandline -opc | tail -n +2 | string match -v -- '-*'
end"""
    return "\n".join((start, *lines))


COMPLETION = Command(_make_parser, _run)
