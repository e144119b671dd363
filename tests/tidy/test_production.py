"""The operator of a real cluster takes nothing from the simulation, nor from the API server."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
STARTS = ("kohort.controller.process.process", "kohort.cli.processes.launch")
FOREIGN = ("kohort.simulation", "kohort.simulator", "kohort.apiserver", "kohort.testing")


def find_file(module: str) -> Path | None:
    path = SOURCE.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def list_imports(path: Path) -> set[str]:
    """The modules that a file imports anywhere, and names that may be modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def list_reached(start: str) -> dict[str, str]:
    """All modules of ours that one reaches, each with the module that imports it."""
    reached, waiting = {start: ""}, [start]
    while waiting:
        module = waiting.pop()
        path = find_file(module)
        for name in sorted(list_imports(path)) if path is not None else ():
            if name.startswith("kohort.") and name not in reached and find_file(name):
                reached[name] = module
                waiting.append(name)
    return reached


@pytest.mark.parametrize("start", STARTS)
def test_the_operator_reaches_no_simulation(start: str):
    reached = list_reached(start)
    assert len(reached) > 100, "the walk found too little to say anything"
    assert {name: by for name, by in reached.items() if name.startswith(FOREIGN)} == {}
