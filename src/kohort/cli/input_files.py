"""
This is where objects are read from files that users wrote, or from standard input.

YAML is read as Kubernetes reads it. An object of a kind that Kohort defines is held against its
schema before anything else reads it, so that a misspelt type is answered with its field. Values
that JSON does not have are refused even before that.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kohort.apis.gojson import drop_nulls
from kohort.apis.leaderworkerset.definition import define_leader_worker_set
from kohort.apis.modelserving.definition import define_alias, define_model_serving
from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.cli.exits import Failure
from kohort.cli.json_shape import find_misfit
from kohort.cluster.objects import Object

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
        raise Failure(f"{where} is no YAML: {' '.join(str(error).split())}") from error
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
