"""
What `cluster/` has a word for is not defined again: every package takes it from there.

A second definition is another thing, and stands in the list with what it is. Kinds have a test of
their own, by value.
"""

import ast

from source_files import CODE, FUNCTIONS, SOURCE, name_of, parse

WORDS = sorted((SOURCE / "cluster").glob("*.py"))
OTHER_THINGS = {
    "apiserver/api/reads/watches.py WatchEvent": "an event with its bytes, for the wire",
    "apiserver/api/context.py show": "a stored object in the version of a request",
    "apiserver/api/writes/storage.py put": "an object into the store",
    "apiserver/protobuf/decode.py read_time": "a time in a message of bytes",
    "apiserver/resources/validation/field_errors.py forbidden": "an error of a field",
    "apiserver/resources/validation/field_errors.py invalid": "an error of a field",
    "apiserver/resources/validation/field_errors.py not_found": "an error of a field",
    "apiserver/schemas/definition/field_errors.py forbidden": "an error of a field",
    "apiserver/schemas/definition/field_errors.py invalid": "an error of a field",
    "apiserver/schemas/structural/checks/problems.py invalid": "an error of a field",
    "apiserver/server/watches.py drop": "a connection",
    "apis/inferenceservice/resolution/selection.py Selection": "the runtime of a service",
    "cli/exits.py TimedOut": "a command that has waited long enough",
    "cli/terminal.py escape": "control characters of a terminal",
    "cli/terminal.py show": "a text on the terminal",
    "testing/clusters.py Cluster": "an embedded cluster for a test",
}


def list_public(tree: ast.Module) -> set[str]:
    """The public classes and functions at the top of a module."""
    found = (n.name for n in tree.body if isinstance(n, (*FUNCTIONS, ast.ClassDef)))
    return {name for name in found if not name.startswith("_")}


def test_a_word_of_the_cluster_is_defined_once():
    homes = {word: path for path in WORDS for word in list_public(parse(path))}
    again = {
        f"{path.relative_to(SOURCE)} {word}"
        for path in CODE
        for word in list_public(parse(path)) & set(homes)
        if path != homes[word]
    }
    assert again - set(OTHER_THINGS) == set(), "take these from kohort.cluster"
    assert set(OTHER_THINGS) - again == set(), "these are no longer defined twice"


def test_two_modules_of_the_cluster_have_no_word_in_common():
    held = [(word, name_of(path)) for path in WORDS for word in list_public(parse(path))]
    words = [word for word, _ in held]
    assert [found for found in held if words.count(found[0]) > 1] == []
