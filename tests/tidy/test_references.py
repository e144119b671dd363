"""
A reference can be followed in the repository.

Sections are those of a design that is named beside them, numbers of defects stand in
``docs/upstream-defects.md``, promises in ``docs/promises.md`` (see ``test_promises``). Files,
folders and modules that a text names exist, and so do the pages and headings that it links to.
Issues of other projects are written with the project, as in lws#688.
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
    r"\b[Ss]pec §|\b[Ss]pec(?:ification)? \d+\.\d|\b[Ss]ections? \d|\b[Rr]equirements? 0\d\d"
    r"|\b[Ii]ssues? [A-Z]\b(?! [a-z])|\bAppendix [A-Z]\b|\b(?:words|style)\.md"
)
SECTION = re.compile(r"(?:(?P<page>0\d\d)\S*\s+)?§ ?(?P<number>\d+)")
# In lower case: a word in capitals stands for a name. Upstream has a folder docs/examples, too.
NAMED = re.compile(
    r"(?<![\w/.{])(?:tests|src|docs|designs|tools|bench)/(?!examples/)[a-z0-9_/-]+"
    r"\.(?:py|md|yaml|go)\b"
)
# Inside of backquotes: a file, or a folder with a slash at its end.
QUOTED_FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|md|js))`")
QUOTED_FOLDER = re.compile(r"`((?:[a-z_]+/)+)`")
WRITTEN_BY_RUNS = {"bench/results/"}
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)")
MODULE = re.compile(r"`(kohort(?:\.[a-z_]+)+)`")
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


def list_ends() -> set[str]:
    """The ends of all paths: a text may leave out the folders above a file."""
    tops = [ROOT / name for name in FOLDERS]
    folders = {path for top in tops for path in (top, *top.rglob("*")) if path.is_dir()}
    pages = (ROOT / "src" / "kohort" / "dashboard" / "pages").glob("*.js")
    parts = [path.relative_to(ROOT).parts for path in (*TEXTS, *folders, *pages)]
    return {"/".join(each[start:]) for each in parts for start in range(len(each))}


def list_headings_of(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def find_broken_links(path: Path, text: str) -> Iterator[str]:
    for name, heading in LINK.findall(text):
        page = path.parent / name if name else path
        if not page.exists() or (heading and heading not in list_headings_of(page)):
            yield f"{name}#{heading}"


def is_module(name: str) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    place = ROOT / "src" / Path(*name.split("."))
    if place.is_dir() or place.with_suffix(".py").is_file():
        return True
    homes = (place.parent.with_suffix(".py"), place.parent / "__init__.py")
    return any(home.is_file() and place.name in home.read_text() for home in homes)


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


def test_files_and_folders_in_backquotes_exist():
    ends = list_ends()
    named = {
        (name_of(path), name)
        for path, text in TEXTS.items()
        for pattern in (QUOTED_FILE, QUOTED_FOLDER)
        for name in pattern.findall(text)
    }
    lost = {(by, name) for by, name in named if name.rstrip("/") not in ends}
    assert {(by, name) for by, name in lost if name not in WRITTEN_BY_RUNS} == set()


def test_links_lead_to_pages_and_headings_that_exist():
    pages = {path: text for path, text in TEXTS.items() if path.suffix == ".md"}
    broken = {name_of(path): list(find_broken_links(path, text)) for path, text in pages.items()}
    assert {name: links for name, links in broken.items() if links} == {}


def test_modules_that_are_named_exist():
    code = "".join(text for path, text in TEXTS.items() if name_of(path).startswith("src"))
    groups = set(re.findall(r'"(kohort\.[a-z_]+)"', code))  # of entry points
    named = {
        (name_of(path), name)
        for path, text in TEXTS.items()
        if path.parent.name != "designs"
        for name in MODULE.findall(text)
    }
    assert {(by, name) for by, name in named if name not in groups and not is_module(name)} == set()


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
