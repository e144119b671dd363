"""Instances below the partition of their role come back as they were, even if all else has gone."""

import pytest
from serving_lab import Refusing, ServingLab, role, start

from kohort.apiserver.api.requests import Patch, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import labels_of
from kohort.cluster.port import PatchType

HASH = "modelserving.volcano.sh/role-template-hash"
REVISION = "modelserving.volcano.sh/revision"


async def start_kept(lab: ServingLab, *, instances: int, groups: int) -> None:
    """Groups of one role, of which a partition keeps the first instance on ``engine:1``."""
    found = role(replicas=instances, workers=0, partition=1)
    await start(lab, found, replicas=groups, rolloutStrategy={"type": "RoleRollingUpdate"})
    await lab.set_image("engine:2", parts=("entryTemplate",))
    await lab.run(90)


async def lose(lab: ServingLab, prefix: str) -> None:
    """
    Delete pods, and refuse new ones for half a minute.

    Where no other instance is old, only the status names the revision of those that are kept.
    """
    lab.api.context.admission = Refusing("CREATE", kinds.POD)
    for name in [name for name in lab.pods() if name.startswith(prefix)]:
        await lab.delete(kinds.POD, name)
    await lab.run(30)
    assert not any(name.startswith(prefix) for name in lab.pods())
    lab.mend_webhooks()
    await lab.run(90)


def image_of(lab: ServingLab, pod: str) -> str:
    image: str = lab.pods()[pod]["spec"]["containers"][0]["image"]
    return image


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("instances", [1, 2])
async def test_a_group_that_lost_all_pods_has_its_kept_instance_back_as_it_was(
    lab: ServingLab, instances: int, groups: int
):
    await start_kept(lab, instances=instances, groups=groups)
    before = lab.pods()
    await lose(lab, "x-0-")
    after = lab.pods()
    assert {name: image_of(lab, name) for name in after} == {
        name: pod["spec"]["containers"][0]["image"] for name, pod in before.items()
    }
    assert image_of(lab, "x-0-decode-0-0") == "engine:1"
    kept = "x-0-decode-0-0"
    assert after[kept]["metadata"]["uid"] != before[kept]["metadata"]["uid"]
    assert labels_of(after[kept])[HASH] == labels_of(before[kept])[HASH]


async def test_a_kept_instance_that_could_not_be_made_comes_back_as_it_was(lab: ServingLab):
    await start_kept(lab, instances=2, groups=1)
    await lose(lab, "x-0-decode-0-0")
    assert image_of(lab, "x-0-decode-0-0") == "engine:1"
    assert image_of(lab, "x-0-decode-1-0") == "engine:2"


async def test_a_group_that_is_added_has_the_instances_that_its_partition_keeps(lab: ServingLab):
    await start_kept(lab, instances=2, groups=1)
    await lab.set_field("/spec/replicas", 2)
    await lab.run(90)
    found = {name: image_of(lab, name) for name in lab.pods() if name.startswith("x-1-")}
    assert found == {"x-1-decode-0-0": "engine:1", "x-1-decode-1-0": "engine:2"}


async def test_a_role_that_the_kept_revision_lacks_is_made_from_the_new_template(lab: ServingLab):
    await start_kept(lab, instances=1, groups=1)
    await lab.set_field("/spec/template/roles/-", role("extra", workers=0, partition=1))
    await lab.run(90)
    assert image_of(lab, "x-0-extra-0-0") == "engine:1"
    assert labels_of(lab.pods()["x-0-extra-0-0"])[HASH]
    assert image_of(lab, "x-0-decode-0-0") == "engine:1"


async def test_a_kept_instance_whose_label_was_edited_gets_no_worker_of_the_new_revision(
    lab: ServingLab,
):
    found = role(replicas=1, workers=1, partition=1)
    await start(lab, found, replicas=1, rolloutStrategy={"type": "RoleRollingUpdate"})
    target = lab.api.target(kinds.POD, lab.namespace, "x-0-decode-0-0")
    body = {"metadata": {"labels": {REVISION: "foreign"}}}
    await lab.api.patch(target, Patch(PatchType.MERGE, body), WriteOptions(manager="kubectl"))
    await lab.set_field("/spec/template/roles/0/workerReplicas", 2)
    await lab.run(90)
    assert sorted(lab.pods()) == ["x-0-decode-0-0", "x-0-decode-0-1"]
