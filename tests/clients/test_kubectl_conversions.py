"""kubectl and a kind that an operator converts: it brings the definitions and the webhook."""

import json
from collections.abc import Iterator

import pytest

from client_tools import Tool
from gadget_api import GROUP, make_gadget
from gadget_operator import gadget_operator
from kohort.testing import Cluster

pytestmark = pytest.mark.clients
CRD = f"gadgets.{GROUP}"
BUNDLE = "jsonpath={.spec.conversion.webhook.clientConfig.caBundle}"


@pytest.fixture(scope="module", autouse=True)
def operator(kohort_cluster: Cluster, kubectl: Tool) -> Iterator[None]:
    with gadget_operator(kohort_cluster.kubeconfig):
        yield
        names = (CRD, f"gadgetprofiles.{GROUP}", f"gadgetparts.{GROUP}")
        kubectl("delete", "crd", *names, "--timeout=60s")
        kubectl(
            "delete", "validatingwebhookconfiguration", "gadget-validating-webhook-configuration"
        )


def spec_of(k, version: str, name: str = "g") -> dict:
    return json.loads(k("get", f"gadgets.{version}.{GROUP}", name, "-o=json").stdout)["spec"]


def test_an_object_is_written_in_one_version_and_read_in_the_other(apply, k):
    assert "created" in apply(make_gadget(version="v1", size=3, tint="red")).stdout
    assert spec_of(k, "v2")["dimensions"] == {"size": 3}
    assert "configured" in apply(make_gadget(version="v1", size=4, tint="red")).stdout
    assert spec_of(k, "v1") == {"size": 4, "tint": "red", "profile": ""}


def test_what_cannot_be_converted_is_told_with_the_words_of_the_api(apply, k):
    apply(make_gadget(dimensions={"size": 1}, tint="blue"))
    done = k("get", f"gadgets.v1.{GROUP}", "g", check=False)
    assert "Gadget" in done.stderr and "has no form in v1: spec.tint 'blue'" in done.stderr
    k("delete", f"gadgets.v2.{GROUP}", "g")


def test_a_webhook_for_one_version_judges_writes_in_the_other(apply):
    done = apply(make_gadget(version="v1", size=101), check=False)
    assert "no gadget is larger than 100" in done.stderr


def test_a_bundle_that_is_taken_away_is_put_back(kubectl, apply, k):
    apply(make_gadget(version="v1", size=2))
    before = kubectl("get", "crd", CRD, "-o", BUNDLE).stdout
    assert before
    patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": None}}}}}
    kubectl("patch", "crd", CRD, "--type=merge", "-p", json.dumps(patch))
    kubectl("wait", f"crd/{CRD}", f"--for={BUNDLE}", "--timeout=30s")
    assert kubectl("get", "crd", CRD, "-o", BUNDLE).stdout == before
    assert spec_of(k, "v1")["size"] == 2


def test_the_scale_subresource_follows_the_paths_of_each_version(apply, k):
    apply(make_gadget(dimensions={"size": 2}))
    for version, size in (("v1", 5), ("v2", 6)):
        k("scale", f"gadgets.{version}.{GROUP}/g", f"--replicas={size}")
        assert spec_of(k, "v2")["dimensions"] == {"size": size}


def test_a_manifest_of_both_versions_is_applied_by_the_server(apply, k):
    for version, spec in (("v1", {"size": 7}), ("v2", {"dimensions": {"size": 8}})):
        apply(make_gadget(version=version, **spec), flags=("--server-side", "--force-conflicts"))
    assert spec_of(k, "v1")["size"] == 8
