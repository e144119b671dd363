"""
A conversion webhook for conformance cases: one HTTPS server on loopback for all of them.

A Gadget is ``{size, tint, first}`` in v1 and ``{dimensions: {size}, tint, second}`` in v2;
what is first or second has no place in the other. ``/convert`` does it well; every other path
does it badly in its own way, or writes down what it was asked. ``/choose`` does what the
annotation ``how`` of the object names.
"""

import base64
import datetime
import ipaddress
import json
import ssl
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConversionWebhook:
    """Where the webhook is, and what its callers must trust."""

    url: str
    bundle: str  # base64, as a caBundle


@cache
def start_webhook() -> ConversionWebhook:
    """The webhook of this process; it ends with it."""
    certificate, key = _make_certificate()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.pem"
        path.write_bytes(key + certificate)
        context.load_cert_chain(path)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_port}"
    return ConversionWebhook(url, base64.b64encode(certificate).decode())


def _make_certificate() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "conversion")])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(hours=1))
    builder = builder.not_valid_after(now + datetime.timedelta(days=30))
    builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate = builder.sign(key, hashes.SHA256())
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    text = key.private_bytes(encoding, form, serialization.NoEncryption())
    return certificate.public_bytes(encoding), text


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        code, body = answer(self.path.partition("?")[0].strip("/"), review)
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def answer(how: str, review: Json) -> tuple[int, bytes]:
    """The code and the body of an answer, given in one of the ways below."""
    if how == "choose":
        noted = review["request"]["objects"][0]["metadata"].get("annotations") or {}
        how = noted.get("how", "convert")
    if how in _BODIES:
        return _BODIES[how]
    request = review["request"]
    wanted = request["desiredAPIVersion"]
    response: Json = {
        "uid": request["uid"],
        "result": {"status": "Success"},
        "convertedObjects": [convert(obj, wanted) for obj in request["objects"]],
    }
    said: Json = {"apiVersion": review["apiVersion"], "kind": "ConversionReview"}
    spoil = _WAYS.get(how)
    if spoil is not None:
        spoil(said, response, review)
    elif how in _OBJECT_WAYS:
        for obj in response["convertedObjects"]:
            _OBJECT_WAYS[how](obj)
    return 200, json.dumps({"response": response, **said}).encode()


def convert(obj: Json, wanted: str) -> Json:
    """A Gadget in another version; whatever else there is stays as it is."""
    spec = dict(obj.get("spec") or {})
    if wanted.endswith("/v2"):
        spec.pop("first", None)
        if "size" in spec:
            spec["dimensions"] = {"size": spec.pop("size")}
    else:
        spec.pop("second", None)
        size = (spec.pop("dimensions", None) or {}).get("size")
        if size is not None:
            spec["size"] = size
    return {**obj, "apiVersion": wanted, **({"spec": spec} if "spec" in obj else {})}


_BODIES: dict[str, tuple[int, bytes]] = {
    "broken": (500, b"out of order"),
    "absent": (404, b""),
    "garbage": (200, b"certainly"),
    "nothing": (200, b""),
    "list": (200, b"[1]"),
}


def _fail(said: Json, response: Json, review: Json) -> None:
    response["result"] = {"status": "Failure", "message": "no gadget can be converted today"}


def _fail_silently(said: Json, response: Json, review: Json) -> None:
    response["result"] = {"status": "Failure"}


def _give_no_result(said: Json, response: Json, review: Json) -> None:
    del response["result"]


def _answer_another(said: Json, response: Json, review: Json) -> None:
    response["uid"] = "another"


def _answer_not(said: Json, response: Json, review: Json) -> None:
    said["response"] = None


def _name_another_kind(said: Json, response: Json, review: Json) -> None:
    said["kind"] = "AdmissionReview"


def _lose_objects(said: Json, response: Json, review: Json) -> None:
    response["convertedObjects"] = []


def _double_objects(said: Json, response: Json, review: Json) -> None:
    response["convertedObjects"] *= 2


def _write_down(said: Json, response: Json, review: Json) -> None:
    request = review["request"]
    noted = f"{review['apiVersion']} {sorted(request)} {len(request['objects'])}"
    for obj in response["convertedObjects"]:
        # What comes from the store is asked about again and again; only one way is noted.
        if request["desiredAPIVersion"].endswith("/v1"):
            obj["metadata"] = {**obj["metadata"], "annotations": {"asked": noted}}


_WAYS: dict[str, Callable[[Json, Json, Json], None]] = {
    "failing": _fail,
    "silent": _fail_silently,
    "unsure": _give_no_result,
    "other-uid": _answer_another,
    "no-response": _answer_not,
    "other-review": _name_another_kind,
    "too-few": _lose_objects,
    "too-many": _double_objects,
    "noting": _write_down,
}


def _in_metadata(**fields: Any) -> Callable[[Json], None]:
    def change(obj: Json) -> None:
        obj["metadata"] = {**obj["metadata"], **fields}

    return change


def _at_the_top(**fields: Any) -> Callable[[Json], None]:
    def change(obj: Json) -> None:
        obj.update(fields)

    return change


def _drop_metadata(obj: Json) -> None:
    del obj["metadata"]


def _drop_labels(obj: Json) -> None:
    obj["metadata"] = {k: v for k, v in obj["metadata"].items() if k != "labels"}


_OBJECT_WAYS: dict[str, Callable[[Json], None]] = {
    "renaming": _in_metadata(name="another"),
    "moving": _in_metadata(namespace="another"),
    "new-uid": _in_metadata(uid="another"),
    "labelling": _in_metadata(labels={"seen": "yes"}, annotations={"seen": "yes"}),
    "unlabelling": _drop_labels,
    "owning": _in_metadata(finalizers=["example.com/held"], generation=7, resourceVersion="7"),
    "bad-label": _in_metadata(labels={"seen": "not a label!"}),
    "odd-label": _in_metadata(labels={"seen": 5}),
    "odd-labels": _in_metadata(labels="none"),
    "bare": _drop_metadata,
    "other-kind": _at_the_top(kind="Widget"),
    "other-version": _at_the_top(apiVersion="example.com/v9"),
    "wrong-type": _at_the_top(spec={"size": "large", "dimensions": {"size": "large"}}),
    "unknown-fields": _at_the_top(extra=1, spec={"size": 1, "odd": 1, "dimensions": {"odd": 1}}),
}
