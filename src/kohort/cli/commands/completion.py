"""
This is where completion scripts are made, from the same tables that commands are found in.

The scripts are static: no Python starts for a keystroke. Names of workloads, namespaces and
contexts are asked of kubectl, for two seconds at most; without kubectl there are none.
"""

import argparse
from collections.abc import Iterable, Iterator

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


def _find_targets(path: tuple[str, ...], group: Group) -> Iterator[str]:
    """The commands that take a workload, as KIND/NAME."""
    for name, entry in group.entries.items():
        found = entry.load()
        if isinstance(found, Group):
            yield from _find_targets((*path, name), found)
        elif any("KIND" in word for word in found.make_parser(name).metavars()):
            yield " ".join((*path, name))


def _list_resources() -> dict[str, str]:
    """The full names by which kubectl knows our kinds, by their short names."""
    from kohort.apis.served import APIS

    return {api.short_name: api.kind.group_resource for api in APIS}


def _resource_cases() -> str:
    rows = (f"    {short}) echo {name} ;;" for short, name in _list_resources().items())
    return "\n".join((*rows, '    *) echo "$1" ;;'))


def _either(paths: Iterable[str]) -> str:
    return "|".join(f"'{path}'" for path in paths)


_NAMES = """\
_kohort_resource() {{
  case "$1" in
{resources}
  esac
}}
# Asks kubectl, with the flags of the line that say which cluster is meant.
_kohort_ask() {{
  local word before='' flags=''
  for word in "${{_kohort_line[@]}}"; do
    case "$before" in
      -n|--namespace|--context|--kubeconfig) flags="$flags $before $word" ;;
    esac
    before="$word"
  done
  kubectl "$@" ${{=flags}} --request-timeout=2s 2>/dev/null
}}
_kohort_names() {{
  local kind="${{1%%/*}}" name
  _kohort_ask get "$(_kohort_resource "$kind")" -o name | while IFS= read -r name; do
    echo "$kind/${{name##*/}}"
  done
}}
_kohort_values() {{
  local name
  case "$1" in
    -n|--namespace) _kohort_ask get namespaces -o name | while IFS= read -r name; do
        echo "${{name##*/}}"
      done ;;
    --context) kubectl config get-contexts -o name 2>/dev/null ;;
  esac
}}
"""


def _bash(words: dict[str, list[str]]) -> str:
    names = _NAMES.format(resources=_resource_cases()).replace("${=flags}", "$flags")
    return f"""\
{names}\
_kohort() {{
  local word next path='' words='' kinds='{_kinds()}'
  local now="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local _kohort_line=("${{COMP_WORDS[@]:1:COMP_CWORD-1}}")
  for word in "${{_kohort_line[@]}}"; do
    next="${{path:+$path }}$word"
    case "$next" in {_either(path for path in words if path)}) path="$next" ;; esac
  done
  case "$path" in
{_cases(words)}
  esac
  case "$before" in
    -n|--namespace|--context)
      COMPREPLY=($(compgen -W "$(_kohort_values "$before")" -- "$now")); return ;;
  esac
  case "$path" in
    {_either(_targets())})
      case "$now" in
        -*) ;;
        */*) COMPREPLY=($(compgen -W "$(_kohort_names "$now")" -- "$now")); return ;;
        *) COMPREPLY=($(compgen -W "$kinds $words" -- "$now"))
           case "${{COMPREPLY[0]}}" in */) compopt -o nospace 2>/dev/null ;; esac
           return ;;
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$now"))
}}
complete -o default -F _kohort kohort"""


def _kinds() -> str:
    return " ".join(f"{short}/" for short in _list_resources())


def _targets() -> list[str]:
    from kohort.cli.main import COMMANDS

    return list(_find_targets((), COMMANDS))


def _zsh(words: dict[str, list[str]]) -> str:
    return f"""\
#compdef kohort
{_NAMES.format(resources=_resource_cases())}\
_kohort() {{
  local word next before='' words_='' now="${{words[CURRENT]}}" last="${{words[CURRENT-1]}}"
  local -a _kohort_line
  _kohort_line=("${{(@)words[2,CURRENT-1]}}")
  for word in "${{_kohort_line[@]}}"; do
    next="${{before:+$before }}$word"
    case "$next" in {_either(path for path in words if path)}) before="$next" ;; esac
  done
  local words=''
  case "$before" in
{_cases(words)}
  esac
  case "$last" in
    -n|--namespace|--context) compadd -- $(_kohort_values "$last"); return ;;
  esac
  case "$before" in
    {_either(_targets())})
      case "$now" in
        -*) ;;
        */*) compadd -- $(_kohort_names "$now"); return ;;
        *) compadd -S '' -- {_kinds()} ;;
      esac ;;
  esac
  compadd -- ${{=words}}
}}
compdef _kohort kohort"""


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["complete -c kohort -f"]
    targets = set(_targets())
    for path, next_ in words.items():
        plain = " ".join(word for word in next_ if not word.startswith("-"))
        test = f'test (string join " " (__kohort_words)) = "{path}"'
        if plain:
            lines.append(f"complete -c kohort -n '{test}' -a '{plain}'")
        if path in targets:
            lines.append(f"complete -c kohort -n '{test}' -a '(__kohort_names)'")
        for flag in (word for word in next_ if word.startswith("--")):
            lines.append(f"complete -c kohort -n '{test}' -l {flag.removeprefix('--')}")
    rows = (f"    case {short}\n      echo {name}" for short, name in _list_resources().items())
    resources = "\n".join((*rows, "    case '*'\n      echo $argv[1]"))
    start = f"""\
function __kohort_words
  commandline -opc | tail -n +2 | string match -v -- '-*'
end
function __kohort_resource
  switch $argv[1]
{resources}
  end
end
function __kohort_names
  set -l now (commandline -ct)
  if not string match -q '*/*' -- $now
    printf '%s\\n' {_kinds()}
    return
  end
  set -l kind (string split -m 1 / -- $now)[1]
  kubectl get (__kohort_resource $kind) -o name --request-timeout=2s 2>/dev/null | \
    string replace -r '.*/' "$kind/"
end"""
    return "\n".join((start, *lines))


COMPLETION = Command(_make_parser, _run)
