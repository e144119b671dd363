"""Every group and set of groups that upstream shows as an example becomes ready, and so do ours."""

from collections.abc import AsyncIterator
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from group_lab import install
from operator_lab import Lab

from group_samples import (
    DEVICE,
    FOREIGN,
    JUDGED,
    claim,
    list_group_samples,
    list_missing_claims,
    list_missing_profiles,
)
from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.group_set.api import ROLE_BASED_GROUP_SET
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_true, name_of
from kohort.cluster.port import PatchType
from recorded_groups import needs_recording


class SampleLab(Lab):
    """A cluster that serves whatever an example is made of."""

    def __init__(self) -> None:
        apis = (ROLE_BASED_GROUP, ROLE_BASED_GROUP_SET, LEADER_WORKER_SET)
        super().__init__(DEFAULTS, apis=apis)

    def is_ready(self, kind: str, name: str) -> bool:
        found = self.find(labels.KIND if kind == labels.KIND.name else labels.SET_KIND, name)
        assert found is not None
        seen = (found.get("status") or {}).get("observedGeneration")
        return seen == found["metadata"]["generation"] and is_true(found, "Ready")


@pytest.fixture
async def lab() -> AsyncIterator[SampleLab]:
    found = SampleLab()
    await found.open(nodes=16, operator=False)
    await install(found, "volcano")
    found.start_operator()
    yield found
    await found.close()


async def bring(lab: Lab, objects: list[Object]) -> None:
    """Devices, claims and profiles that an example names and does not bring."""
    key = DEVICE.replace("/", "~1")
    for node in lab.all(kinds.NODE):
        operations = [
            {"op": "add", "path": f"/status/{part}/{key}", "value": "16"}
            for part in ("capacity", "allocatable")
        ]
        target = lab.api.target(kinds.NODE, "", name_of(node), "status")
        await lab.api.patch(target, PatchBody(PatchType.JSON, operations), WriteOptions())
    for name in list_missing_claims(objects):
        await lab.apply(claim(name))
    for profile in list_missing_profiles(objects):
        await lab.apply(profile)


async def run(lab: SampleLab, objects: list[Object]) -> None:
    await bring(lab, objects)
    for obj in objects:
        if obj["kind"] not in FOREIGN:
            made = deepcopy(obj)
            made["metadata"].pop("namespace", None)
            await lab.apply(made)
    judged = [(o["kind"], name_of(o)) for o in objects if o["kind"] in JUDGED]
    await lab.until(lambda: all(lab.is_ready(*each) for each in judged), 600)


@needs_recording
@pytest.mark.parametrize("source", list_group_samples() or ["none"])
async def test_a_sample_of_upstream_becomes_ready(lab: SampleLab, source: str):
    await run(lab, list_group_samples()[source])


OWN = Path(__file__).parents[3] / "examples"


def own_examples() -> list[str]:
    return sorted(path.name for path in OWN.glob("rolebasedgroup*.yaml"))


@pytest.mark.parametrize("name", own_examples())
async def test_an_example_of_ours_becomes_ready(lab: SampleLab, name: str):
    found = [obj for obj in yaml.safe_load_all((OWN / name).read_text()) if obj]
    await run(lab, found)


@needs_recording
def test_no_sample_is_left_out():
    found = [obj["kind"] for held in list_group_samples().values() for obj in held]
    assert found.count(labels.KIND.name) >= 50 and found.count(labels.SET_KIND.name) >= 4
