"""Every group and set of groups that upstream shows as an example becomes ready, and so do ours."""

from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from group_lab import install
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.group_set.api import ROLE_BASED_GROUP_SET
from kohort.cluster.objects import Object, is_true, name_of
from kohort.simulator import kinds
from kohort.simulator.api.requests import Patch, PatchType, WriteOptions
from recorded_groups import examples, needs_recording

JUDGED = (labels.KIND.name, labels.SET_KIND.name)
DEVICE = "rdma/hca"
# What stands beside groups in the files of examples, and what it needs is not served here.
FOREIGN = ("PodMonitor", "Instance", "InstanceSet")


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


def samples() -> dict[str, list[Object]]:
    """The objects of each file that has a group or a set of groups in it."""
    found: dict[str, list[Object]] = {}
    for source, obj in examples():
        found.setdefault(source, []).append(obj)
    return {s: held for s, held in found.items() if any(o.get("kind") in JUDGED for o in held)}


async def bring(lab: Lab, objects: list[Object]) -> None:
    """Devices, claims and profiles that an example names and does not bring."""
    key = DEVICE.replace("/", "~1")
    for node in lab.all(kinds.NODE):
        operations = [
            {"op": "add", "path": f"/status/{part}/{key}", "value": "16"}
            for part in ("capacity", "allocatable")
        ]
        target = lab.api.target(kinds.NODE, "", name_of(node), "status")
        await lab.api.patch(target, Patch(PatchType.JSON, operations), WriteOptions())
    own = {name_of(o) for o in objects if o["kind"] == "PersistentVolumeClaim"}
    for name in sorted({found for o in objects for found in list_claims(o)} - own):
        await lab.apply(claim(name))
    held = {name_of(o) for o in objects if o["kind"] == labels.PROFILE.name}
    named = {str(found) for o in objects for found in list_values(o, "profileName")}
    for _, obj in examples():
        if obj["kind"] == labels.PROFILE.name and name_of(obj) in named - held:
            held.add(name_of(obj))
            await lab.apply(obj)


def list_claims(value: Any) -> Iterator[str]:
    yield from (str(found) for found in list_values(value, "claimName"))


def list_values(value: Any, key: str) -> Iterator[Any]:
    """All values that a key has anywhere in an object."""
    if isinstance(value, dict):
        for name, held in value.items():
            if name == key:
                yield held
            yield from list_values(held, key)
    elif isinstance(value, list):
        for each in value:
            yield from list_values(each, key)


def claim(name: str) -> Object:
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


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
@pytest.mark.parametrize("source", samples() or ["none"])
async def test_a_sample_of_upstream_becomes_ready(lab: SampleLab, source: str):
    await run(lab, samples()[source])


OWN = Path(__file__).parents[3] / "examples"


def own_examples() -> list[str]:
    return sorted(path.name for path in OWN.glob("rolebasedgroup*.yaml"))


@pytest.mark.parametrize("name", own_examples())
async def test_an_example_of_ours_becomes_ready(lab: SampleLab, name: str):
    found = [obj for obj in yaml.safe_load_all((OWN / name).read_text()) if obj]
    await run(lab, found)


@needs_recording
def test_no_sample_is_left_out():
    found = [obj["kind"] for held in samples().values() for obj in held]
    assert found.count(labels.KIND.name) >= 50 and found.count(labels.SET_KIND.name) >= 4
