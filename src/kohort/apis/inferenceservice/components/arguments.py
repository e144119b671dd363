"""
Arguments of an engine, merged flag by flag.

The key of a flag is the text before ``=``, or its first word. A flag without ``=`` takes the next
item as its value, unless that is a flag. If a runner has one argument of many lines, a shell
script, we merge its lines and join them again.
"""

import re
from collections.abc import Iterable, Sequence

TENSOR_FLAGS = ("--tp-size", "--tp", "--tensor-parallel-size")
PIPELINE_FLAGS = ("--pp-size", "--pp", "--pipeline-parallel-size")

Flag = tuple[str, tuple[str, ...]]  # the key of a flag, and its items in the list


def merge_arguments(args: Sequence[str], override: Sequence[str]) -> list[str]:
    """Arguments with others merged in: known flags are replaced, new ones go to the end."""
    if not override:
        return list(args)
    if args and ("\n" in args[0] or "\\" in args[0]):
        lines = [line.rstrip().removesuffix("\\").strip() for line in args[0].split("\n")]
        merged = _merge(_read_lines(line for line in lines if line), _read_flags(override))
        joined = " \\\n".join(" ".join(items) for _, items in merged)
        return [joined, *args[1:]]
    merged = _merge(_read_flags(args), _read_flags(override))
    return [item for _, items in merged for item in items]


def _merge(ours: list[Flag], override: list[Flag]) -> list[Flag]:
    found = dict(override)
    keys = {key for key, _ in ours}
    kept = [(key, found.get(key, items)) for key, items in ours]
    return [*kept, *((key, items) for key, items in override if key not in keys)]


def _read_flags(args: Sequence[str]) -> list[Flag]:
    flags: list[Flag] = []
    place = 0
    while place < len(args):
        item = args[place]
        following = args[place + 1 : place + 2]
        is_pair = (
            item.startswith("-")
            and "=" not in item
            and " " not in item.strip()
            and bool(following)
            and not following[0].startswith("-")
        )
        flags.append((_key_of(item), (item, following[0]) if is_pair else (item,)))
        place += 2 if is_pair else 1
    return flags


def _read_lines(lines: Iterable[str]) -> list[Flag]:
    return [(_key_of(line), (line,)) for line in lines]


def _key_of(item: str) -> str:
    if not item.startswith("-"):
        return item
    return re.split(r"[=\s]", item, maxsplit=1)[0]


def set_size(
    args: Sequence[str], command: Sequence[str], flags: Sequence[str], size: int
) -> tuple[list[str], list[str]]:
    """Arguments and command, with the value of the first flag found set to ``size``."""
    new_args, new_command = list(args), list(command)
    if size > 0:
        for items in (new_args, new_command):
            if _set_in(items, flags, str(size)):
                break
    return new_args, new_command


def _set_in(items: list[str], flags: Sequence[str], size: str) -> bool:
    for flag in flags:
        for place, item in enumerate(items):
            if item == flag and place + 1 < len(items):
                items[place + 1] = size
                return True
            # Several words in one item: a flag with its value, or a script of many lines.
            changed, count = re.subn(
                rf"(?<!\S)({re.escape(flag)}(?:=|[ \t]+))\S+", rf"\g<1>{size}", item, count=1
            )
            if count:
                items[place] = changed
                return True
    return False
