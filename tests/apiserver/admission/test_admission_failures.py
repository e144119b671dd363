"""Webhooks that give no usable answer. The texts were recorded from a real server."""

from base64 import b64encode
from typing import Any

import orjson
import pytest
from admission_world import Hooks, World, answer, config_map, patching, webhook

from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object

INVALID = "received invalid webhook response: "
UNDECODABLE = "received undecodable patch in webhook response: "
CALL = "failed to call webhook: "


async def ask(reply: Any, kind: str = "Mutating", **changes: Any) -> Object:
    """Create an object under the eyes of one webhook."""
    world = await World(caller=Hooks(x=lambda request: reply)).start()
    await world.configure(webhook("x", **changes), kind=kind)
    body = {**config_map(), "metadata": {"name": "a", "finalizers": ["example.com/f"]}}
    return await world.create(body)


async def complaint(reply: Any, kind: str = "Mutating", **changes: Any) -> str:
    with pytest.raises(ClusterError) as caught:
        await ask(reply, kind, **changes)
    error = caught.value
    assert (error.code, error.reason) == (500, "InternalError")
    message = error.message.removeprefix("Internal error occurred: ")
    assert error.details == {"causes": [{"message": message}]}
    return message


def raw(**body: Any) -> bytes:
    return orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", **body})


def encoded(text: bytes) -> Object:
    return {"patchType": "JSONPatch", "patch": b64encode(text).decode()}


ADD = b'[{"op":"add","path":"/x","value":1}]'
HEAD = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of "
    'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
BROKEN: list[tuple[Any, str]] = [
    (raw(), INVALID + "webhook response was absent"),
    (b"null", INVALID + "webhook response was absent"),
    (b"[1]", CALL + HEAD),
    (
        {"allowed": "yes"},
        CALL + "json: cannot unmarshal string into Go struct field "
        "AdmissionResponse.response.allowed of type bool",
    ),
    (
        {"patch": b64encode(ADD).decode()},
        INVALID + "webhook returned response.patch but not response.patchType",
    ),
    (
        {"patchType": "JSONPatch"},
        INVALID + "webhook returned response.patchType but not response.patch",
    ),
    (
        {**encoded(ADD), "patchType": ""},
        INVALID + 'webhook returned invalid response.patchType of ""',
    ),
    ({**encoded(ADD), "patchType": "Merge"}, 'unsupported patch type "Merge"'),
    (
        {"patchType": "JSONPatch", "patch": "***"},
        CALL + "illegal base64 data at input byte 0",
    ),
    (
        encoded(b'{"a":1}'),
        UNDECODABLE + "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    ),
    (
        encoded(b"[1]"),
        UNDECODABLE + "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
    ),
]


@pytest.mark.parametrize(("reply", "text"), BROKEN)
async def test_a_broken_answer_is_named(reply: Any, text: str):
    assert await complaint(reply) == f'failed calling webhook "x.example.com": {text}'
    await ask(reply, failurePolicy="Ignore")


@pytest.mark.parametrize("reply", [b"{not json", b"<html>", encoded(b"{oops")])
async def test_an_answer_that_is_no_json_is_named(reply: Any):
    assert 'failed calling webhook "x.example.com": ' in await complaint(reply)


async def test_an_answer_to_another_question_is_refused():
    reply = raw(response={"uid": "nope", "allowed": True})
    text = await complaint(reply)
    assert INVALID + 'expected response.uid="' in text
    assert text.endswith('", got "nope"')


async def test_an_answer_of_another_kind_is_refused():
    def reply(request: Object) -> bytes:
        return orjson.dumps({"response": {"uid": request["uid"], "allowed": True}})

    world = await World(caller=Hooks(x=reply)).start()
    await world.configure(webhook("x"))
    with pytest.raises(ClusterError) as caught:
        await world.create(config_map())
    expected = (
        "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="
    )
    assert caught.value.message.endswith(INVALID + expected)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (encoded(ADD), "validating webhook may not return response.patch"),
        ({"patchType": "JSONPatch"}, "validating webhook may not return response.patchType"),
    ],
)
async def test_a_judge_may_not_change_anything(reply: Object, text: str):
    expected = f'failed calling webhook "x.example.com": {INVALID}{text}'
    assert await complaint(reply, "Validating") == expected


PATCHES: list[tuple[Object, str]] = [
    (
        {"op": "remove", "path": "/metadata/nothing"},
        "error in remove for path: '/metadata/nothing': "
        "Unable to remove nonexistent key: nothing: missing value",
    ),
    (
        {"op": "remove", "path": "/metadata/annotations/x"},
        'remove operation does not apply: doc is missing path: "/metadata/annotations/x": '
        "missing value",
    ),
    (
        {"op": "remove", "path": "/metadata/finalizers/3"},
        "error in remove for path: '/metadata/finalizers/3': "
        "Unable to access invalid index: 3: invalid index referenced",
    ),
    (
        {"op": "add", "path": "/metadata/finalizers/9", "value": "a/b"},
        "error in add for path: '/metadata/finalizers/9': "
        "Unable to access invalid index: 9: invalid index referenced",
    ),
    (
        {"op": "add", "path": "/metadata/finalizers/x", "value": "a/b"},
        "error in add for path: '/metadata/finalizers/x': value was not a proper array index: 'x': "
        'strconv.Atoi: parsing "x": invalid syntax',
    ),
    (
        {"op": "add", "path": "/data/a/b", "value": "x"},
        'add operation does not apply: doc is missing path: "/data/a/b": missing value',
    ),
    (
        {"op": "add", "path": "metadata", "value": "x"},
        'add operation does not apply: doc is missing path: "metadata": missing value',
    ),
    ({"op": "add", "value": "x"}, "add operation failed to decode path: missing value"),
    (
        {"op": "replace", "path": "/metadata/annotations/x", "value": "y"},
        "replace operation does not apply: doc is missing path: /metadata/annotations/x: "
        "missing value",
    ),
    (
        {"op": "replace", "path": "/metadata/finalizers/9", "value": "y"},
        "replace operation does not apply: doc is missing key: /metadata/finalizers/9: "
        "missing value",
    ),
    (
        {"op": "move", "from": "/metadata/nokey", "path": "/metadata/annotations"},
        "error in move for path: 'nokey': Unable to remove nonexistent key: nokey: missing value",
    ),
    (
        {"op": "copy", "from": "/nope/nokey", "path": "/metadata/annotations"},
        "copy operation does not apply: doc is missing from path: /nope/nokey: missing value",
    ),
    (
        {"op": "test", "path": "/metadata/name", "value": "other"},
        "testing value /metadata/name failed: test failed",
    ),
    (
        {"op": "test", "path": "/metadata/annotations/x", "value": "x"},
        "test operation does not apply: is missing path: /metadata/annotations/x: missing value",
    ),
    ({"op": "frob", "path": "/metadata/name"}, "Unexpected kind: frob"),
]


@pytest.mark.parametrize(("operation", "text"), PATCHES)
async def test_a_patch_that_does_not_apply_is_explained(operation: Object, text: str):
    first = {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}
    # Ignoring failures does not cover patches that do not apply.
    assert await complaint(patching(first, operation), failurePolicy="Ignore") == text


@pytest.mark.parametrize("patch", [b"[]", b"null"])
async def test_an_empty_patch_changes_nothing(patch: bytes):
    assert (await ask(encoded(patch)))["data"] == {"x": "y"}


async def test_unknown_fields_are_dropped():
    assert "x" not in await ask(encoded(ADD))


async def test_a_service_cannot_be_reached_without_a_resolver():
    service = {"service": {"namespace": "lab", "name": "hook", "path": "/x"}}
    text = await complaint({}, clientConfig=service)
    place = 'failed to call webhook: Post "https://hook.lab.svc:443/x?timeout=10s": '
    assert place + 'service "hook" in namespace "lab" has nothing behind it' in text


async def test_dry_runs_do_not_reach_webhooks_with_side_effects():
    hooks = Hooks(x=lambda request: {})
    world = World(caller=hooks)
    await world.start()
    # Today's API refuses such a configuration; a store may still hold an old one.
    bucket = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
    body = {"metadata": {"name": "old"}, "webhooks": [webhook("x", sideEffects="Unknown")]}
    world.store.put(bucket, ("", "old"), body, {})
    with pytest.raises(ClusterError) as caught:
        await world.create(config_map(), dry_run=True)
    said = 'admission webhook "x.example.com" does not support dry run'
    assert (caught.value.code, caught.value.message) == (400, said)
    await world.create(config_map())
    assert len(hooks.requests) == 1


def test_answers_of_the_test_are_answers_of_a_webhook():
    assert orjson.loads(answer({"uid": "u"}, {}))["response"] == {"uid": "u", "allowed": True}


@pytest.mark.parametrize(
    ("field", "value", "given", "wanted"),
    [
        ("code", "x", "string", "int32"),
        ("code", [], "array", "int32"),
        ("message", 1, "number", "string"),
        ("reason", {}, "object", "string"),
    ],
)
async def test_a_status_in_a_wrong_form_is_no_answer(field, value, given, wanted):
    said = await complaint({"allowed": False, "status": {field: value}})
    place = f"Go struct field Status.response.status.{field} of type {wanted}"
    assert f"json: cannot unmarshal {given} into {place}" in said


@pytest.mark.parametrize(("code", "shown"), [(200, 400), (403, 403), (10**9, 500), (-1, 400)])
async def test_a_refusal_has_a_code_that_http_knows(code, shown):
    with pytest.raises(ClusterError) as caught:
        await ask({"allowed": False, "status": {"code": code}})
    assert caught.value.code == shown


@pytest.mark.parametrize(
    ("field", "value"), [("kind", "Secret"), ("apiVersion", "apps/v1"), ("kind", 1)]
)
async def test_a_webhook_cannot_make_another_kind_of_an_object(field, value):
    patch = orjson.dumps([{"op": "replace", "path": f"/{field}", "value": value}])
    with pytest.raises(ClusterError) as caught:
        await ask({"allowed": True, **encoded(patch)})
    error = caught.value
    assert (error.code, error.reason) == (422, "Invalid")
    assert f"{field}: Invalid value" in error.message


async def test_an_answer_nested_too_deep_is_none():
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    assert "exceeded max depth" in await complaint(deep)
    nested = b'[{"op":"add","path":"/data","value":' + deep + b"}]"
    assert "exceeded max depth" in await complaint({"allowed": True, **encoded(nested)})
