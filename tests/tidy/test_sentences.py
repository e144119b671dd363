"""
Sentences name their subject: the user, the API server, a webhook, a stale cache.

A pronoun for any person leaves the reader to guess which part of the system is meant. Docstrings
and comments are held to that, and so are the names of functions, since tests are sentences, too.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

from source_files import FUNCTIONS, ROOT, name_of, parse

FOLDERS = ("src", "bench", "tools", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PRONOUNS = ("no", "some", "any", "every")
HIDDEN = re.compile(rf"(?<![a-z])(?:(?:{'|'.join(PRONOUNS)})body|whoever)(?![a-z])", re.I)


def list_sentences(path: Path) -> list[str]:
    """The docstrings and comments of a file, and the names of its functions."""
    nodes = [n for n in ast.walk(parse(path)) if isinstance(n, (ast.ClassDef, *FUNCTIONS))]
    texts = [ast.get_docstring(node) or "" for node in (parse(path), *nodes)]
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return [*texts, *comments, *(node.name for node in nodes)]


def test_sentences_name_their_subject():
    found = {
        f"{name_of(path)}: {text}"
        for path in FILES
        for text in list_sentences(path)
        if HIDDEN.search(text)
    }
    assert found == set()
