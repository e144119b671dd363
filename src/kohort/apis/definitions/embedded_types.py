"""
The schemas of built-in types that a workload embeds: pod templates and volume claims.

``data/pods.json`` is made by ``tools/pod_types.py`` and never edited. A structural
schema has no references, so each type is written out wherever it is used. Every call
returns a fresh schema, which the caller may change.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from kohort.cluster.objects import Object

POD_TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
POD_SPEC = "io.k8s.api.core.v1.PodSpec"
METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
VOLUME_CLAIM = "io.k8s.api.core.v1.PersistentVolumeClaim"


def embed_type(name: str) -> Object:
    """The schema of a built-in type, with the schemas of all its fields."""
    schema: Object = orjson.loads(_write(name))  # a fresh copy, faster than any other
    return schema


def list_types() -> list[str]:
    """The names of all built-in types that a workload may embed."""
    return list(_table())


@cache
def _write(name: str) -> bytes:
    return orjson.dumps(_expand(_table()[name]))


def _expand(entry: Object) -> Object:
    if "ref" in entry:
        return {**embed_type(entry["ref"]), **_without_ref(entry)}
    schema = {word: _copy(value) for word, value in entry.items()}
    if "properties" in entry:
        schema["properties"] = {name: _expand(inner) for name, inner in entry["properties"].items()}
    for word in ("items", "additionalProperties"):
        if word in entry:
            schema[word] = _expand(entry[word])
    return schema


def _without_ref(entry: Object) -> Object:
    return {word: _copy(value) for word, value in entry.items() if word != "ref"}


def _copy(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


@cache
def _table() -> Any:
    source = files("kohort.apis.definitions") / "data" / "pods.json"
    return orjson.loads(source.read_bytes())
