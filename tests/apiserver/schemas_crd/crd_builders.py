"""Recorded answers and small definitions for the tests of custom kinds."""

import copy
from pathlib import Path
from typing import Any

import yaml

from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.cluster.fields import FieldError

ABSENT = "<absent>"


def recorded(name: str) -> dict[str, Any]:
    text = (Path(__file__).parent / f"recorded_{name}.yaml").read_text()
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return loaded


def texts(errors: list[FieldError]) -> list[str]:
    return sorted({str(error) for error in errors})


def structural(**properties: Any) -> Structural:
    """A compiled schema whose spec has these properties."""
    spec = {"type": "object", "properties": properties}
    return compile_schema({"type": "object", "properties": {"spec": spec}})


def an_object(spec: Any, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "schema.kohort.dev/v1",
        "kind": "Thing",
        "metadata": {"name": "x"},
        "spec": copy.deepcopy(spec),
        **more,
    }


def definition(**changes: Any) -> dict[str, Any]:
    """A good definition, with changes at paths such as ``spec__group``."""
    built = copy.deepcopy(recorded("definitions")["definition"])
    for path, value in changes.items():
        change(built, path.split("__"), value)
    return built


def change(obj: Any, keys: list[str], value: Any) -> None:
    *way, last = [int(key) if key.isdigit() else key for key in keys]
    for key in way:
        obj = obj[key]
    if value == ABSENT:
        del obj[last]
    else:
        obj[last] = value
