"""The files that the rules of this folder are about, parsed once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kohort"
CODE = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def name_of(path: Path) -> str:
    """The path of a file below the repository."""
    return str(path.relative_to(ROOT))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def list_names(path: Path) -> set[str]:
    """The classes and functions of a file."""
    nodes = ast.walk(parse(path))
    return {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
