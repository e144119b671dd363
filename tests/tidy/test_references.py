"""
A reference can be followed in the repository.

Sections are those of a design that is named beside them, numbers of defects stand in
``docs/upstream-defects.md``, promises in ``docs/promises.md`` (see ``test_promises``), and files
that are named exist. Issues of other projects are written with the project, as in lws#688.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from source_files import ROOT, name_of

FOLDERS = ("src", "tests", "docs", "designs", "bench", "tools", "examples")
KINDS = {".py", ".md", ".go", ".yaml", ".toml"}
TEXTS = {
    path: path.read_text()
    for root in (*(ROOT / folder for folder in FOLDERS), ROOT)
    for path in (root.rglob("*") if root != ROOT else root.glob("*.md"))
    if path.suffix in KINDS and path != Path(__file__)
}
# What only the authors have: their requirements, notes and the letters of their plan.
ELSEWHERE = re.compile(
    r"\b[Ss]pec §|\b[Rr]equirements? 0\d\d|\bissue [A-Z]\b|\bAppendix [A-Z]\b|\b(?:words|style)\.md"
)
SECTION = re.compile(r"(?:(?P<page>0\d\d)\S*\s+)?§ ?(?P<number>\d+)")
# In lower case: a word in capitals stands for a name. Upstream has a folder docs/examples, too.
NAMED = re.compile(
    r"(?<![\w/.{])(?:tests|src|docs|designs|tools|bench)/(?!examples/)[a-z0-9_/-]+"
    r"\.(?:py|md|yaml|go)\b"
)
DEFECT = re.compile(r"\btest_defect_(\d+)_|\bTestDefect(\d+)|\bdefects? (\d+)")
DEFECTS = (ROOT / "docs" / "upstream-defects.md").read_text()


def list_headings(page: str) -> set[str]:
    found = list((ROOT / "designs").glob(f"{page}-*.md"))
    return set(re.findall(r"^## (\d+)\.", found[0].read_text(), re.MULTILINE)) if found else set()


def find_lost_sections(path: Path, text: str) -> Iterator[str]:
    own = path.name[:3] if path.parent.name == "designs" else ""
    for found in SECTION.finditer(text):
        before = text[max(0, found.start() - 80) : found.start()]
        named = re.findall(r"designs/(0\d\d)", before)
        page = found["page"] or (named[-1] if named else own)
        if found["number"] not in list_headings(page):
            yield found.group()


def list_defects(api: str) -> set[str]:
    section = DEFECTS.split(f"## {api}\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| (\d+) \|", section, re.MULTILINE))


def find_api(path: Path) -> str:
    return "RoleBasedGroup" if "rolebasedgroup" in name_of(path) else "ModelServing"


def test_nothing_points_outside_of_the_repository():
    found = {name_of(path): ELSEWHERE.findall(text) for path, text in TEXTS.items()}
    assert {name: lost for name, lost in found.items() if lost} == {}


def test_a_section_is_one_of_the_design_that_is_named_beside_it():
    found = {name_of(path): list(find_lost_sections(path, text)) for path, text in TEXTS.items()}
    assert {name: lost for name, lost in found.items() if lost} == {}


def test_files_that_are_named_exist():
    named = {(name_of(path), name) for path, text in TEXTS.items() for name in NAMED.findall(text)}
    assert {(by, name) for by, name in named if not (ROOT / name).exists()} == set()


def test_a_number_of_a_defect_is_explained():
    known = {api: list_defects(api) for api in ("ModelServing", "RoleBasedGroup")}
    used = {
        (name_of(path), next(filter(None, numbers)), find_api(path))
        for path, text in TEXTS.items()
        if text != DEFECTS
        for numbers in DEFECT.findall(text)
    }
    assert {(by, number) for by, number, api in used if number not in known[api]} == set()


def test_tests_that_a_table_names_exist():
    tables = [text for path, text in TEXTS.items() if path.parent.name in ("docs", "designs")]
    named = {name for text in tables for name in re.findall(r"`(test_\w+)`", text)}
    held = {
        name
        for path, text in TEXTS.items()
        if path.suffix == ".py"
        for name in re.findall(r"def (test_\w+)\(", text)
    }
    assert named and named <= held


def test_every_defect_of_role_based_groups_names_its_tests():
    section = DEFECTS.split("## RoleBasedGroup\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \|.*?\| ([^|]*) \|$", section, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 26))
    assert all("`test_" in tests for _, tests in rows)
