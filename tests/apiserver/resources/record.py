"""
Record what a real API server makes of the manifests beside this file.

    KUBECONFIG=... python tests/apiserver/resources/record.py

It works in a namespace of its own, removes what it made, and rewrites the JSON
files in ``golden``. The tests only read those.
"""

import http.client
import json
import os
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from golden_corpus import GOLDEN, NAMESPACE, copy_of, load_accepted, load_refused

from kohort.apiserver.resources.builtin import KINDS

MADE_BY_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
Reply = tuple[int, Any, list[str]]


class Server:
    """A real API server, addressed by a kubeconfig with client certificates."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.context.load_cert_chain(user["client-certificate"], user["client-key"])
        self.address = urlsplit(cluster["server"]).netloc
        self.plurals: dict[tuple[str, str], tuple[str, bool]] = {}

    def call(self, method: str, path: str, body: Any = None, content: str = "json") -> Reply:
        connection = http.client.HTTPSConnection(self.address, context=self.context)
        headers = {"Content-Type": f"application/{content}"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        warnings = [read_warning(text) for text in answer.headers.get_all("Warning") or []]
        return answer.status, json.loads(answer.read()), warnings

    def collection(self, api_version: str, kind: str) -> str:
        """The path under which objects of a kind are made."""
        root = root_of(api_version)
        if (api_version, kind) not in self.plurals:
            for entry in self.call("GET", root)[1]["resources"]:
                key = (api_version, entry["kind"])
                self.plurals.setdefault(key, (entry["name"], entry["namespaced"]))
        plural, namespaced = self.plurals[api_version, kind]
        return f"{root}/namespaces/{NAMESPACE}/{plural}" if namespaced else f"{root}/{plural}"


def root_of(api_version: str) -> str:
    """The path of a group and version."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def read_warning(header: str) -> str:
    """The text of a warning header: between its outer quotes, with inner ones unescaped."""
    quoted = header[header.index('"') + 1 : header.rindex('"')]
    return quoted.replace('\\"', '"')


def tidy(obj: dict[str, Any]) -> dict[str, Any]:
    """The object without what differs between two recordings; a uid in a label is left empty."""
    uid = obj.get("metadata", {}).get("uid")
    if uid:
        obj = json.loads(json.dumps(obj).replace(uid, ""))
    for name in MADE_BY_SERVER:
        obj.get("metadata", {}).pop(name, None)
    return obj


def create(server: Server, obj: dict[str, Any]) -> tuple[str, Reply]:
    """Create an object; answers its path too, so that it can be changed and removed."""
    collection = server.collection(obj["apiVersion"], obj["kind"])
    return f"{collection}/{obj['metadata'].get('name', '')}", server.call("POST", collection, obj)


def record_accepted(server: Server) -> dict[str, Any]:
    """What is stored for each manifest, by kind and name."""
    found = {}
    for key, obj in load_accepted().items():
        path, (code, answer, warnings) = create(server, obj)
        if code != 201:
            print(f"refused: {path}: {answer['message']}")
            continue
        server.call("DELETE", f"{path}?gracePeriodSeconds=0")
        found[key] = {"stored": tidy(answer), "warnings": warnings}
    return found


def record_refused(server: Server) -> dict[str, Any]:
    """How each bad object, or bad change of a good one, is refused."""
    found = {}
    for name, case in load_refused().items():
        path, (code, answer, _) = create(server, case["object"])
        stored = None
        if code == 201:
            stored = tidy(copy_of(answer))
            target = path + (f"/{case['subresource']}" if "subresource" in case else "")
            if "change" in case:
                code, answer, _ = server.call("PATCH", target, case["change"], "merge-patch+json")
            server.call("DELETE", f"{path}?gracePeriodSeconds=0")
        if code < 400:
            print(f"taken: {name}")
        found[name] = {"message": answer.get("message"), "details": answer.get("details")}
        if "change" in case:
            found[name]["stored"] = stored
    return found


def record_discovery(server: Server) -> dict[str, Any]:
    """What discovery says of each kind that we know, subresources included."""
    found: dict[str, Any] = {}
    known = {(row.kind.api_version, row.kind.plural) for row in KINDS}
    for api_version in sorted({row.kind.api_version for row in KINDS}):
        for entry in server.call("GET", root_of(api_version))[1]["resources"]:
            if (api_version, entry["name"].partition("/")[0]) in known:
                entry.pop("storageVersionHash", None)
                found[f"{api_version} {entry['name']}"] = entry
    return found


def main() -> None:
    server = Server(Path(os.environ["KUBECONFIG"]))
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    server.call("POST", "/api/v1/namespaces", space)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    server.call("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", account)
    recordings = {
        "accepted": record_accepted,
        "refused": record_refused,
        "discovery": record_discovery,
    }
    for name, record in recordings.items():
        text = json.dumps(record(server), indent=1, sort_keys=True, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n")
    server.call("DELETE", f"/api/v1/namespaces/{NAMESPACE}")


if __name__ == "__main__":
    main()
