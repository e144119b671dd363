"""Documents over HTTP: version, health, discovery and schemas."""

import pytest
from http_server import HttpServer, make_api, start_http_server

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def test_the_version_can_be_parsed_by_clients(server: HttpServer):
    version = (await server.ask("GET", "/version")).body
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")
    assert (await server.ask("POST", "/version")).code == 405


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
async def test_a_healthy_server_says_ok(server: HttpServer, path: str):
    assert (await server.ask("GET", path)).raw == b"ok"


async def test_health_can_be_told_at_length(server: HttpServer):
    told = (await server.ask("GET", "/readyz?verbose")).raw.decode()
    assert told.startswith("[+]ping ok\n")
    assert told.endswith("readyz check passed\n")
    assert (await server.ask("GET", "/healthz/nope")).code == 404


async def test_a_server_that_is_not_ready_is_still_alive():
    server = await start_http_server(make_api(), is_ready=lambda: False)
    assert (await server.ask("GET", "/livez")).code == 200
    assert (await server.ask("GET", "/readyz")).code == 500
    await server.session.close()
    await server.server.stop()


async def test_discovery_comes_in_one_document_for_those_who_ask(server: HttpServer):
    found = await server.ask("GET", "/apis", Accept=f"{DISCOVERY},application/json")
    assert found.body["kind"] == "APIGroupDiscoveryList"
    assert found.headers["Content-Type"] == DISCOVERY
    again = await server.ask("GET", "/apis", Accept=DISCOVERY, If_None_Match=found.headers["ETag"])
    assert (again.code, again.raw) == (304, b"")


async def test_discovery_comes_in_parts_for_others(server: HttpServer):
    assert (await server.ask("GET", "/api")).body["versions"] == ["v1"]
    assert (await server.ask("GET", "/apis")).body["kind"] == "APIGroupList"
    assert (await server.ask("GET", "/apis/apps")).body["preferredVersion"]["version"] == "v1"
    assert (await server.ask("GET", "/apis/apps/v1/")).body["groupVersion"] == "apps/v1"
    assert (await server.ask("GET", "/api/v2")).body["reason"] == "NotFound"
    assert "/apis/apps/v1" in (await server.ask("GET", "/")).body["paths"]


async def test_schemas_are_published_under_their_digest(server: HttpServer):
    index = (await server.ask("GET", "/openapi/v3")).body["paths"]
    address = index["apis/apps/v1"]["serverRelativeURL"]
    document = await server.ask("GET", address, Accept_Encoding="identity")
    assert "io.k8s.api.apps.v1.Deployment" in document.body["components"]["schemas"]
    tag = document.headers["ETag"]
    assert (await server.ask("GET", address, If_None_Match=tag)).code == 304
    moved = await server.ask("GET", "/openapi/v3/apis/apps/v1?hash=old")
    assert (moved.code, moved.headers["Location"]) == (301, address)
    assert (await server.ask("GET", "/openapi/v3/nope")).code == 404
