"""
There is one event loop of virtual time, and one harness that simulations run in.

Source, tests, benchmarks and tools are looked through: a second one would be a second meaning of
time, or a second cluster that drifts from the first.
"""

import ast
from collections.abc import Iterator

from source_files import CODE, ROOT, TESTS, name_of, parse

FILES = [
    *CODE,
    *TESTS,
    *(path for tree in ("bench", "tools") for path in (ROOT / tree).rglob("*.py")),
]
LOOPS = {"AbstractEventLoop", "BaseEventLoop", "SelectorEventLoop", "ProactorEventLoop"}


def list_classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for path in FILES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                yield f"{name_of(path)} {node.name}", node


def test_one_event_loop_has_virtual_time():
    found = [
        name
        for name, node in list_classes()
        if any(ast.unparse(base).rpartition(".")[2] in LOOPS for base in node.bases)
    ]
    assert found == ["src/kohort/simulation/virtual_loop.py VirtualLoop"]


def test_one_class_is_the_harness_of_simulations():
    """Two classes in tests of the simulator are named so, too: they hold one component alone."""
    named = (name for name, node in list_classes() if node.name.endswith("Harness"))
    found = [name for name in named if not name.startswith("tests/simulator/")]
    assert found == ["src/kohort/simulation/harness.py Harness"]
