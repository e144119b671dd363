"""An API with webhooks, webhooks that answer what a test wants, and their certificates."""

import ssl
from base64 import b64encode
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kohort.apiserver.admission.webhooks import Webhooks
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import Answer, DeleteOptions, PatchBody, WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType

GROUP = "admissionregistration.k8s.io"
CONFIGURATIONS = {
    kind: Kind(
        GROUP,
        "v1",
        f"{kind}WebhookConfiguration",
        f"{kind.lower()}webhookconfigurations",
        namespaced=False,
    )
    for kind in ("Mutating", "Validating")
}
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

Reply = Callable[[Object], Any]  # from the request of a review to the response, or to bytes


class World:
    """One API whose writes webhooks see."""

    def __init__(self, **options: Any) -> None:
        self.store = Store()
        registry = Registry(builtin_resources())
        self.webhooks = Webhooks(self.store, served=registry.resources, **options)
        registry.listeners.append(self.webhooks.refresh)
        self.api = ApiServer(self.store, registry, lambda: NOW, Random(1), self.webhooks)

    async def start(self, **labels: str) -> "World":
        await self.create({"metadata": {"name": "lab", "labels": labels}}, kinds.NAMESPACE)
        return self

    async def configure(
        self, *webhooks: Object, kind: str = "Mutating", name: str = "hooks"
    ) -> None:
        body = {"metadata": {"name": name}, "webhooks": list(webhooks)}
        await self.create(body, CONFIGURATIONS[kind])

    async def create(self, body: Object, kind: Kind = kinds.CONFIG_MAP, **options: Any) -> Object:
        return orjson.loads((await self.send(body, kind, **options)).raw)

    async def send(self, body: Object, kind: Kind = kinds.CONFIG_MAP, **options: Any) -> Answer:
        target = self.api.target(kind, "lab" if kind.namespaced else "")
        return await self.api.create(target, body, WriteOptions(**options))

    async def merge(self, name: str, patch: Object, kind: Kind = kinds.CONFIG_MAP) -> Object:
        target = self.api.target(kind, "lab" if kind.namespaced else "", name)
        answer = await self.api.patch(target, PatchBody(PatchType.MERGE, patch), WriteOptions())
        return orjson.loads(answer.raw)

    async def delete(self, name: str, kind: Kind = kinds.CONFIG_MAP) -> Answer:
        target = self.api.target(kind, "lab" if kind.namespaced else "", name)
        return await self.api.delete(target, DeleteOptions())


class Hooks:
    """A caller without sockets: replies by path, and remembers what was asked."""

    def __init__(self, **replies: Reply) -> None:
        self.replies = replies
        self.requests: list[Object] = []
        self.bodies: list[bytes] = []
        self.paths: list[str] = []

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        path = url.partition("?")[0].rpartition("/")[2]
        review = orjson.loads(body)
        self.bodies.append(body)
        self.paths.append(path)
        self.requests.append(review["request"])
        return answer(review["request"], self.replies[path](review["request"]))


def answer(request: Object, reply: Any) -> bytes:
    """A reply as the body of an answer; a dictionary is taken as the response of a review."""
    if isinstance(reply, bytes):
        return reply
    return orjson.dumps(
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": request["uid"], "allowed": True, **reply},
        }
    )


def webhook(path: str, **changes: Any) -> Object:
    """A webhook that wants to see all writes to config maps and is asked at a path."""
    everything = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": ["configmaps"],
    }
    return {
        "name": f"{path}.example.com",
        "clientConfig": {"url": f"https://127.0.0.1:1/{path}"},
        "rules": [everything],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **changes,
    }


def patching(*operations: Object) -> Object:
    """A response that changes the object."""
    return {"patchType": "JSONPatch", "patch": b64encode(orjson.dumps(operations)).decode()}


def labelling(**labels: str) -> Reply:
    """A webhook that adds labels."""

    def reply(request: Object) -> Object:
        found = request["object"]["metadata"].get("labels") or {}
        return patching({"op": "add", "path": "/metadata/labels", "value": {**found, **labels}})

    return reply


def config_map(name: str = "a", **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels}, "data": {"x": "y"}}


@cache
def authority(name: str) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = _certificate(subject, subject, key.public_key())
    extension = x509.BasicConstraints(ca=True, path_length=None)
    return builder.add_extension(extension, critical=True).sign(key, hashes.SHA256()), key


def _certificate(subject: x509.Name, issuer: x509.Name, key: Any) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
    )


def bundle(name: str = "authority") -> str:
    """The certificate of an authority, as configurations carry it."""
    return b64encode(authority(name)[0].public_bytes(serialization.Encoding.PEM)).decode()


@cache
def server_context(*names: str) -> ssl.SSLContext:
    """What a server with a certificate for these names needs."""
    parent, parent_key = authority("authority")
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
    builder = _certificate(subject, parent.subject, key.public_key())
    made = builder.add_extension(alternatives, critical=False).sign(parent_key, hashes.SHA256())
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "server.pem"
        file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
        context.load_cert_chain(file)
    return context


def _general_name(name: str) -> x509.GeneralName:
    if name[0].isdigit():
        return x509.IPAddress(ip_address(name))
    return x509.DNSName(name)


class HookServer:
    """Webhooks behind real HTTPS on loopback."""

    def __init__(self, context: ssl.SSLContext | None, **replies: Callable[..., Awaitable[Any]]):
        self.connections: set[int] = set()
        self._replies = replies
        self._context = context
        self._runner: web.ServerRunner | None = None
        self.port = 0

    async def __aenter__(self) -> "HookServer":
        self._runner = web.ServerRunner(web.Server(self._serve))
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._context)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *problem: object) -> None:
        assert self._runner is not None
        await self._runner.shutdown()
        await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.connections.add(id(request.transport))
        asked = orjson.loads(await request.read())["request"]
        reply = await self._replies[request.path.strip("/")](asked, request)
        if isinstance(reply, web.StreamResponse):
            return reply
        return web.Response(body=answer(asked, reply), content_type="application/json")

    def at(self, path: str, ca: str = "") -> Object:
        """How a configuration names one of the webhooks."""
        url = f"https://127.0.0.1:{self.port}/{path}"
        return {"clientConfig": {"url": url, "caBundle": ca or bundle()}}
