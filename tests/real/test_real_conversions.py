"""A real API server and a kind with two versions: the operator converts, and is trusted."""

import json

import pytest
from operator_processes import controllers, eventually

from conftest import Site
from gadget_api import GROUP, make_gadget
from gadget_operator import gadget_operator

pytestmark = pytest.mark.real
CRD = f"gadgets.{GROUP}"


def test_a_real_server_converts_by_the_operator_and_its_bundle_is_kept_true(site: Site):
    plane = site.plane

    def read(version: str) -> dict:
        text = plane.kubectl("get", f"gadgets.{version}.{GROUP}", "g", "-o", "json")
        return json.loads(text)["spec"]

    def bundle() -> str:
        place = "jsonpath={.spec.conversion.webhook.clientConfig.caBundle}"
        return plane.kubectl("get", "crd", CRD, "-o", place)

    with gadget_operator(plane.kubeconfig):
        old = make_gadget(version="v1", size=3, tint="red")
        plane.kubectl("apply", "-f", "-", feed=json.dumps(old))
        assert read("v2")["dimensions"] == {"size": 3}
        assert read("v1")["size"] == 3
        before = bundle()
        patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": None}}}}}
        plane.kubectl("patch", "crd", CRD, "--type=merge", "-p", json.dumps(patch))
        eventually("the bundle is back", lambda: bundle() == before)
        eventually("the server trusts it", lambda: read("v1")["size"] == 3)
        plane.kubectl("delete", f"gadgets.v2.{GROUP}", "g")


def test_the_account_of_the_manifests_may_see_its_definitions(site: Site):
    with controllers(site.plane, site.service, site.kubeconfig) as (one,):
        assert "may not watch CustomResourceDefinitions" not in one.log.read_text()
        assert "is not watched until" not in one.log.read_text()
