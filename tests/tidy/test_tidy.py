"""Properties of the source itself. Rules a reviewer should not have to repeat."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kohort"
CODE = sorted(path for path in SOURCE.rglob("*.py") if path.read_text().strip())
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if path.read_text().strip())

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
TEST_LINES_MAX = 30
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def long_functions(path: Path, limit: int) -> list[str]:
    spans = [
        (node.name, (node.end_lineno or 0) - node.lineno + 1)
        for node in ast.walk(parse(path))
        if isinstance(node, FUNCTIONS)
    ]
    return [f"{name_of(path)} {name}: {length} lines" for name, length in spans if length > limit]


def long_files(paths: list[Path]) -> list[str]:
    return [name_of(p) for p in paths if len(p.read_text().splitlines()) > FILE_LINES_MAX]


def bare_names(path: Path) -> list[str]:
    """The public classes and functions of a file that nothing is said about."""
    public = [n for n in parse(path).body if isinstance(n, (*FUNCTIONS, ast.ClassDef))]
    bare = [n.name for n in public if not n.name.startswith("_") and not ast.get_docstring(n)]
    return [f"{name_of(path)} {name}" for name in bare]


def test_a_file_fits_on_a_few_screens():
    assert long_files([*CODE, *TESTS]) == []


def test_functions_fit_on_one_screen():
    assert [found for path in CODE for found in long_functions(path, FUNCTION_LINES_MAX)] == []


def test_tests_are_short():
    assert [found for path in TESTS for found in long_functions(path, TEST_LINES_MAX)] == []


def test_a_module_says_what_it_is_for():
    assert [name_of(path) for path in CODE if not ast.get_docstring(parse(path))] == []


def test_public_names_have_a_docstring():
    assert [found for path in CODE for found in bare_names(path)] == []


def test_nothing_is_left_to_do():
    marks = ("TODO", "FIXME")
    assert [name_of(p) for p in CODE if any(mark in p.read_text() for mark in marks)] == []


def test_no_two_files_of_tests_have_one_name():
    # Tests lie in folders that are no packages, so a name is a module.
    names = Counter(path.name for path in TESTS if path.name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []


def _imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names


def test_every_module_is_used_by_another_or_by_an_entry_point():
    entries = {"kohort", "kohort.__main__", "kohort.cli.main", "kohort.testing.plugin"}
    # For authors of strategies, and for APIs that keep objects true or let others carry roles.
    entries |= {"kohort.testing.strategies", "kohort.apis.carriers.delegated"}
    entries |= {"kohort.apis.carriers.desired"}
    used: set[str] = set()
    for path in CODE:
        used |= _imported(parse(path))
    modules = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in CODE
    }
    dead = [m for m in modules if not m.endswith("__init__") and m not in used | entries]
    assert not dead
