"""kubectl speaks every version of a kind; a webhook converts between them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from client_manifests import write_yaml
from conversion_webhook import start_webhook

from client_tools import Tool

pytestmark = pytest.mark.clients

GROUP = "versions.kohort.dev"
SIZE = {"type": "integer"}
SPECS: dict[str, dict[str, Any]] = {
    "v1": {"size": SIZE, "tint": {"type": "string"}},
    "v2": {
        "dimensions": {"type": "object", "properties": {"size": SIZE}},
        "tint": {"type": "string"},
    },
}
COLUMNS = {"v1": ".spec.size", "v2": ".spec.dimensions.size"}


def version(name: str) -> dict[str, Any]:
    spec = {"type": "object", "properties": SPECS[name]}
    return {
        "name": name,
        "served": True,
        "storage": name == "v2",
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        "additionalPrinterColumns": [
            {"name": f"Size in {name}", "type": "integer", "jsonPath": COLUMNS[name]}
        ],
    }


def definition(path: str) -> dict[str, Any]:
    webhook = start_webhook()
    client = {"url": f"{webhook.url}/{path}", "caBundle": webhook.bundle}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
            },
            "versions": [version("v1"), version("v2")],
        },
    }


def gadget(api: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "g", "annotations": annotations or {}}
    return {"apiVersion": f"{GROUP}/{api}", "kind": "Gadget", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module", autouse=True)
def gadgets(kubectl: Tool) -> Iterator[None]:
    kubectl("apply", "-f", "-", stdin=write_yaml(definition("choose")))
    kubectl("wait", "--for=condition=Established", f"crd/gadgets.{GROUP}")
    yield
    kubectl("delete", "crd", f"gadgets.{GROUP}", "--timeout=60s")


def test_an_object_is_got_in_each_version_with_its_columns(apply, k):
    apply(gadget("v2", dimensions={"size": 3}))
    for api in ("v1", "v2"):
        lines = [line.split() for line in k("get", f"gadgets.{api}.{GROUP}").stdout.splitlines()]
        assert lines[0] == ["NAME", "SIZE", "IN", api.upper()]
        assert lines[1] == ["g", "3"]


def test_an_old_version_is_applied_again_and_again(apply, k):
    assert "created" in apply(gadget("v1", size=1, tint="red")).stdout
    assert "unchanged" in apply(gadget("v1", size=1, tint="red")).stdout
    assert "configured" in apply(gadget("v1", size=2)).stdout
    spec = json.loads(k("get", f"gadgets.v2.{GROUP}", "g", "-o=json").stdout)["spec"]
    assert spec == {"dimensions": {"size": 2}}


def test_versions_take_turns_under_server_side_apply(apply, k):
    flags = ("--server-side",)
    apply(gadget("v1", size=1, tint="red"), flags=flags)
    apply(gadget("v2", dimensions={"size": 2}), flags=flags)
    spec = json.loads(k("get", f"gadgets.v1.{GROUP}", "g", "-o=json").stdout)["spec"]
    assert spec == {"size": 2}


def test_an_old_version_is_watched(apply, k, kubectl, kohort_namespace):
    apply(gadget("v2", dimensions={"size": 1}))
    columns = "-o=custom-columns=V:.apiVersion,S:.spec.size"
    words = ("get", f"gadgets.v1.{GROUP}", "--watch", "--no-headers", columns)
    with kubectl.start("-n", kohort_namespace, *words) as child:
        assert child.stdout is not None
        assert child.stdout.readline().split() == [f"{GROUP}/v1", "1"]
        apply(gadget("v2", dimensions={"size": 2}))
        assert child.stdout.readline().split() == [f"{GROUP}/v1", "2"]


def test_a_webhook_that_fails_is_told_by_its_words(apply, k):
    apply(gadget("v2", {"how": "failing"}, dimensions={"size": 1}))
    done = k("get", f"gadgets.v1.{GROUP}", "g", check=False)
    said = (
        f"conversion webhook for {GROUP}/v2, Kind=Gadget failed: no gadget can be converted today"
    )
    assert done.stderr == f"Error from server: {said}\n"
    assert k("delete", f"gadgets.v1.{GROUP}", "g", check=False).returncode == 1
    assert k("delete", f"gadgets.v2.{GROUP}", "g").returncode == 0
