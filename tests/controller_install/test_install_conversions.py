"""The operator that installs a kind with several versions converts it, and no other does."""

from dataclasses import replace

from install_world import Site, without_marks

from gadget_api import GADGETS, GROUP, define_gadgets
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.controller.install import (
    InstallOptions,
    ManifestOptions,
    install,
    install_definitions,
    write_manifests,
)

CRD = Address(DEFINITION, "", f"gadgets.{GROUP}")
LOCAL = InstallOptions(webhook_url="https://127.0.0.1:9443", ca_bundle=b"an authority")


def client_of(crd: Object) -> Object:
    return crd["spec"]["conversion"]["webhook"]["clientConfig"]


async def test_a_kind_with_several_versions_says_who_converts_and_others_do_not():
    site = Site()
    await install(site, [LEADER_WORKER_SET, GADGETS], LOCAL)
    assert client_of(await site.read(CRD))["url"] == "https://127.0.0.1:9443/convert"
    other = await site.read(Address(DEFINITION, "", f"gadgetparts.{GROUP}"))
    assert other["spec"]["conversion"] == {"strategy": "None"}


async def test_a_bundle_that_is_there_stays_where_none_is_brought():
    site = Site()
    await install_definitions(site, [GADGETS], LOCAL)
    before = client_of(await site.read(CRD))["caBundle"]
    site.writes = 0
    await install_definitions(site, [GADGETS], replace(LOCAL, ca_bundle=b""))
    assert client_of(await site.read(CRD))["caBundle"] == before
    assert site.writes == 0


async def test_a_definition_of_another_operator_is_left_alone_but_for_its_conversion():
    site = Site()
    theirs = without_marks(define_gadgets())
    service = {"name": "other", "namespace": "other", "path": "/convert", "port": 443}
    webhook = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
    theirs["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    theirs["spec"]["names"]["shortNames"] = ["gg"]
    target = site.api.target(DEFINITION)
    await site.api.create(target, theirs, WriteOptions(manager="other"))
    lines = await install_definitions(site, [GADGETS], LOCAL)
    assert "left alone but for its conversion, it was not made by Kohort" in lines[0]
    live = await site.read(CRD)
    assert live["spec"]["names"]["shortNames"] == ["gg"]
    assert client_of(live)["url"] == "https://127.0.0.1:9443/convert"
    site.writes = 0
    await install_definitions(site, [GADGETS], LOCAL)
    assert site.writes == 0


def test_what_is_not_served_is_neither_defined_nor_granted():
    objects = write_manifests([GADGETS], ManifestOptions("here", "kohort:1"))
    kinds = {o["metadata"]["name"] for o in objects if o["kind"].startswith("Custom")}
    assert kinds == {f"{plural}.{GROUP}" for plural in ("gadgets", "gadgetprofiles", "gadgetparts")}
    rules = [rule for o in objects for rule in o.get("rules") or ()]
    groups = {group for rule in rules for group in rule.get("apiGroups", ())}
    assert GROUP in groups and LEADER_WORKER_SET.kind.group not in groups
    hooks = [o["metadata"]["name"] for o in objects if o["kind"].endswith("WebhookConfiguration")]
    assert hooks == ["gadget-validating-webhook-configuration"]


def test_manifests_hold_all_definitions_and_a_role_where_each_lease_lies():
    objects = write_manifests([LEADER_WORKER_SET, GADGETS], ManifestOptions("here", "kohort:1"))
    crd = next(o for o in objects if o["metadata"]["name"] == CRD.name)
    assert client_of(crd)["service"]["namespace"] == "here"
    roles = [o for o in objects if o["kind"] == "Role" and "election" in o["metadata"]["name"]]
    told = {o["metadata"]["namespace"]: o["rules"][1]["resourceNames"] for o in roles}
    assert told == {"here": ["b8b2488c.x-k8s.io"], "gadget-system": ["gadget-controller"]}
    assert {o["metadata"]["name"] for o in objects if o["kind"] == "Namespace"} == set(told)
    ours = [o for o in objects if o["kind"] in ("Deployment", "Service")]
    assert [(o["metadata"]["name"], o["metadata"]["namespace"]) for o in ours] == [
        ("lws-webhook-service", "here"),
        ("lws-controller-manager-metrics-service", "here"),
        ("lws-controller-manager", "here"),
    ]
    hooks = [hook for o in objects for hook in o.get("webhooks") or ()]
    places = {hook["clientConfig"]["service"]["name"] for hook in hooks}
    assert (places, len(hooks)) == ({"lws-webhook-service"}, 4)
    manager = next(o for o in objects if o["metadata"]["name"] == "lws-manager-role")
    patched = [r for r in manager["rules"] if CRD.name in r.get("resourceNames", ())]
    assert {verb for rule in patched for verb in rule["verbs"]} == {"get", "list", "watch", "patch"}
