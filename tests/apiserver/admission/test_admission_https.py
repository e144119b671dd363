"""Webhooks over real HTTPS on loopback: trust, names, time, and everything that breaks."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from admission_world import (
    HookServer,
    World,
    bundle,
    config_map,
    patching,
    server_context,
    webhook,
)
from aiohttp import web

from kohort.apiserver.admission.caller import CallError, HttpsCaller
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = await World().start()
    yield world
    await world.webhooks.close()


async def label(request: Object, http: web.BaseRequest) -> Object:
    return patching({"op": "add", "path": "/metadata/labels", "value": {"hooked": "yes"}})


async def allow(request: Object, http: web.BaseRequest) -> Object:
    return {}


async def complaint(world: World, config: Object, **changes: Any) -> str:
    await world.configure(webhook("x", **config, **changes))
    with pytest.raises(ClusterError) as caught:
        await world.create(config_map())
    assert caught.value.code == 500
    start = (
        'Internal error occurred: failed calling webhook "x.example.com": failed to call webhook: '
    )
    assert caught.value.message.startswith(start)
    return caught.value.message.removeprefix(start)


async def test_an_object_is_changed_over_https(world: World):
    async with HookServer(server_context("127.0.0.1"), label=label) as server:
        await world.configure(webhook("x", **server.at("label")))
        made = await world.create(config_map())
        assert made["metadata"]["labels"] == {"hooked": "yes"}


async def test_the_request_looks_like_one_of_a_real_server(world: World):
    seen: list[web.BaseRequest] = []

    async def see(request: Object, http: web.BaseRequest) -> Object:
        seen.append(http)
        return {}

    async with HookServer(server_context("127.0.0.1"), see=see) as server:
        await world.configure(webhook("x", **server.at("see"), timeoutSeconds=7))
        await world.create(config_map())
    assert (seen[0].method, seen[0].path_qs) == ("POST", "/see?timeout=7s")
    assert seen[0].headers["Content-Type"] == "application/json"
    assert seen[0].headers["User-Agent"] == "kube-apiserver-admission"


async def test_connections_are_kept_for_the_next_write(world: World):
    async with HookServer(server_context("127.0.0.1"), allow=allow) as server:
        await world.configure(webhook("x", **server.at("allow")))
        for number in range(5):
            await world.create(config_map(f"cm-{number}"))
        assert len(server.connections) == 1


async def test_a_service_is_resolved_and_must_carry_its_name():
    async with HookServer(server_context("hook.lab.svc"), allow=allow, label=label) as server:
        world = World(resolve=lambda namespace, name, port: f"https://127.0.0.1:{server.port}")
        await world.start()
        service = {"namespace": "lab", "name": "hook", "path": "/label"}
        config = {"clientConfig": {"service": service, "caBundle": bundle()}}
        await world.configure(webhook("x", **config))
        made = await world.create(config_map())
        assert made["metadata"]["labels"] == {"hooked": "yes"}
        service["name"] = "other"
        await world.configure(webhook("y", **config), name="other")
        with pytest.raises(
            ClusterError, match=r'Post "https://other.lab.svc:443/.* for other.lab.svc$'
        ):
            await world.create(config_map("b"))
        await world.webhooks.close()


async def test_a_webhook_that_is_down_is_named(world: World):
    async with HookServer(None, allow=allow) as server:
        port, config = server.port, server.at("allow")
    assert await complaint(world, config) == (
        f'Post "https://127.0.0.1:{port}/allow?timeout=10s": '
        f"dial tcp 127.0.0.1:{port}: connect: connection refused"
    )


async def test_a_webhook_that_is_down_may_be_passed_over(world: World):
    async with HookServer(None, allow=allow) as server:
        config = server.at("allow")
    await world.configure(webhook("x", **config, failurePolicy="Ignore"))
    await world.create(config_map())


async def test_a_slow_webhook_meets_its_deadline(world: World):
    released = asyncio.Event()

    async def wait(request: Object, http: web.BaseRequest) -> Object:
        await released.wait()
        return {}

    async with HookServer(server_context("127.0.0.1"), slow=wait) as server:
        text = await complaint(world, server.at("slow"), timeoutSeconds=1)
        place = f'Post "https://127.0.0.1:{server.port}/slow?timeout=1s": '
        assert text == place + "context deadline exceeded"
        released.set()


async def test_another_authority_is_not_trusted(world: World):
    async with HookServer(server_context("127.0.0.1"), allow=allow) as server:
        text = await complaint(world, server.at("allow", bundle("stranger")))
        assert text.endswith(
            "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        )


async def test_no_authority_means_those_of_the_system(world: World):
    async with HookServer(server_context("127.0.0.1"), allow=allow) as server:
        config = {"clientConfig": {"url": server.at("allow")["clientConfig"]["url"]}}
        assert (await complaint(world, config)).endswith("signed by unknown authority")


async def test_a_certificate_for_another_name_is_refused(world: World):
    async with HookServer(server_context("example.com"), allow=allow) as server:
        text = await complaint(world, server.at("allow"))
        start = "tls: failed to verify certificate: x509: "
        assert text.endswith(start + "certificate is not valid for 127.0.0.1")


async def test_a_server_without_tls_is_named(world: World):
    async with HookServer(None, allow=allow) as server:
        text = await complaint(world, server.at("allow"))
        assert text.endswith("tls: first record does not look like a TLS handshake")


async def test_a_dropped_connection_is_named(world: World):
    async def drop(request: Object, http: web.BaseRequest) -> Object:
        assert http.transport is not None
        http.transport.close()
        return {}

    async with HookServer(server_context("127.0.0.1"), drop=drop) as server:
        assert (await complaint(world, server.at("drop"))).endswith('?timeout=10s": EOF')


SERVER = "an error on the server ({}) has prevented the request from succeeding"


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (500, "boom", SERVER.format('"boom"')),
        (502, "", SERVER.format('""')),
        (503, "x", "the server is currently unable to handle the request"),
        (400, "x", "the server rejected our request for an unknown reason"),
        (403, "nope", "nope"),
        (404, "x", "the server could not find the requested resource"),
        (
            418,
            "x",
            "the server responded with the status code 418 but did not return more information",
        ),
        (
            200,
            "",
            "0-length response with status code: 200 and content type: text/plain; charset=utf-8",
        ),
    ],
)
async def test_an_answer_without_a_review_is_named(world: World, status: int, body: str, text: str):
    async def reply(request: Object, http: web.BaseRequest) -> web.Response:
        return web.Response(status=status, text=body)

    async with HookServer(server_context("127.0.0.1"), x=reply) as server:
        assert await complaint(world, server.at("x")) == text


async def test_the_message_of_a_status_is_passed_on(world: World):
    async def reply(request: Object, http: web.BaseRequest) -> web.Response:
        return web.json_response({"kind": "Status", "message": "inner message"}, status=500)

    async with HookServer(server_context("127.0.0.1"), x=reply) as server:
        assert await complaint(world, server.at("x")) == "inner message"


async def test_judges_are_asked_at_the_same_time(world: World):
    arrived = asyncio.Barrier(2)

    async def meet(request: Object, http: web.BaseRequest) -> Object:
        await arrived.wait()
        return {}

    async with HookServer(server_context("127.0.0.1"), meet=meet) as server:
        both = [webhook(name, **server.at("meet")) for name in ("a", "b")]
        await world.configure(*both, kind="Validating")
        await world.create(config_map())


async def test_a_bundle_that_is_no_certificate_is_named():
    caller = HttpsCaller()
    with pytest.raises(CallError, match="unable to load root certificates"):
        await caller("https://127.0.0.1:1/x", b"", b"no certificate", "", 1)
    await caller.close()
