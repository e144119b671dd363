"""ARCHITECTURE.md names files and functions that exist, and every top-level package."""

import re

import pytest
from source_files import ROOT, SOURCE, list_names

PAGE = (ROOT / "ARCHITECTURE.md").read_text()
# A file in backquotes, and the names in backquotes that follow it, joined by "and" or a comma.
FILE = re.compile(r"`([a-z_0-9/]+\.py)`((?:(?: and|,)?\s`[A-Za-z_]+`)*)")
RECIPES = ("To add an API", "To add a strategy", "To add a built-in kind")
PLACES = [
    (path, name) for path, names in FILE.findall(PAGE) for name in re.findall(r"`(\w+)`", names)
]
FILES = sorted({path for path, _ in FILE.findall(PAGE)})


def test_files_that_the_page_names_exist():
    lost = [name for name in FILES if not ((SOURCE / name).is_file() or (ROOT / name).is_file())]
    assert FILES and lost == []


def test_functions_that_the_page_names_are_in_their_files():
    assert len(PLACES) > 25
    assert [place for place in PLACES if place[1] not in list_names(SOURCE / place[0])] == []


def test_every_package_has_a_line_on_the_page():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    layers = PAGE.split("```")[1]
    assert {name for name in packages if not re.search(rf"\b{name}\b", layers)} == set()


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_names_the_files_to_begin_with(recipe: str):
    steps = PAGE.split(f"## {recipe}\n")[1].split("\n## ")[0]
    assert FILE.findall(steps)
