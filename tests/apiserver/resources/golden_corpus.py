"""
The corpus: manifests in YAML, and beside them what a real API server said of them.

A text such as ``x*300`` stands for that many letters, in keys too.
"""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from kohort.apiserver.resources.builtin import KINDS
from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.schemas.builtin import load_shape
from kohort.apiserver.schemas.strict import read_object

GOLDEN = Path(__file__).parent / "golden"
NAMESPACE = "kohort-golden"

_REPEATED = re.compile(r"([a-z])\*(\d+)\Z")
# By group and plural; of a kind in two versions, that of the version in which it is stored.
BEHAVIOURS = {
    row.kind.group_resource: row.behaviour
    for row in KINDS
    if row.storage != row.kind.group_resource
}


def load_accepted() -> dict[str, Any]:
    """The manifests that a server takes, by apiVersion, kind and name."""
    objects = yaml.safe_load_all((GOLDEN / "accepted.yaml").read_text())
    return {key_of(obj): obj for obj in objects}


def load_refused() -> dict[str, Any]:
    """The cases that a server refuses: an object, and perhaps a change of it."""
    found: dict[str, Any] = _expand(yaml.safe_load((GOLDEN / "refused.yaml").read_text()))
    return found


def load_answers(name: str) -> dict[str, Any]:
    """What was recorded of a corpus."""
    answers: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text())
    return answers


def key_of(obj: dict[str, Any]) -> str:
    """How an object is named in the corpus."""
    return f"{obj['apiVersion']} {obj['kind']} {obj['metadata']['name']}"


def read(obj: dict[str, Any]) -> dict[str, Any]:
    """The object as the server reads it from a request into a namespace of its own."""
    row = row_of(obj)
    made, unknown = read_object(copy_of(obj), load_shape(row.kind.api_version, row.kind.name))
    assert not unknown
    if row.kind.namespaced:
        made["metadata"]["namespace"] = NAMESPACE
    return made


def row_of(obj: dict[str, Any]) -> BuiltinKind:
    """The row of the object's kind."""
    key = (obj["apiVersion"], obj["kind"])
    return next(row for row in KINDS if (row.kind.api_version, row.kind.name) == key)


def copy_of(obj: dict[str, Any]) -> dict[str, Any]:
    """A copy that shares nothing with the object."""
    made: dict[str, Any] = json.loads(json.dumps(obj))
    return made


def _expand(value: Any) -> Any:
    if isinstance(value, dict):
        return {_expand(key): _expand(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_expand(inner) for inner in value]
    match = _REPEATED.match(value) if isinstance(value, str) else None
    return match[1] * int(match[2]) if match else value
