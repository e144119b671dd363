"""A built-in kind is spelled once: every package takes it from one place."""

import ast
from collections.abc import Iterator

from source_files import CODE, SOURCE, name_of, parse

HOME = SOURCE / "cluster" / "kinds.py"


def find_kinds(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The kinds that a file spells out, each with its line."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Kind"
        ):
            yield node.lineno, ast.dump(node)


KNOWN = {kind for _, kind in find_kinds(parse(HOME))}


def test_a_built_in_kind_is_spelled_out_in_one_file():
    planted = ast.parse('FIRST = Kind("", "v1", "Pod", "pods")')
    assert [kind in KNOWN for _, kind in find_kinds(planted)] == [True]
    again = [
        f"{name_of(path)}:{line}"
        for path in CODE
        for line, kind in find_kinds(parse(path))
        if path != HOME and kind in KNOWN
    ]
    assert not again, "take these from kohort.cluster.kinds"
