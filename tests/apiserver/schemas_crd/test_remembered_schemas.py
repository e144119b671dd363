"""Schemas are judged and compiled once; what was wrong is judged again, and little is kept."""

from kohort.apiserver.schemas.definition.versions import find_version_errors
from kohort.apiserver.schemas.result_cache import ResultCache, hash_schema
from kohort.apiserver.schemas.structural.schema import compile_schema


def version(kind: str) -> dict:
    properties = {"spec": {"type": kind}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {"name": "v1", "served": True, "storage": True, "schema": schema}


def judge(kind: str) -> list[str]:
    return [str(error) for error in find_version_errors({"versions": [version(kind)]})]


def test_a_fault_is_told_each_time_and_never_remembered_as_none():
    assert judge("object") == judge("object") == []
    assert judge("thing") and judge("thing") == judge("thing")


def test_the_same_schema_is_compiled_once():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert compile_schema(schema) is compile_schema(dict(schema))
    assert compile_schema(schema) is not compile_schema({"type": "object"})


def test_the_oldest_is_forgotten():
    held: ResultCache[int, str] = ResultCache(2)
    for number in range(3):
        held.remember(number, "x")
    assert [number in held for number in range(3)] == [False, True, True]


def test_what_cannot_be_written_is_not_remembered():
    assert hash_schema({"maximum": 10**30}) == b""
