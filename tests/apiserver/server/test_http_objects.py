"""Objects over HTTP: verbs, forms and refusals."""

import gzip
import logging
from typing import Any

import pytest
import yaml

MAPS = "/api/v1/namespaces/default/configmaps"
NO_METHOD = "the server does not allow this method on the requested resource"
NO_RESOURCE = "the server could not find the requested resource"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


def config_map(name: str = "a", **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


async def test_an_object_lives_through_all_verbs(server):
    made = await server.ask("POST", MAPS, config_map(x="1"))
    assert (made.code, made.body["kind"]) == (201, "ConfigMap")
    changed = {**made.body, "data": {"x": "2"}}
    assert (await server.ask("PUT", f"{MAPS}/a", changed)).body["data"] == {"x": "2"}
    merge = {"Content_Type": "application/merge-patch+json"}
    patched = await server.ask("PATCH", f"{MAPS}/a", {"data": {"y": "3"}}, **merge)
    assert patched.body["data"] == {"x": "2", "y": "3"}
    assert (await server.ask("GET", f"{MAPS}/a")).body == patched.body
    listed = (await server.ask("GET", MAPS)).body
    assert (listed["kind"], len(listed["items"])) == ("ConfigMapList", 1)
    assert (await server.ask("DELETE", f"{MAPS}/a")).body["status"] == "Success"
    assert (await server.ask("GET", f"{MAPS}/a")).code == 404


async def test_the_program_that_writes_owns_the_fields(server):
    made = await server.ask("POST", MAPS, config_map(x="1"))
    assert made.body["metadata"]["managedFields"][0]["manager"] == "tests"


async def test_unknown_fields_are_told_in_warnings(server):
    made = await server.ask("POST", MAPS, {**config_map(), "zz": 1})
    assert made.headers["Warning"] == '299 - "unknown field \\"zz\\""'


async def test_yaml_is_taken_and_given(server):
    text = "metadata: {name: a}\ndata: {when: '2020-01-01'}"
    made = await server.ask("POST", MAPS, text, Content_Type="application/yaml")
    assert made.code == 201
    shown = await server.ask("GET", f"{MAPS}/a", Accept="application/yaml")
    assert yaml.safe_load(shown.raw)["data"] == {"when": "2020-01-01"}
    assert shown.headers["Content-Type"] == "application/yaml"
    missing = await server.ask("GET", f"{MAPS}/b", Accept="application/yaml")
    assert yaml.safe_load(missing.raw)["code"] == 404


async def test_a_list_can_be_a_table(server):
    await server.ask("POST", MAPS, config_map(x="1"))
    table = (await server.ask("GET", MAPS, Accept=TABLE)).body
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    row = table["rows"][0]
    assert row["cells"][:2] == ["a", 1]
    assert row["object"]["kind"] == "PartialObjectMetadata"
    bare = (await server.ask("GET", f"{MAPS}?includeObject=None", Accept=TABLE)).body
    assert bare["rows"][0]["object"] is None
    whole = (await server.ask("GET", f"{MAPS}/a?includeObject=Object", Accept=TABLE)).body
    assert whole["rows"][0]["object"]["data"] == {"x": "1"}


async def test_metadata_can_be_had_alone(server):
    made = await server.ask("POST", MAPS, config_map(x="1"))
    partial = (await server.ask("GET", f"{MAPS}/a", Accept=PARTIAL)).body
    assert partial == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": made.body["metadata"],
    }
    refused = await server.ask("GET", MAPS, Accept=PARTIAL)
    assert "the requested object is a list (*core.ConfigMapList)" in refused.body["message"]
    many = PARTIAL.replace("Metadata;", "MetadataList;")
    assert len((await server.ask("GET", MAPS, Accept=many)).body["items"]) == 1


async def test_pages_are_continued(server):
    for name in "abc":
        await server.ask("POST", MAPS, config_map(name))
    first = (await server.ask("GET", f"{MAPS}?limit=2")).body
    assert first["metadata"]["remainingItemCount"] == 1
    token = first["metadata"]["continue"]
    rest = (await server.ask("GET", f"{MAPS}?limit=2&continue={token}")).body
    assert [item["metadata"]["name"] for item in rest["items"]] == ["c"]


async def test_large_answers_are_compressed_for_those_who_want_it(server):
    await server.ask("POST", MAPS, config_map(x="y" * 200_000))
    packed = await server.ask("GET", MAPS, Accept_Encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    plain = await server.ask("GET", MAPS, Accept_Encoding="identity")
    assert gzip.decompress(packed.raw) == plain.raw


async def test_a_person_gets_an_indented_answer(server):
    shown = await server.ask("GET", MAPS, User_Agent="curl/8.0")
    assert shown.raw.startswith(b'{\n  "kind": "ConfigMapList"')


@pytest.mark.parametrize(
    ("method", "path", "code", "message"),
    [
        ("GET", "/api/v1/nope", 404, NO_RESOURCE),
        ("GET", "/api/v1/pods/x", 404, NO_RESOURCE),
        ("GET", f"{MAPS}/a/status", 404, NO_RESOURCE),
        ("GET", f"{MAPS}/a", 404, 'configmaps "a" not found'),
        ("POST", f"{MAPS}/a", 405, NO_METHOD),
        ("DELETE", "/api/v1/pods", 405, NO_METHOD),
        ("GET", "/api/v1/namespaces/default/pods/x/eviction", 405, NO_METHOD),
        ("GET", f"{MAPS}/%2e%2e", 400, "Name parameter invalid: \"..\": may not be '..'"),
        ("GET", f"{MAPS}?limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
    ],
)
async def test_what_makes_no_sense_is_refused(server, method, path, code, message):
    refused = await server.ask(method, path)
    assert (refused.code, refused.body["code"]) == (code, code)
    assert refused.body["message"] == message
    assert refused.body["kind"] == "Status"


@pytest.mark.parametrize("path", ["/nope", "/apis/nope", "/apis/nope/v1/things", "//api/v1"])
async def test_unknown_paths_are_not_found(server, path):
    missing = await server.ask("GET", path)
    assert (missing.code, missing.raw) == (404, b"404 page not found\n")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer other", "Basic YTpi", "bearer a-token"])
async def test_a_request_without_the_token_is_refused(server, header):
    refused = await server.ask("GET", "/healthz", Authorization=header)
    assert (refused.code, refused.body["message"]) == (401, "Unauthorized")


@pytest.mark.parametrize("size", [3 * 1024 * 1024 + 1, 4_000_000])
async def test_bodies_over_the_limit_are_refused(server, size):
    kind = {"Content_Type": "application/json"}
    refused = await server.ask("POST", MAPS, " " * size, **kind)
    assert refused.code == 413
    assert refused.body["message"] == "Request entity too large: limit is 3145728"
    assert (await server.ask("POST", MAPS, " " * (3 * 1024 * 1024), **kind)).code == 400


async def test_metadata_that_is_no_object_is_a_bad_request(server):
    for metadata in (3, [1], "x"):
        assert (await server.ask("POST", MAPS, {"metadata": metadata})).code == 400
        assert (await server.ask("PUT", f"{MAPS}/a", {"metadata": metadata})).code == 400


async def test_whether_there_is_anything_to_patch_is_asked_first(server):
    merge = {"Content_Type": "application/merge-patch+json"}
    assert (await server.ask("PATCH", f"{MAPS}/a", "{bad", **merge)).code == 404
    await server.ask("POST", MAPS, config_map())
    assert (await server.ask("PATCH", f"{MAPS}/a", "{bad", **merge)).code == 400


async def test_our_own_mistakes_become_a_status_and_one_line_in_the_log(server, caplog):
    def fail(target):
        raise RuntimeError("we forgot something")

    server.api.fetch = fail
    with caplog.at_level(logging.ERROR):
        answer = await server.ask("GET", f"{MAPS}/a")
    assert (answer.code, answer.body["reason"]) == (500, "InternalError")
    assert len(caplog.records) == 1
    assert caplog.records[0].exc_info is not None


async def test_every_answer_can_be_told_apart(server):
    first, second = [await server.ask("GET", MAPS) for _ in range(2)]
    assert first.headers["Audit-Id"] != second.headers["Audit-Id"]
    assert first.headers["Cache-Control"] == "no-cache, private"


@pytest.mark.parametrize("part", ["exec", "attach", "portforward", "proxy/page"])
async def test_what_needs_a_running_container_is_refused_with_the_reason(server, part):
    told = await server.ask("POST", f"/api/v1/namespaces/default/pods/one/{part}")
    assert told.code == 404
    assert told.body["message"].endswith("because nothing runs in a simulated pod")


async def test_special_characters_are_escaped_in_tables_and_for_people(server):
    body = {"metadata": {"name": "m", "annotations": {"k": "a && b > c \u2028"}}}
    await server.ask("POST", MAPS, body)
    escaped = b'"a \\u0026\\u0026 b \\u003e c \\u2028"'
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    for query in ("", "?includeObject=Object"):
        shown = await server.ask("GET", f"{MAPS}/m{query}", Accept=table)
        assert b'"k":' + escaped in shown.raw
    pretty = await server.ask("GET", f"{MAPS}/m?pretty=true")
    assert b'"k": ' + escaped in pretty.raw


async def test_raw_data_is_shown_to_people_as_it_is(server):
    path = "/apis/apps/v1/namespaces/default/controllerrevisions"
    text = '{"metadata":{"name":"r"},"revision":1,"data":{"z":1e3,"a":12345678901234567890123}}'
    made = await server.ask("POST", path, text, Content_Type="application/json")
    assert b'"data":{"z":1e3,"a":12345678901234567890123},"revision":1}\n' in made.raw
    pretty = await server.ask("GET", f"{path}/r?pretty=true")
    assert b'"data": {\n    "z": 1e3,\n    "a": 12345678901234567890123\n  }' in pretty.raw
