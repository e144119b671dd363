"""
Sentences name their subject: the user, the API server, a webhook, a stale cache.

A pronoun for any person leaves the reader to guess which part of the system is meant. Docstrings
and comments are held to that, and so are the names of functions, since tests are sentences, too;
the texts that users meet, which are errors, events and help; and the pages of the documentation.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

from source_files import CODE, FUNCTIONS, ROOT, name_of, parse

FOLDERS = ("src", "bench", "tools", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "designs").glob("*"))
    if path.name != "CHANGELOG.md"  # what was said about former versions stays
)
PRONOUNS = ("no", "some", "any", "every")
HIDDEN = re.compile(rf"(?<![a-z])(?:(?:{'|'.join(PRONOUNS)})body|whoever)(?![a-z])", re.I)


def list_sentences(path: Path) -> list[str]:
    """The docstrings and comments of a file, and the names of its functions."""
    nodes = [n for n in ast.walk(parse(path)) if isinstance(n, (ast.ClassDef, *FUNCTIONS))]
    texts = [ast.get_docstring(node) or "" for node in (parse(path), *nodes)]
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return [*texts, *comments, *(node.name for node in nodes)]


def list_texts(path: Path) -> list[str]:
    """The texts of several words that a file of the source holds."""
    nodes = [node for node in ast.walk(parse(path)) if isinstance(node, ast.Constant)]
    return [node.value for node in nodes if isinstance(node.value, str) and " " in node.value]


def list_paragraphs(page: Path) -> list[str]:
    """The paragraphs of a page without its code: names in it are data."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)
    return text.split("\n\n")


def test_sentences_name_their_subject():
    found = {
        f"{name_of(path)}: {text}"
        for path in FILES
        for text in list_sentences(path)
        if HIDDEN.search(text)
    }
    assert found == set()


def test_texts_for_users_name_their_subject():
    found = {f"{name_of(path)}: {text}" for path in CODE for text in list_texts(path)}
    assert {text for text in found if HIDDEN.search(text)} == set()


def test_pages_name_their_subject():
    found = {f"{name_of(page)}: {text}" for page in PAGES for text in list_paragraphs(page)}
    assert {text for text in found if HIDDEN.search(text)} == set()
