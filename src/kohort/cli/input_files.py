"""
This is where objects are read from files that users wrote, or from standard input.

YAML is read as Kubernetes reads it. An object of a kind that Kohort defines is held against its
schema before anything else reads it, so that a misspelt type is answered with its field.

YAML has keys that are no texts, dates, sets, bytes, numbers of any size, and aliases by which a
value holds itself. An API server gets JSON, and so does everything behind the reader of a file:
what JSON cannot say is refused even before the schema is asked, with its field.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from kohort.apis.definitions.shapes import DEPTH_MAX
from kohort.apis.gojson import drop_nulls
from kohort.apis.leaderworkerset.definition import define_leader_worker_set
from kohort.apis.modelserving.definition import define_alias, define_model_serving
from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.cli.exits import Failure
from kohort.cluster.objects import Object
from kohort.cluster.yaml_faults import describe_yaml_fault

_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1
_VALUES_MAX = 1_000_000
_SHOWN_MAX = 40


class Misfit(NamedTuple):
    """A value that JSON cannot say."""

    field: str  # such as spec.roles[0].name; empty: the document itself
    message: str


def find_misfit(document: Any) -> Misfit | None:
    """The first value of a document that JSON cannot say; nothing if there is none."""
    walk = _Walk()
    found = next(walk.find(document, ""), None)
    if found is None and walk.sizes.get(id(document), 0) > _VALUES_MAX:
        return Misfit("", f"its aliases stand for more than {_VALUES_MAX} values")
    return found


@dataclass(slots=True)
class _Walk:
    """Each mapping and list is looked at once, however many aliases it has."""

    sizes: dict[int, int] = field(default_factory=dict)  # by identity, aliases written out
    above: set[int] = field(default_factory=set)

    def find(self, value: Any, path: str) -> Iterator[Misfit]:
        if not isinstance(value, dict | list):
            if message := _check_leaf(value):
                yield Misfit(path, message)
            return
        if id(value) in self.above:
            yield Misfit(path, "it holds itself by an alias")
            return
        if len(self.above) >= DEPTH_MAX:
            yield Misfit("", f"it is nested more than {DEPTH_MAX} levels deep")
            return
        if id(value) in self.sizes:
            return
        self.above.add(id(value))
        for step, inner in _list_inner(value):
            if isinstance(value, dict) and not isinstance(step, str):
                yield Misfit(path, f"its key {_show(step)} is no text: put it in quotes")
                return
            yield from self.find(inner, _join(path, step))
        self.above.discard(id(value))
        inside = (self.sizes.get(id(inner), 1) for _, inner in _list_inner(value))
        self.sizes[id(value)] = 1 + sum(inside)


def _list_inner(value: Any) -> Iterator[tuple[Any, Any]]:
    yield from value.items() if isinstance(value, dict) else enumerate(value)


def _join(path: str, step: str | int) -> str:
    return f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}".removeprefix(".")


def _check_leaf(value: Any) -> str:
    if value is None or isinstance(value, str | bool):
        return ""
    if isinstance(value, int):
        is_held = _INT_MIN <= value <= _INT_MAX
        return "" if is_held else "a whole number has 64 bits at most: put it in quotes"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is no number of JSON"
    return f"it is of type {type(value).__name__}, which JSON does not have"


def _show(key: object) -> str:
    if isinstance(key, bool):
        return f"{str(key).lower()} (YAML reads on, off, yes and no so)"
    text = repr(key)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"


STDIN = "-"
_DEFINE = (define_leader_worker_set, define_model_serving, define_alias)
_TEXTS = ("name", "generateName", "namespace")
_MAPS = ("labels", "annotations")
_SHOWN = 5  # faults of one object
# Errors of the loader; the last four for a tag that its value does not fit, such as !!bool x.
YAML_ERRORS = (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError)


class Loader(yaml.CSafeLoader):
    """Reads YAML as Kubernetes does: a date is a text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def read_objects(name: str) -> Iterator[Object]:
    """The objects of a file, those of a List one by one; raises Failure."""
    where = name_source(name)
    for number, document in enumerate(_read_documents(name, where), 1):
        if misfit := find_misfit(document):
            head = f"{misfit.field}: " if misfit.field else ""
            raise Failure(f"{where}, document {number}: {head}{misfit.message}")
        items = document.get("items") if isinstance(document, dict) else None
        if isinstance(items, list) and str(document.get("kind")).endswith("List"):
            yield from (_check(item, where) for item in items)
        elif document is not None:
            yield _check(document, where)


def read_text(name: str) -> str:
    """The text of a file, or of standard input; raises Failure."""
    try:
        return sys.stdin.read() if name == STDIN else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Failure(f"{name_source(name)} is no text in UTF-8: {error.reason}") from error


def name_source(name: str) -> str:
    """How people call what is read."""
    return "standard input" if name == STDIN else name


def _read_documents(name: str, where: str) -> list[Any]:
    try:
        return list(yaml.load_all(read_text(name), Loader=Loader))
    except YAML_ERRORS as error:
        raise Failure(f"{where} is no YAML: {describe_yaml_fault(error)}") from error
    except RecursionError as error:
        raise Failure(f"{where} is nested too deep to be read") from error


def _check(obj: Any, where: str) -> Object:
    if not isinstance(obj, dict) or not isinstance(obj.get("kind"), str):
        raise Failure(f"{where} holds a document that is no object of Kubernetes: no kind")
    metadata = obj.get("metadata")
    faults = list(find_metadata_faults(metadata))
    schema = _load_schemas().get((str(obj.get("apiVersion")), obj["kind"]))
    if schema is not None and not faults:
        faults = [str(error) for error in schema.validate(drop_nulls(obj))]
    if faults:
        shown = "; ".join(faults[:_SHOWN])
        name = metadata.get("name", "") if isinstance(metadata, dict) else ""
        raise Failure(f"{where}: {obj['kind']} {name} is wrong: {shown}")
    return obj


def find_metadata_faults(metadata: Any) -> Iterator[str]:
    """What is wrong with the types of an object's metadata; a null counts as absent."""
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        yield "metadata must be a mapping"
        return
    for key in _TEXTS:
        if not isinstance(metadata.get(key), str | None):
            yield f"metadata.{key} must be a text"
    for key in _MAPS:
        found = metadata.get(key)
        if found is None:
            continue
        is_map = isinstance(found, dict)
        if not is_map or not all(isinstance(text, str) for pair in found.items() for text in pair):
            yield f"metadata.{key} must map texts to texts"


@cache
def _load_schemas() -> dict[tuple[str, str], Structural]:
    """By apiVersion and kind."""
    found = {}
    for define in _DEFINE:
        spec = define()["spec"]
        for version in spec["versions"]:
            schema = compile_schema(version["schema"]["openAPIV3Schema"])
            found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema
    return found
