"""The definitions that RoleBasedGroup ships, with its conversion webhook, are served unchanged."""

import os
from pathlib import Path

import pytest
import yaml
from admission_world import World

from kohort.apiserver.admission.conversions import Conversions
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind, Object, is_true, name_of

SHARED = os.environ.get("KOHORT_SHARED")
pytestmark = pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
GROUP = "workloads.x-k8s.io"
ROLE = {"name": "r", "replicas": 1}


def shipped_definitions() -> list[Object]:
    """As kustomize builds them: the bases, and the patches with the webhook over them."""
    folder = Path(SHARED or "") / "data" / "rbg" / "config" / "crd"
    bases = [yaml.safe_load(path.read_text()) for path in sorted((folder / "bases").glob("*"))]
    patches = [yaml.safe_load(path.read_text()) for path in (folder / "patches").glob("*")]
    conversions = {name_of(patch): patch["spec"]["conversion"] for patch in patches}
    for crd in bases:
        if name_of(crd) in conversions:
            crd["spec"]["conversion"] = conversions[name_of(crd)]
    return bases


async def test_all_are_established_and_serve_their_versions():
    world = await World().start()
    for crd in shipped_definitions():
        name = name_of(crd)
        await world.create(crd, kinds.DEFINITION)
        entry = world.store.find(kinds.DEFINITION.group_resource, ("", name))
        assert entry is not None
        assert is_true(entry.decode(), "Established"), name
        served = [v["name"] for v in crd["spec"]["versions"] if v["served"]]
        plural = crd["spec"]["names"]["plural"]
        assert all(world.api.registry.find(GROUP, v, plural) for v in served), name


async def test_a_group_of_the_storage_version_is_made_while_no_webhook_runs():
    world = await World().start()
    world.api.context.ask_webhook = Conversions(world.api.context.new_uid).ask
    for crd in shipped_definitions():
        await world.create(crd, kinds.DEFINITION)
        if name_of(crd) == f"rolebasedgroups.{GROUP}":
            versions = {bool(v["storage"]): v["name"] for v in crd["spec"]["versions"]}
    new, old = (
        Kind(GROUP, versions[stored], "RoleBasedGroup", "rolebasedgroups")
        for stored in (True, False)
    )
    await world.create({"metadata": {"name": "g"}, "spec": {"roles": [ROLE]}}, new)
    with pytest.raises(ClusterError, match=r"conversion webhook for .* failed: Post"):
        await world.api.fetch(world.api.target(old, "lab", "g"))
