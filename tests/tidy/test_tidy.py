"""Rules about sizes and files that a reviewer should not have to repeat; ruff holds the others."""

import ast
from collections import Counter
from pathlib import Path

from source_files import CODE, FUNCTIONS, SOURCE, TESTS, name_of, parse

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
TEST_LINES_MAX = 30
# Modules that no other imports: commands, and the public parts for authors of strategies, and of
# APIs that keep objects true or let other controllers carry roles.
ENTRIES = {
    "kohort",
    "kohort.__main__",
    "kohort.cli.main",
    "kohort.testing.plugin",
    "kohort.testing.strategies",
    "kohort.apis.carriers.delegated",
    "kohort.apis.carriers.desired",
}


def long_functions(path: Path, limit: int) -> list[str]:
    spans = [
        (node.name, (node.end_lineno or 0) - node.lineno + 1)
        for node in ast.walk(parse(path))
        if isinstance(node, FUNCTIONS)
    ]
    return [f"{name_of(path)} {name}: {length} lines" for name, length in spans if length > limit]


def list_imports(tree: ast.AST) -> set[str]:
    """The modules that a file imports or names in a text."""
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


def test_a_file_fits_on_a_few_screens():
    files = [*CODE, *TESTS]
    assert [name_of(p) for p in files if len(p.read_text().splitlines()) > FILE_LINES_MAX] == []


def test_functions_fit_on_one_screen():
    assert [found for path in CODE for found in long_functions(path, FUNCTION_LINES_MAX)] == []


def test_tests_are_short():
    assert [found for path in TESTS for found in long_functions(path, TEST_LINES_MAX)] == []


def test_no_two_files_of_tests_have_one_name():
    # Tests lie in folders that are no packages, so a name is a module.
    names = Counter(path.name for path in TESTS if path.name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_module_is_used_by_another_or_by_an_entry_point():
    used = {name for path in CODE for name in list_imports(parse(path))}
    files = [path for path in CODE if path.name != "__init__.py"]
    modules = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in files}
    assert modules - used - ENTRIES == set()
