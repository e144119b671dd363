"""What the documents tell people to type exists, and what they link to is there."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from kohort.cli.main import COMMANDS
from kohort.cli.processes.sample import describe_sample
from kohort.cli.table import Command

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINE = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?kohort (?P<words>[^#\n]*)", re.MULTILINE)
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
TARGET = re.compile(r"`make ([a-z]+)|^\s*\$ make ([a-z]+)", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[str]:
    blocks = "\n".join(BLOCK.findall(page.read_text()))
    return [found["words"].strip() for found in LINE.finditer(blocks)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_a_page_are_understood(page):
    for line in commands(page):
        words = shlex.split(line)
        found = COMMANDS
        while not isinstance(found, Command):
            found = found.entries[words.pop(0)].load()
        found.make_parser("kohort").read(words)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_in_a_page_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_the_documents_do_show_commands():
    assert sum(len(commands(page)) for page in PAGES) > 15


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_in_a_page_exist(page):
    makefile = (ROOT / "Makefile").read_text()
    named = {first or second for first, second in TARGET.findall(page.read_text())}
    assert not [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)]


def test_the_first_page_shows_the_sample_that_make_up_makes():
    page = (ROOT / "docs" / "getting-started.md").read_text()
    ready = {"metadata": {}, "spec": {"replicas": 2}, "status": {"readyReplicas": 2}}
    ready["status"]["conditions"] = [{"type": "Available", "status": "True"}]
    assert "--sample" in (ROOT / "Makefile").read_text()
    assert f"  sample      {describe_sample(ready)}\n" in page


def test_the_plugin_of_kubectl_is_documented():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert "kubectl-kohort" in scripts
    for page in ("docs/getting-started.md", "docs/reference/cli.md"):
        text = (ROOT / page).read_text()
        assert "kubectl-kohort" in text
        assert "kubectl kohort get" in text
