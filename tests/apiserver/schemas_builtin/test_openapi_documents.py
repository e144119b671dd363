"""The published documents have what clients look for, under the real names."""

from typing import Any

import pytest

from kohort.apiserver.schemas.builtin import list_kinds, load_shape
from kohort.apiserver.schemas.openapi import (
    Published,
    encode_document,
    name_document,
    write_document,
    write_index,
)
from kohort.cluster.objects import Kind

POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
FOO = Kind("hs.example.io", "v1", "Foo", "foos")
FOO_SCHEMA = {
    "description": "a foo",
    "type": "object",
    "properties": {"spec": {"type": "object", "description": "what is wanted"}},
}


def core() -> dict[str, Any]:
    subresources = ("status", "eviction", "binding", "log")
    return write_document(
        [
            Published(POD, load_shape("v1", "Pod"), subresources=subresources),
            Published(NODE, load_shape("v1", "Node"), subresources=("status",)),
        ]
    )


def custom() -> dict[str, Any]:
    return write_document([Published(FOO, schema=FOO_SCHEMA, subresources=("status", "scale"))])


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("document", [core(), custom()], ids=["core", "custom"])
def test_every_reference_leads_somewhere(document: dict[str, Any]):
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= known


def test_a_patch_tells_that_the_server_checks_fields():
    for document, path in (
        (core(), "/api/v1/namespaces/{namespace}/pods/{name}"),
        (core(), "/api/v1/nodes/{name}"),
        (custom(), "/apis/hs.example.io/v1/namespaces/{namespace}/foos/{name}"),
    ):
        patch = document["paths"][path]["patch"]
        assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
        assert patch["x-kubernetes-group-version-kind"]["kind"] in ("Pod", "Node", "Foo")


def test_definitions_say_which_kind_they_are():
    schemas = core()["components"]["schemas"]
    assert schemas["io.k8s.api.core.v1.Pod"]["x-kubernetes-group-version-kind"] == [
        {"group": "", "kind": "Pod", "version": "v1"}
    ]
    assert "io.k8s.api.core.v1.PodList" in schemas


def test_a_built_in_definition_is_as_a_real_server_publishes_it():
    schemas = core()["components"]["schemas"]
    port = schemas["io.k8s.api.core.v1.ContainerPort"]
    assert port == {
        "type": "object",
        "required": ["containerPort"],
        "properties": {
            "containerPort": {"type": "integer", "format": "int32", "default": 0},
            "hostIP": {"type": "string"},
            "hostPort": {"type": "integer", "format": "int32"},
            "name": {"type": "string"},
            "protocol": {"type": "string", "default": "TCP"},
        },
    }
    limits = schemas["io.k8s.api.core.v1.ResourceRequirements"]["properties"]["limits"]
    quantity = "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"
    assert limits == {"type": "object", "additionalProperties": {"$ref": quantity}}


def test_a_custom_schema_is_published_as_its_author_wrote_it():
    schema = custom()["components"]["schemas"]["io.example.hs.v1.Foo"]
    assert schema["description"] == "a foo"
    assert schema["properties"]["spec"] == FOO_SCHEMA["properties"]["spec"]
    assert set(schema["properties"]) == {"apiVersion", "kind", "metadata", "spec"}
    assert set(custom()["paths"]) == {
        "/apis/hs.example.io/v1/foos",
        "/apis/hs.example.io/v1/namespaces/{namespace}/foos",
        "/apis/hs.example.io/v1/namespaces/{namespace}/foos/{name}",
        "/apis/hs.example.io/v1/namespaces/{namespace}/foos/{name}/scale",
        "/apis/hs.example.io/v1/namespaces/{namespace}/foos/{name}/status",
    }


def test_the_index_leads_to_each_document_by_its_content():
    index = write_index({name_document("", "v1"): "ABC"})
    assert index["paths"]["api/v1"] == {"serverRelativeURL": "/openapi/v3/api/v1?hash=ABC"}
    assert name_document("apps", "v1") == "apis/apps/v1"


def test_every_built_in_kind_can_be_published():
    for api_version, kind, _ in list_kinds():
        group, _, version = api_version.rpartition("/")
        entry = Published(Kind(group, version, kind, "things"), load_shape(api_version, kind))
        assert encode_document(write_document([entry]))
