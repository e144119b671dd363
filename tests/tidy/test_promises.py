"""The page of promises and the checkers say the same, in both directions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "promises.md"
SOURCE = ROOT / "src" / "kohort"
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \| `(simulation/[\w/]+\.py)` \|$", re.M)
BREACH = re.compile(r"[\"'(]([RAGCTOPSE]\d+): ")


def rows() -> list[tuple[str, str, str]]:
    return [match.groups() for match in ROW.finditer(PAGE.read_text())]


def test_each_promise_stands_once_and_is_a_sentence():
    signs = [sign for sign, _, _ in rows()]
    assert len(signs) == len(set(signs)) > 40
    assert [text for _, text, _ in rows() if not text.endswith(".")] == []


def test_what_holds_a_promise_names_it():
    missing = [sign for sign, _, path in rows() if sign not in (SOURCE / path).read_text()]
    assert missing == []


def test_every_promise_that_a_checker_can_find_broken_is_on_the_page():
    found = set()
    for path in (SOURCE / "simulation").rglob("*.py"):
        found.update(BREACH.findall(path.read_text()))
    assert found - {sign for sign, _, _ in rows()} == set()


def test_code_refers_to_no_promise_that_is_not_on_the_page():
    known = {sign for sign, _, _ in rows()}
    for folder in ("planning", "model", "apis", "controller"):
        for path in (SOURCE / folder).rglob("*.py"):
            named = set(re.findall(r"\((P\d|A\d|G\d|C\d|T\d|O\d|R\d)\)", path.read_text()))
            assert named <= known, path
