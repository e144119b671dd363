"""Each reason that the code can give has a page, and no page is about another word."""

import re
import runpy
from pathlib import Path

import pytest
from reason_values import list_reasons

from kohort.model.reasons import OF_OTHER_ROLES
from kohort.views.reasons import find_link, load_pages

ROOT = Path(__file__).parents[2]
REASON_PAGES = load_pages()
GENERATOR = runpy.run_path(str(ROOT / "tools" / "reason_pages.py"))
REASONS = {**list_reasons(), **dict.fromkeys(OF_OTHER_ROLES, "kohort.model.reasons")}
# Words of the kubelet and of schedulers, which pods carry.
FOREIGN = {
    "Error",
    "ImagePullBackOff",
    "ErrImagePull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "Unschedulable",
}


def test_the_code_is_read():
    assert {"WaitingForReady", "Malformed", "Progressing", "NotReady"} <= set(REASONS)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_a_reason_has_a_page(reason: str):
    page = REASON_PAGES[reason]
    assert all((page.meaning, page.cause, page.action))


def test_no_page_is_about_a_word_that_is_never_given():
    assert set(REASON_PAGES) - set(REASONS) - FOREIGN == set()


def test_links_lead_to_sections_of_the_page_that_is_made():
    path, page = GENERATOR["PATH"], GENERATOR["render_page"]()
    assert path.read_text() == page, "run: python -m tools.reason_pages"
    anchors = {title.lower() for title in re.findall(r"^## (\w+)$", page, re.MULTILINE)}
    for reason in REASON_PAGES:
        file, _, anchor = find_link(reason).partition("#")
        assert (ROOT / file) == path
        assert anchor in anchors
    assert find_link("SomeoneElsesWord") == ""
