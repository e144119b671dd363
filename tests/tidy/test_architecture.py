"""ARCHITECTURE.md names files and functions that exist, and every top-level package."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kohort"
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
# A file in backquotes, and the names in backquotes that follow it, joined by "and" or a comma.
FILE = re.compile(r"`([a-z_0-9/]+\.py)`((?:(?: and|,)?\s`[A-Za-z_]+`)*)")
RECIPES = ("To add an API", "To add a strategy", "To add a built-in kind")
PLACES = [(path, name) for path, names in FILE.findall(PAGE) for name in re.findall(r"\w+", names)]
FILES = sorted({path for path, _ in FILE.findall(PAGE)})


def list_names(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_named_exists(name: str):
    assert (SOURCE / name).is_file() or (ROOT / name).is_file()


@pytest.mark.parametrize(("path", "name"), [place for place in PLACES if place[1] != "and"])
def test_a_function_that_is_named_is_in_its_file(path: str, name: str):
    assert name in list_names(SOURCE / path)


def test_every_package_has_a_line():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    layers = PAGE.split("```")[1]
    assert {name for name in packages if not re.search(rf"\b{name}\b", layers)} == set()


def test_there_are_enough_places_to_check():
    assert len(PLACES) > 25


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_names_the_files_to_begin_with(recipe: str):
    steps = PAGE.split(f"## {recipe}\n")[1].split("\n## ")[0]
    assert FILE.findall(steps)
