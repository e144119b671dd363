"""Properties of the source itself. Rules a reviewer should not have to repeat."""

import ast
from collections import Counter
from pathlib import Path

import pytest

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


def long_functions(path: Path, limit: int) -> list[str]:
    tree = ast.parse(path.read_text())
    spans = [
        (node.name, (node.end_lineno or 0) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
    ]
    return [f"{name}: {length} lines" for name, length in spans if length > limit]


@pytest.mark.parametrize("path", CODE, ids=name_of)
class TestSource:
    def test_a_file_fits_on_a_few_screens(self, path: Path):
        assert len(path.read_text().splitlines()) <= FILE_LINES_MAX

    def test_functions_fit_on_one_screen(self, path: Path):
        assert not long_functions(path, FUNCTION_LINES_MAX)

    def test_a_module_says_what_it_is_for(self, path: Path):
        assert ast.get_docstring(ast.parse(path.read_text()))

    def test_public_names_have_a_docstring(self, path: Path):
        kinds = (*FUNCTIONS, ast.ClassDef)
        public = [n for n in ast.parse(path.read_text()).body if isinstance(n, kinds)]
        bare = [n.name for n in public if not n.name.startswith("_") and not ast.get_docstring(n)]
        assert not bare

    def test_nothing_is_left_to_do(self, path: Path):
        assert "TODO" not in path.read_text()
        assert "FIXME" not in path.read_text()


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_tests_are_short_and_files_are_readable(path: Path):
    assert not long_functions(path, TEST_LINES_MAX)
    assert len(path.read_text().splitlines()) <= FILE_LINES_MAX


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
        used |= _imported(ast.parse(path.read_text()))
    modules = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in CODE
    }
    dead = [m for m in modules if not m.endswith("__init__") and m not in used | entries]
    assert not dead
