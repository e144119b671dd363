"""
Credentials from a program that the kubeconfig names (``client.authentication.k8s.io``).

The program runs when it is first needed, again when its credentials expire, and
once more when the server does not accept them; never twice at the same time. It gets
a description of the cluster only if the kubeconfig sets ``provideClusterInfo``.
"""

import asyncio
import os
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import orjson

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.credentials import bearer
from kohort.cluster.http.access.tls import Pair
from kohort.cluster.objects import Object

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
RUN_SECONDS_MAX = 60.0
_EARLY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Plugin:
    """The settings of the program in the kubeconfig."""

    version: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    cluster: Object | None = None  # the cluster's description, if ``provideClusterInfo`` is true
    mode: str = "IfAvailable"
    hint: str = ""


def read_plugin(content: Object, folder: Path, cluster: Object) -> Plugin:
    """The plugin from a user's ``exec`` section; relative commands start at its file."""
    version = content.get("apiVersion", "")
    if version not in VERSIONS:
        wanted = " or ".join(VERSIONS)
        raise KohortError(f"exec plugin: apiVersion is {version or 'missing'}, must be {wanted}")
    command = content.get("command") or ""
    if not command:
        raise KohortError("exec plugin: no command is given")
    if os.sep in command and not os.path.isabs(command):
        command = str(folder / command)
    return Plugin(
        version,
        command,
        tuple(content.get("args") or ()),
        {entry["name"]: entry["value"] for entry in content.get("env") or ()},
        cluster if content.get("provideClusterInfo") else None,
        content.get("interactiveMode") or "IfAvailable",
        content.get("installHint") or "",
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """The ExecCredential that the program returned."""

    token: str = ""
    certificate: Pair | None = None
    expires: float | None = None


class PluginCredentials:
    """Credentials that a program returns."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self._given: _Given | None = None
        self._running = asyncio.Lock()

    async def headers(self) -> dict[str, str]:
        """The Authorization header with a token of the program that has not expired."""
        given = self._given
        if given is None or self._is_over(given):
            given = await self._refresh(given)
        return bearer(given.token) if given.token else {}

    def certificate(self) -> Pair | None:
        """The program's certificate, if it gives one."""
        return self._given.certificate if self._given else None

    async def renew(self) -> bool:
        """Run the program again."""
        await self._refresh(self._given)
        return True

    async def close(self) -> None:
        """Nothing is held."""

    def _is_over(self, given: _Given) -> bool:
        return given.expires is not None and time.time() >= given.expires - _EARLY_SECONDS

    async def _refresh(self, known: _Given | None) -> _Given:
        async with self._running:
            if self._given is None or self._given is known:
                self._given = read_answer(await run_plugin(self.plugin), self.plugin)
            return self._given


async def run_plugin(plugin: Plugin) -> bytes:
    """Run the program; returns its standard output."""
    interactive = _is_interactive(plugin)
    spec: Object = {"interactive": interactive}
    if plugin.cluster is not None:
        spec["cluster"] = plugin.cluster
    info = {"apiVersion": plugin.version, "kind": "ExecCredential", "spec": spec}
    told = {**os.environ, **plugin.environment, "KUBERNETES_EXEC_INFO": orjson.dumps(info).decode()}
    try:
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.arguments,
            env=told,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise _failed(plugin, f"cannot be started: {error}") from error
    try:
        async with asyncio.timeout(None if interactive else RUN_SECONDS_MAX):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise _failed(plugin, f"did not end within {RUN_SECONDS_MAX:.0f} s") from None
    if process.returncode:
        raise _failed(plugin, f"ended with code {process.returncode}")
    return output


def _is_interactive(plugin: Plugin) -> bool:
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    if plugin.mode == "Always" and not has_terminal:
        raise _failed(plugin, "wants to ask questions, but there is no terminal")
    return plugin.mode != "Never" and has_terminal


def read_answer(output: bytes, plugin: Plugin) -> _Given:
    """The credentials in a program's output."""
    try:
        answer = orjson.loads(output)
        version, status = answer["apiVersion"], answer["status"]
        expires = status.get("expirationTimestamp")
        moment = datetime.fromisoformat(expires).timestamp() if expires else None
        token = status.get("token") or ""
        chain, key = status.get("clientCertificateData"), status.get("clientKeyData")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _failed(plugin, f"gave no ExecCredential: {error!r}") from error
    if version != plugin.version:
        raise _failed(plugin, f"answers in {version}, but {plugin.version} is configured")
    if not token and not (chain and key):
        raise _failed(plugin, "gave neither a token nor a certificate with its key")
    return _Given(token, (chain, key) if chain and key else None, moment)


def _failed(plugin: Plugin, why: str) -> KohortError:
    hint = f"\n{plugin.hint.strip()}" if plugin.hint else ""
    return KohortError(f"exec plugin {plugin.command} {why}{hint}")
