"""Kubeconfig files, service accounts, and the credentials they give."""

import base64
import os
import stat
from pathlib import Path

import orjson
import pytest
import yaml
from aiohttp import web
from scripted_server import reply, serving

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.contexts import read_access
from kohort.cluster.http.access.credentials import TokenFile
from kohort.cluster.http.access.kubeconfig import load
from kohort.cluster.http.connection import find_access

NOWHERE = Path("/nowhere")


def write_config(file: Path, user: dict, cluster: dict | None = None, **more: object) -> Path:
    content = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": "https://k:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "n"}}],
        **more,
    }
    file.write_text(yaml.safe_dump(content))
    return file


def write_plugin(folder: Path, status: dict, version: str = "v1") -> dict:
    answer = {"apiVersion": f"client.authentication.k8s.io/{version}", "status": status}
    (folder / "answer.json").write_bytes(orjson.dumps(answer))
    file = folder / "plugin.sh"
    file.write_text(
        f'#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> {folder}/told\ncat {folder}/answer.json\n'
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return {
        "apiVersion": f"client.authentication.k8s.io/{version}",
        "command": "./plugin.sh",
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }


def test_a_context_gives_server_namespace_and_names(tmp_path: Path):
    cluster = {"tls-server-name": "api", "proxy-url": "http://proxy:80"}
    config = load([write_config(tmp_path / "a", {"as": "bob", "as-groups": ["x", "y"]}, cluster)])
    access = read_access(config)
    assert (access.server, access.namespace) == ("https://k:6443", "n")
    assert (access.server_name, access.proxy) == ("api", "http://proxy:80")
    assert access.headers == (
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "x"),
        ("Impersonate-Group", "y"),
    )


def test_of_several_files_the_first_word_counts(tmp_path: Path):
    write_config(tmp_path / "a", {"token": "first"}, contexts=[])
    write_config(tmp_path / "b", {"token": "second"}, **{"current-context": "d"})
    text = os.pathsep.join(str(tmp_path / name) for name in ("a", "missing", "b"))
    access = find_access(None, None, {"KUBECONFIG": text}, NOWHERE)
    assert access.credentials._token == "first"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"token": "t"}, "Bearer t"),
        ({"tokenFile": "token"}, "Bearer from-file"),
        ({"tokenFile": "token", "token": "t"}, "Bearer from-file"),
        ({"username": "a", "password": "b"}, f"Basic {base64.b64encode(b'a:b').decode()}"),
    ],
)
async def test_a_user_proves_himself(tmp_path: Path, user: dict, header: str):
    (tmp_path / "token").write_text("from-file\n")
    access = read_access(load([write_config(tmp_path / "a", user)]))
    assert await access.credentials.headers() == {"Authorization": header}


async def test_a_token_file_is_read_again_each_minute_and_when_refused(tmp_path: Path):
    now = [0.0]
    file = tmp_path / "token"
    file.write_text("one")
    token = TokenFile(file, lambda: now[0])
    assert await token.headers() == {"Authorization": "Bearer one"}
    file.write_text("two")
    assert await token.headers() == {"Authorization": "Bearer one"}
    now[0] = 61.0
    assert await token.headers() == {"Authorization": "Bearer two"}
    assert not await token.renew()
    file.write_text("three")
    assert await token.renew()
    assert await token.headers() == {"Authorization": "Bearer three"}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_plugin_runs_once_until_it_is_refused(tmp_path: Path, version: str):
    plugin = write_plugin(tmp_path, {"token": "t"}, version)
    access = read_access(load([write_config(tmp_path / "a", {"exec": plugin})]))
    for _ in range(3):
        assert await access.credentials.headers() == {"Authorization": "Bearer t"}
    told = (tmp_path / "told").read_text().splitlines()
    assert len(told) == 1
    spec = orjson.loads(told[0])["spec"]
    assert spec == {"interactive": False, "cluster": {"server": "https://k:6443/"}}
    assert await access.credentials.renew()
    assert len((tmp_path / "told").read_text().splitlines()) == 2


async def test_what_a_plugin_gave_is_not_used_when_it_has_expired(tmp_path: Path):
    status = {"token": "t", "expirationTimestamp": "2020-01-01T00:00:00Z"}
    plugin = write_plugin(tmp_path, status)
    access = read_access(load([write_config(tmp_path / "a", {"exec": plugin})]))
    await access.credentials.headers()
    await access.credentials.headers()
    assert len((tmp_path / "told").read_text().splitlines()) == 2


async def test_a_plugin_that_is_missing_says_how_to_install_it(tmp_path: Path):
    plugin = {**write_plugin(tmp_path, {}), "command": "no-such", "installHint": "get it at X"}
    access = read_access(load([write_config(tmp_path / "a", {"exec": plugin})]))
    with pytest.raises(KohortError, match=r"(?s)no-such cannot be started.*get it at X"):
        await access.credentials.headers()


async def test_a_plugin_that_gives_nothing_is_named(tmp_path: Path):
    plugin = write_plugin(tmp_path, {})
    access = read_access(load([write_config(tmp_path / "a", {"exec": plugin})]))
    with pytest.raises(KohortError, match="neither a token nor a certificate"):
        await access.credentials.headers()


def make_token(expires: int) -> str:
    claims = base64.urlsafe_b64encode(orjson.dumps({"exp": expires})).decode().rstrip("=")
    return f"x.{claims}.y"


async def test_an_identity_token_is_refreshed_and_kept(tmp_path: Path):
    fresh = make_token(4_000_000_000)

    async def discover(request: web.Request) -> web.StreamResponse:
        return web.json_response({"token_endpoint": f"http://{request.host}/token"})

    async with serving(discover, reply({"id_token": fresh, "refresh_token": "r2"})) as script:
        config = {
            "idp-issuer-url": script.url,
            "client-id": "me",
            "client-secret": "s",
            "id-token": make_token(1),
            "refresh-token": "r1",
        }
        provider = {"auth-provider": {"name": "oidc", "config": config}}
        file = write_config(tmp_path / "a", provider)
        access = read_access(load([file]))
        assert await access.credentials.headers() == {"Authorization": f"Bearer {fresh}"}
    assert b"refresh_token=r1" in script.bodies[1]
    kept = yaml.safe_load(file.read_text())["users"][0]["user"]["auth-provider"]["config"]
    assert (kept["id-token"], kept["refresh-token"]) == (fresh, "r2")


def write_account(folder: Path) -> Path:
    for name, text in {"token": "t", "ca.crt": "x", "namespace": "here"}.items():
        (folder / name).write_text(text)
    return folder


async def test_in_a_pod_the_service_account_is_used(tmp_path: Path):
    account = write_account(tmp_path)
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    access = find_access(None, None, environment, account)
    assert (access.server, access.namespace) == ("https://[fd00::1]:443", "here")
    assert await access.credentials.headers() == {"Authorization": "Bearer t"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ("a: [", "is no YAML"),
        ("[]", "holds no object"),
        ("{}", "no current context"),
        ("current-context: z", 'no context "z"'),
        ("users: [1]", "a broken entry in users"),
        ("{current-context: c, contexts: [{name: c, context: {cluster: k}}]}", 'cluster "k"'),
    ],
)
def test_a_bad_file_is_explained(tmp_path: Path, content: str | None, message: str):
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    with pytest.raises(KohortError, match=message):
        find_access(file, None, {})


@pytest.mark.parametrize(
    ("user", "cluster", "message"),
    [
        ({"tokenFile": "gone"}, {}, "gone, which does not exist"),
        ({"client-certificate-data": "eA=="}, {}, "without the other"),
        ({"auth-provider": {"name": "gcp"}}, {}, "use an exec plugin"),
        ({"exec": {"apiVersion": "v9"}}, {}, "apiVersion is v9"),
        ({}, {"server": "k:6443"}, "is no http or https URL"),
        ({}, {"proxy-url": "socks5://x"}, "is no http or https URL"),
    ],
)
def test_a_bad_entry_is_explained(tmp_path: Path, user: dict, cluster: dict, message: str):
    with pytest.raises(KohortError, match=message):
        read_access(load([write_config(tmp_path / "a", user, cluster)]))


def test_when_nothing_is_found_the_error_says_where_one_has_looked(tmp_path: Path):
    with pytest.raises(KohortError, match="not inside a cluster"):
        find_access(None, None, {"HOME": str(tmp_path)}, NOWHERE)
    with pytest.raises(KohortError, match="names no file that exists"):
        find_access(None, None, {"KUBECONFIG": "/nowhere/x"}, NOWHERE)
