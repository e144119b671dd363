"""
A default is a choice that callers have: some call passes another value.

A parameter that no call passes has one value, which belongs where it is used. Calls are found by
the name of the function or class, or of a subclass; a call with ``*`` or ``**`` may pass anything.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from source_files import CODE, FUNCTIONS, ROOT, parse

CALLING = sorted(p for d in ("src", "tests", "bench", "tools") for p in (ROOT / d).rglob("*.py"))
# Called by libraries, or documented for callers outside of this repository.
CALLED_ELSEWHERE = {
    "find_matches(limit)",  # a CEL expression calls it
    "handle_error(status)",  # aiohttp calls it
    "handle_error(exc)",
    "handle_error(message)",
    "start_api_server(late_events)",
    "check_plugin(serving)",
}


@dataclass
class Passed:
    """What calls of one name pass: positions up to a number, and keywords."""

    positions: int = 0
    keywords: set[str] = field(default_factory=set)
    may_be_any: bool = False


def name_of_function(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def read_call(call: ast.Call) -> tuple[str, list[ast.expr]]:
    """The name that is called and the positional arguments; those of ``partial`` are its own."""
    name = name_of_function(call.func)
    if name in {"partial", "to_thread"} and call.args:
        return name_of_function(call.args[0]), call.args[1:]
    return name, call.args


def collect_calls() -> dict[str, Passed]:
    calls: dict[str, Passed] = {}
    for path in CALLING:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call):
                name, args = read_call(node)
                passed = calls.setdefault(name, Passed())
                passed.positions = max(passed.positions, len(args))
                passed.keywords |= {keyword.arg for keyword in node.keywords if keyword.arg}
                passed.may_be_any |= any(isinstance(arg, ast.Starred) for arg in args)
                passed.may_be_any |= any(keyword.arg is None for keyword in node.keywords)
    return calls


def collect_subclasses() -> dict[str, set[str]]:
    """The subclasses of each class, at any distance."""
    bases = {
        node.name: {name_of_function(base) for base in node.bases}
        for path in CALLING
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ClassDef)
    }
    found: dict[str, set[str]] = {}
    for name, direct in bases.items():
        above, seen = set(direct), set()
        while above:
            base = above.pop()
            seen.add(base)
            above |= bases.get(base, set()) - seen
            found.setdefault(base, set()).add(name)
    return found


def list_functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Functions by the name that is called, and how many parameters the call leaves out."""
    for path in CODE:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Module):
                yield from ((f.name, f, 0) for f in node.body if isinstance(f, FUNCTIONS))
            elif isinstance(node, ast.ClassDef):
                for f in node.body:
                    if isinstance(f, FUNCTIONS):
                        yield node.name if f.name == "__init__" else f.name, f, 1


def list_defaults(arguments: ast.arguments, left_out: int) -> Iterator[tuple[str, int | None]]:
    """Parameters with a default, each with its position in a call, if it has one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    yield from ((a.arg, at - left_out) for at, a in enumerate(positional) if at >= first)
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from ((a.arg, None) for a, default in pairs if default is not None)


def is_passed(passed: Passed, parameter: str, position: int | None) -> bool:
    by_position = position is not None and position < passed.positions
    return passed.may_be_any or by_position or parameter in passed.keywords


def test_every_default_is_overridden_by_a_call():
    calls, subclasses = collect_calls(), collect_subclasses()
    unused = set()
    for name, function, left_out in list_functions():
        callers = [calls.get(called, Passed()) for called in (name, *subclasses.get(name, ()))]
        for parameter, position in list_defaults(function.args, left_out):
            if not any(is_passed(passed, parameter, position) for passed in callers):
                unused.add(f"{name}({parameter})")
    assert unused - CALLED_ELSEWHERE == set()
