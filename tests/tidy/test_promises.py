"""The page of promises and the checkers say the same, in both directions."""

import re

from source_files import ROOT, SOURCE

PAGE = ROOT / "docs" / "promises.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \| `(simulation/[\w/]+\.py)` \|$", re.M)
REFERENCE = re.compile(r"\(([PAGCTOR]\d)\)")
BREACH = re.compile(r"[\"'(]([RAGCTOPSE]\d+): ")


def rows() -> list[tuple[str, str, str]]:
    return [match.groups() for match in ROW.finditer(PAGE.read_text())]


def test_each_promise_stands_once():
    signs = [sign for sign, _, _ in rows()]
    assert len(signs) == len(set(signs)) > 40


def test_each_promise_is_a_sentence():
    assert [text for _, text, _ in rows() if not text.endswith(".")] == []


def test_what_holds_a_promise_names_it():
    missing = [sign for sign, _, path in rows() if sign not in (SOURCE / path).read_text()]
    assert missing == []


def test_every_promise_that_code_names_is_on_the_page():
    found = set()
    for path in (SOURCE / "simulation").rglob("*.py"):
        found.update(BREACH.findall(path.read_text()))
    for folder in ("planning", "model", "apis", "controller"):
        for path in (SOURCE / folder).rglob("*.py"):
            found.update(REFERENCE.findall(path.read_text()))
    assert found - {sign for sign, _, _ in rows()} == set()
