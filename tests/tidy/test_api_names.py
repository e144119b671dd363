"""
The core knows no API: no name, label or field of one stands in it, and no code branches on one.

What makes an API different is in its value. Names are taken from the values themselves, so an
API that is added is held to the same rule without a change here.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from kohort.apis.served import APIS, KNOWN

SOURCE = Path(__file__).parents[2] / "src" / "kohort"
NEUTRAL = ("model", "planning", "controller", "views", "simulation/checkers")
# Kubernetes' own words, which an API shares with Deployments, StatefulSets and pods.
BUILTIN = (SOURCE / "apiserver" / "schemas" / "data" / "builtin.json").read_text()
# Words that the model had before an API with them: the instances of a role are `RoleInstances`.
OWN = {"roleinstance", "roleinstances"}
# Why a name may stand where it does.
ALLOWED = {
    ("planning/rollout/compatible.py", "leaderworkerset"): "it imitates that controller's rollout",
    ("simulation/checkers/gang_dialects.py", "scheduling.k8s.io/group-name"): "Volcano's own",
    ("simulation/checkers/gang_dialects.py", "networkTopology"): "a field of Volcano's PodGroups",
    ("simulation/checkers/gangs.py", "networkTopology"): "the same",
    ("simulation/checkers/gangs.py", "highestTierAllowed"): "the same",
    (
        "simulation/checkers/lines.py",
        "controller.kubernetes.io/pod-deletion-cost",
    ): "Kubernetes' own, of ReplicaSets",
}


@cache
def list_names() -> set[str]:
    """Every name of every API: short, kind, plural and group."""
    kinds = [api.kind for apis in KNOWN.values() for api in apis]
    built = {part for kind in kinds for part in (kind.name, kind.plural, kind.group)}
    return {name.lower() for name in (*built, *KNOWN)} - OWN


@cache
def list_labels() -> set[str]:
    """Every label, annotation and variable that an API has, and that no other has."""
    places = [p.parent.name for p in (SOURCE / "apis").glob("*/labels.py")]
    modules = [import_module(f"kohort.apis.{place}.labels") for place in places]
    known = [item for module in modules for item in vars(module).items()]
    texts = {v for name, v in known if isinstance(v, str) and not name.startswith("__")}
    return {text for text in texts if "/" in text or re.fullmatch(r"[A-Z]+(_[A-Z]+)+", text)}


@cache
def list_fields() -> set[str]:
    """The fields of specs and statuses that are an API's own words."""
    definitions = [define() for api in APIS for define in api.definitions]
    versions = [version for definition in definitions for version in definition["spec"]["versions"]]
    roots = [version["schema"]["openAPIV3Schema"]["properties"] for version in versions]
    found = {name for root in roots for part in ("spec", "status") for name in walk(root[part])}
    return {name for name in found if name.lower() != name and f'"{name}"' not in BUILTIN}


def walk(schema: dict) -> Iterator[str]:
    """The names of all fields below a schema."""
    for name, inner in (schema.get("properties") or {}).items():
        yield name
        yield from walk(inner)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from walk(inner)


def words_of(path: Path) -> Iterator[str]:
    """All names and words of texts in a file; comments are left out, since they name issues."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.NAME, tokenize.STRING):
            # An issue of another project is named by its number.
            text = re.sub(r"\b\w+#\d+", "", token.string)
            yield from re.findall(r"[A-Za-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text))
            yield from re.findall(r"[A-Za-z][A-Za-z0-9]*", text)


def find_names(path: Path, names: set[str]) -> set[str]:
    """The names of APIs in a file, as words of their own or as parts of longer ones."""
    found = {word.lower() for word in words_of(path)}
    # Two letters stand for too much else, such as milliseconds.
    short = {name for name in names if 2 < len(name) <= 4}
    long = {name for name in names if len(name) > 4 and any(name in word for word in found)}
    text = path.read_text().lower()
    return (short & found) | long | {name for name in names if "." in name and name in text}


FILES = sorted(path for folder in NEUTRAL for path in (SOURCE / folder).rglob("*.py"))


def find_words(path: Path) -> set[tuple[str, str]]:
    """The file with each name, label and field of an API that stands in it."""
    here, text = str(path.relative_to(SOURCE)), path.read_text()
    names = find_names(path, list_names())
    labels = {label for label in list_labels() if f'"{label}"' in text}
    own = list_fields() & set(re.findall(r"\w+", text))
    return {(here, word) for word in names | labels | own}


def test_no_name_label_or_field_of_an_api_stands_in_the_core():
    assert {found for path in FILES for found in find_words(path)} - set(ALLOWED) == set()


def test_every_allowed_name_still_stands_in_its_file():
    texts = {here: (SOURCE / here).read_text() for here, _ in ALLOWED}
    stale = [(here, name) for here, name in ALLOWED if name.lower() not in texts[here].lower()]
    assert not stale


def test_a_name_in_a_text_or_in_an_identifier_is_found_and_an_issue_is_not(tmp_path):
    path = tmp_path / "planted.py"
    for line in (
        'x = "lws-system"',
        "make_lws = 1",
        "x = LeaderWorkerSetSpec",
        '"""Rolls an RBG."""',
    ):
        path.write_text(line)
        assert find_names(path, list_names()), line
    path.write_text('"""A broken unit never holds a rollout up (lws#567)."""')
    assert not find_names(path, list_names())


def find_branches(tree: ast.AST, names: set[str]) -> Iterator[int]:
    """The lines that compare something with the name of an API, or with its value."""
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        for part in (inner for each in parts for inner in ast.walk(each)):
            is_text = isinstance(part, ast.Constant) and str(part.value).lower() in names
            is_value = isinstance(part, ast.Name) and part.id in VALUES
            if is_text or is_value:
                yield node.lineno if isinstance(node, ast.Compare) else part.lineno  # type: ignore[attr-defined]


VALUES = {"LEADER_WORKER_SET"}
OUTSIDE = sorted(p for p in SOURCE.rglob("*.py") if "apis" not in p.relative_to(SOURCE).parts[:1])


def test_no_module_outside_of_apis_branches_on_an_api():
    names = list_names()
    found = {p: list(find_branches(ast.parse(p.read_text()), names)) for p in OUTSIDE}
    assert {str(path.relative_to(SOURCE)): at for path, at in found.items() if at} == {}


def test_a_branch_on_an_api_is_found():
    names = list_names()
    for line in (
        'api.short_name == "lws"',
        'kind in ("LeaderWorkerSet",)',
        "api is LEADER_WORKER_SET",
    ):
        assert list(find_branches(ast.parse(f"if {line}: pass"), names)) == [1]
    assert list(find_branches(ast.parse("match k:\n  case 'rbg': pass"), names)) == [2]
    assert not list(find_branches(ast.parse("if kind == 'Pod': pass"), names))
