"""Instances below the partition of their role come back as they were, even if all else has gone."""

from typing import Any

import pytest
from gang_lab import VOLCANO, define_pod_groups
from serving_lab import Refusing, ServingLab, role, start

from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import PatchType

HASH = "modelserving.volcano.sh/role-template-hash"
REVISION = "modelserving.volcano.sh/revision"
PAIR = ("x-0-decode-0-0", "x-0-decode-0-1")


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


async def test_the_gang_of_a_new_group_is_made_for_the_instance_that_its_partition_keeps():
    """A gang that counts a worker which never comes would not be placed until it is patched."""
    lab = ServingLab(VOLCANO)
    await lab.open()
    await define_pod_groups(lab)
    found = role(replicas=2, workers=1, partition=1)
    rollout = {"type": "RoleRollingUpdate"}
    await start(lab, found, replicas=1, rolloutStrategy=rollout, schedulerName="volcano")
    await lab.set_field("/spec/template/roles/0/workerReplicas", 2)
    await lab.run(90)
    seen: list[Object] = []
    bucket = lab.api.registry.of(POD_GROUP).bucket
    lab.api.store.subscribe(bucket, lambda event: seen.append(event.entry.decode()))
    await lab.set_field("/spec/replicas", 2)
    await lab.run(90)
    first = next(gang for gang in seen if name_of(gang) == "x-1")
    assert [part["subGroupSize"] for part in first["spec"]["subGroupPolicy"]] == [2]
    await lab.close()


async def start_relabelled(lab: ServingLab, strategy: str, *pods: str, **spec: Any) -> None:
    """A kept unit of two pods, some of which name no revision, and a template with two workers."""
    kept: Any = {"partition": 1}
    by_role = strategy == "RoleRollingUpdate"
    rollout = {"type": strategy} if by_role else {"type": strategy, **configure(**kept)}
    found = role(replicas=1, workers=1, **(kept if by_role else {}))
    await start(lab, found, replicas=1, rolloutStrategy=rollout, **spec)
    for pod in pods:
        target = lab.api.target(kinds.POD, lab.namespace, pod)
        body = {"metadata": {"labels": {REVISION: "foreign", HASH: "foreign"}}}
        await lab.api.patch(
            target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="kubectl")
        )
    await lab.set_field("/spec/template/roles/0/workerReplicas", 2)
    await lab.run(90)


def configure(**configuration: Any) -> dict[str, Any]:
    return {"rollingUpdateConfiguration": configuration}


@pytest.mark.parametrize("strategy", ["RoleRollingUpdate", "ServingGroupRollingUpdate"])
@pytest.mark.parametrize("edited", [PAIR[:1], PAIR])
async def test_a_kept_unit_whose_labels_were_edited_gets_no_worker_of_the_new_revision(
    lab: ServingLab, edited: tuple[str, ...], strategy: str
):
    await start_relabelled(lab, strategy, *edited)
    assert sorted(lab.pods()) == list(PAIR)
    assert lab.status()["availableReplicas"] == 1


async def test_a_kept_unit_whose_labels_were_edited_gets_a_lost_worker_back_as_it_was(
    lab: ServingLab,
):
    await start_relabelled(lab, "RoleRollingUpdate", *PAIR, recoveryPolicy="None")
    await lab.set_image("engine:2")
    await lab.run(60)
    await lab.delete(kinds.POD, PAIR[1])
    await lab.run(90)
    assert [image_of(lab, name) for name in sorted(lab.pods())] == ["engine:1", "engine:1"]


async def lose_kept(lab: ServingLab, *kept: str) -> None:
    """Delete pods while the API server refuses new ones, so that a rollout stays where it is."""
    await lab.run(30)
    for name in kept:
        await lab.delete(kinds.POD, name)
    await lab.run(30)
    assert not lab.pods().keys() & set(kept)
    lab.mend_webhooks()
    await lab.run(120)


def refuse_pods(lab: ServingLab) -> None:
    lab.api.context.admission = Refusing("CREATE", kinds.POD)


@pytest.mark.parametrize("groups", [1, 2])
async def test_a_kept_instance_that_is_lost_after_an_undo_comes_back_as_it_was(
    lab: ServingLab, groups: int
):
    await start_kept(lab, instances=3, groups=groups)
    refuse_pods(lab)
    await lab.set_image("engine:1", parts=("entryTemplate",))
    await lose_kept(lab, "x-0-decode-0-0")
    found = lab.pods()["x-0-decode-0-0"]
    assert image_of(lab, name_of(found)) == "engine:1"
    assert lab.images() == {"engine:1"}


@pytest.mark.parametrize("third", [f"engine:{number}" for number in range(3, 7)])
async def test_a_kept_instance_that_is_lost_in_the_next_rollout_comes_back_as_it_was(
    lab: ServingLab, third: str
):
    """However the names of the revisions sort."""
    await start_kept(lab, instances=3, groups=1)
    await lab.set_image(third, parts=("entryTemplate",))
    await lab.run(90)
    refuse_pods(lab)
    await lab.set_image("engine:9", parts=("entryTemplate",))
    await lose_kept(lab, "x-0-decode-0-0")
    assert image_of(lab, "x-0-decode-0-0") == "engine:1"
    assert image_of(lab, "x-0-decode-1-0") == "engine:9"


async def start_two(lab: ServingLab, **second: Any) -> None:
    """Two roles, ``a`` with a partition of one instance; both roll to ``engine:2``."""
    roles = role("a", 3, 0, partition=1), role("b", 2, 0, **second)
    await start(lab, *roles, replicas=1, rolloutStrategy={"type": "RoleRollingUpdate"})
    for index in range(2):
        await lab.set_image("engine:2", index, parts=("entryTemplate",))
    await lab.run(120)


async def test_an_undo_of_one_role_changes_no_kept_instance_of_the_other(lab: ServingLab):
    await start_two(lab, partition=1)
    refuse_pods(lab)
    await lab.set_image("engine:1", 0, parts=("entryTemplate",))
    await lose_kept(lab, "x-0-a-0-0", "x-0-b-0-0")
    found = {name: image_of(lab, name) for name in lab.pods()}
    old, new = "engine:1", "engine:2"
    assert found == {
        "x-0-a-0-0": old,
        "x-0-a-1-0": old,
        "x-0-a-2-0": old,
        "x-0-b-0-0": old,
        "x-0-b-1-0": new,
    }


async def test_roles_whose_kept_instances_have_different_revisions_have_them_back(
    lab: ServingLab,
):
    """The partition of the second role is set after that role has rolled."""
    await start_two(lab)
    await lab.set_field("/spec/template/roles/1/partition", 1)
    await lab.run(30)
    for index in range(2):
        await lab.set_image("engine:3", index, parts=("entryTemplate",))
    await lab.run(120)
    await lose(lab, "x-0-a-0-0")
    await lose(lab, "x-0-b-0-0")
    assert {name: image_of(lab, name) for name in lab.pods()} == {
        "x-0-a-0-0": "engine:1",
        "x-0-a-1-0": "engine:3",
        "x-0-a-2-0": "engine:3",
        "x-0-b-0-0": "engine:2",
        "x-0-b-1-0": "engine:3",
    }
