"""Installing: read before write, leave alone what is not ours, refuse what would do harm."""

from base64 import b64decode

import pytest
from install_world import DISAGGREGATED, Site, disaggregated_definition, without_marks

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.errors import Forbidden
from kohort.cluster.kinds import DEFINITION, NAMESPACE
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address
from kohort.controller.install import (
    InstallOptions,
    InstallRefused,
    install,
    install_definitions,
    install_roles,
    install_webhooks,
)
from kohort.controller.install.names import BINDING_KIND, MUTATING_KIND, VALIDATING_KIND

APIS = [LEADER_WORKER_SET]
CRD = name_of(LEADER_WORKER_SET.definition())
MUTATING = Address(MUTATING_KIND, "", "lws-mutating-webhook-configuration")
VALIDATING = Address(VALIDATING_KIND, "", "lws-validating-webhook-configuration")
LOCAL = InstallOptions(webhook_url="https://127.0.0.1:9443", ca_bundle=b"an authority")


async def read_webhooks(site: Site, address: Address) -> dict:
    return {hook["name"]: hook for hook in (await site.read(address))["webhooks"]}


async def test_a_bare_cluster_gets_all_it_needs():
    site = Site()
    assert await install(site, APIS, LOCAL) == [
        "namespace lws-system: created",
        f"definition {CRD}: created",
        "webhooks lws-mutating-webhook-configuration: created",
        "webhooks lws-validating-webhook-configuration: created",
        "ClusterRole lws-metrics-reader: created",
        "ClusterRoleBinding lws-metrics-reader-rolebinding: created",
        "ClusterRole lws-proxy-role: created",
        "ClusterRoleBinding lws-proxy-rolebinding: created",
    ]
    await site.read(Address(NAMESPACE, "", "lws-system"))
    hooks = await read_webhooks(site, MUTATING)
    place = hooks["mpod.kb.io"]["clientConfig"]
    assert place["url"] == "https://127.0.0.1:9443/mutate--v1-pod"
    assert b64decode(place["caBundle"]) == b"an authority"
    assert list(await read_webhooks(site, VALIDATING)) == ["vleaderworkerset.kb.io"]


async def test_what_is_there_is_not_written_again():
    site = Site()
    await install(site, APIS, LOCAL)
    site.writes = 0
    lines = await install(site, APIS, LOCAL)
    assert site.writes == 0
    assert all(line.endswith(": unchanged") for line in lines)


async def test_scrapers_that_were_bound_to_the_reader_stay_bound():
    site = Site()
    await install_roles(site, LOCAL)
    place = Address(BINDING_KIND, "", "lws-metrics-reader-rolebinding")
    scraper = {"kind": "ServiceAccount", "name": "prometheus", "namespace": "monitoring"}
    live = await site.read(place)
    await site.update(place, {**live, "subjects": [scraper]})
    lines = await install_roles(site, LOCAL)
    assert lines[1] == "ClusterRoleBinding lws-metrics-reader-rolebinding: updated"
    names = [subject["name"] for subject in (await site.read(place))["subjects"]]
    assert names == ["prometheus", "lws-controller-manager"]


class WithoutRoles(Site):
    """An account that may not write roles."""

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        if "Role" in kind.name:
            raise Forbidden("no")
        return await super().create(kind, namespace, obj)


async def test_an_account_that_may_not_write_roles_installs_the_rest():
    lines = await install(WithoutRoles(), APIS, LOCAL)
    assert lines[2].endswith(": created")
    assert all("may not write roles" in line for line in lines[4:])


async def test_inside_a_cluster_webhooks_are_a_service():
    site = Site()
    await install(site, APIS, InstallOptions(namespace="serving"))
    place = (await read_webhooks(site, VALIDATING))["vleaderworkerset.kb.io"]["clientConfig"]
    assert place["service"]["name"] == "lws-webhook-service"
    assert place["service"]["namespace"] == "serving"


async def test_an_old_definition_of_ours_is_brought_up_to_date():
    site, old = Site(), LEADER_WORKER_SET.definition()
    root = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["spec"]["properties"]["gone"] = {"type": "string"}
    await site.create(DEFINITION, "", old)
    assert await install_definitions(site, APIS, LOCAL) == [f"definition {CRD}: updated"]
    stored = await site.read(Address(DEFINITION, "", CRD))
    assert stored["spec"]["versions"] == LEADER_WORKER_SET.definition()["spec"]["versions"]


async def test_a_foreign_definition_is_left_alone():
    site = Site()
    foreign = without_marks(LEADER_WORKER_SET.definition())
    await create_as_another(site, foreign)
    site.writes = 0
    (line,) = await install_definitions(site, APIS, LOCAL)
    assert line.endswith("left alone, it was not made by Kohort (--replace-crds replaces it)")
    assert site.writes == 0


async def test_a_foreign_definition_is_replaced_on_request():
    site = Site()
    await create_as_another(site, without_marks(LEADER_WORKER_SET.definition()))
    options = InstallOptions(replace_crds=True)
    assert await install_definitions(site, APIS, options) == [f"definition {CRD}: updated"]
    assert await install_definitions(site, APIS, LOCAL) == [f"definition {CRD}: unchanged"]


async def create_as_another(site: Site, crd: dict) -> None:
    """A write in this process would have our own field manager."""
    target = site.api.target(DEFINITION)
    await site.api.create(target, crd, WriteOptions(manager="kubectl"))


async def test_webhooks_of_the_operator_before_us_give_way():
    site = Site()
    await install_webhooks(site, APIS, InstallOptions(ca_bundle=b"theirs"))
    live = await site.read(MUTATING)
    injected = {"cert-manager.io/inject-ca-from": "lws-system/lws-serving-cert", "keep": "this"}
    live["metadata"]["annotations"] = injected
    await site.update(MUTATING, live)
    lines = await install_webhooks(site, APIS, LOCAL)
    assert lines[0] == "webhooks lws-mutating-webhook-configuration: updated"
    stored = await site.read(MUTATING)
    assert stored["metadata"]["annotations"] == {"keep": "this"}
    assert stored["webhooks"][0]["clientConfig"]["url"].startswith("https://127.0.0.1:9443/")


async def test_an_authority_that_was_written_since_is_kept():
    site = Site()
    await install_webhooks(site, APIS, InstallOptions(ca_bundle=b"ours"))
    site.writes = 0
    await install_webhooks(site, APIS, InstallOptions())
    assert site.writes == 0


async def test_another_writer_is_met_with_a_second_look():
    site = Site()
    await install_webhooks(site, APIS, LOCAL)
    site.conflicts = 1
    lines = await install_webhooks(site, APIS, InstallOptions())
    assert lines[0].endswith(": updated")
    site.conflicts = 100
    with pytest.raises(InstallRefused, match="another client keeps changing"):
        await install_webhooks(site, APIS, LOCAL)


async def test_a_definition_that_is_going_is_not_relied_on():
    site, crd = Site(), LEADER_WORKER_SET.definition()
    crd["metadata"]["finalizers"] = ["kohort.dev/held"]
    await site.create(DEFINITION, "", crd)
    await site.delete(Address(DEFINITION, "", CRD))
    with pytest.raises(InstallRefused, match="is being deleted: try again"):
        await install_definitions(site, APIS, LOCAL)


async def test_disaggregated_sets_stop_an_install():
    site = Site()
    await site.create(NAMESPACE, "", {"metadata": {"name": "lab"}})
    await site.create(DEFINITION, "", disaggregated_definition())
    await install_definitions(site, APIS, LOCAL)
    kind = {"apiVersion": DISAGGREGATED.api_version, "kind": DISAGGREGATED.name}
    await site.create(DISAGGREGATED, "lab", {**kind, "metadata": {"name": "split"}})
    with pytest.raises(InstallRefused) as refusal:
        await install_definitions(site, APIS, LOCAL)
    assert "1 DisaggregatedSet (such as lab/split), which Kohort does not serve" in str(
        refusal.value
    )
    ignoring = InstallOptions(ignore_unserved=True)
    assert await install_definitions(site, APIS, ignoring) == [f"definition {CRD}: unchanged"]
