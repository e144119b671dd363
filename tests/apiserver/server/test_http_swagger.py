"""The OpenAPI v2 document over HTTP: older clients, and fallbacks of newer ones, read it."""

from http_server import HttpServer, Reply

PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "lamps.kohort.dev"},
    "spec": {
        "group": "kohort.dev",
        "scope": "Namespaced",
        "names": {"kind": "Lamp", "plural": "lamps"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "colour": {"type": "string", "nullable": True},
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "watts": {"type": "integer", "minimum": 1},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


async def ask(server: HttpServer, **headers: str) -> Reply:
    return await server.ask("GET", "/openapi/v2", Accept_Encoding="identity", **headers)


async def test_one_document_holds_the_definitions_of_all_groups(server: HttpServer):
    found = (await ask(server)).body
    assert found["swagger"] == "2.0"
    assert {"io.k8s.api.core.v1.Pod", "io.k8s.api.apps.v1.StatefulSet"} <= set(found["definitions"])
    pod = found["definitions"]["io.k8s.api.core.v1.Pod"]["properties"]["spec"]
    assert pod["$ref"] == "#/definitions/io.k8s.api.core.v1.PodSpec"
    assert "/openapi/v2" in (await server.ask("GET", "/")).body["paths"]


async def test_the_patch_operation_tells_that_the_server_checks_fields(server: HttpServer):
    paths = (await ask(server)).body["paths"]
    patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {"in": "query", "name": "fieldValidation"}.items() <= patch["parameters"][3].items()
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Deployment"


async def test_quantities_and_ports_are_texts_as_version_two_cannot_say_more(server: HttpServer):
    definitions = (await ask(server)).body["definitions"]
    prefix = "io.k8s.apimachinery.pkg"
    assert definitions[f"{prefix}.api.resource.Quantity"] == {"type": "string"}
    port = definitions[f"{prefix}.util.intstr.IntOrString"]
    assert port == {"type": "string", "format": "int-or-string"}


async def test_a_new_definition_is_in_the_document_and_says_nothing_untrue(server: HttpServer):
    before = await ask(server)
    made = await server.ask(
        "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION
    )
    assert made.code == 201
    after = await ask(server, If_None_Match=before.headers["ETag"])
    lamp = after.body["definitions"]["dev.kohort.v1.Lamp"]["properties"]["spec"]["properties"]
    assert lamp["watts"] == {"type": "integer", "minimum": 1}
    assert lamp["colour"] == {}
    assert lamp["port"] == {"x-kubernetes-int-or-string": True}


async def test_go_clients_get_the_document_as_protobuf(server: HttpServer):
    found = await ask(server, Accept=f"{PROTOBUF}")
    assert found.headers["Content-Type"] == PROTOBUF
    assert found.raw.startswith(b"\x0a\x032.0")  # field 1, three bytes
    assert b"io.k8s.api.apps.v1.StatefulSet" in found.raw
    again = await server.ask(
        "GET", "/openapi/v2", Accept=PROTOBUF, If_None_Match=found.headers["ETag"]
    )
    assert again.code == 304
