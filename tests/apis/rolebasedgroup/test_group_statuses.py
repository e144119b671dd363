"""Statuses of groups, sets, instances and adapters, against those that upstream wrote."""

import pytest
from group_builders import group, standalone

from kohort.apis.rolebasedgroup.objects.adapters import BOUND
from kohort.apis.rolebasedgroup.spec import read_set_spec
from kohort.apis.rolebasedgroup.status import (
    ComponentCounts,
    InstanceState,
    RoleCounts,
    SetState,
    write_adapter_status,
    write_group_status,
    write_instance_status,
    write_set_status,
)
from kohort.cluster.objects import Object
from recorded_groups import Recorded, name_case, needs_recording, recordings

MADE = [case for case in recordings() if case.all("RoleInstanceSet")]
CASES = pytest.mark.parametrize("case", MADE, ids=name_case)
NOW = "2026-11-16T00:00:00Z"


def counts_of(status: Object, wanted: int, name: str = "a") -> RoleCounts:
    return RoleCounts(
        name=name,
        wanted=wanted,
        exist=status["replicas"],
        ready=status["readyReplicas"],
        updated=status["updatedReplicas"],
        updated_ready=status.get("updatedReadyReplicas", 0),
        available=status.get("availableReplicas", 0),
    )


def role(name: str, wanted: int, exist: int, ready: int, updated: int) -> RoleCounts:
    return RoleCounts(name, wanted, exist, ready, updated, min(ready, updated), ready)


@needs_recording
@CASES
def test_the_status_of_a_set_is_upstreams(case: Recorded):
    for found in case.all("RoleInstanceSet"):
        status, spec = found["status"], read_set_spec(found)
        state = SetState(status["updateRevision"], status["labelSelector"], spec.rollout.partition)
        made = write_set_status(found, counts_of(status, spec.replicas), state, NOW)
        assert made == status


@needs_recording
@CASES
def test_the_status_of_a_set_needs_nothing_of_the_one_before(case: Recorded):
    for found in case.all("RoleInstanceSet") if case.when == "at_rest" else ():
        status, spec = found["status"], read_set_spec(found)
        if status["readyReplicas"] != spec.replicas:
            continue
        state = SetState(status["updateRevision"], status["labelSelector"], spec.rollout.partition)
        bare = {**found, "status": {}}
        assert write_set_status(bare, counts_of(status, spec.replicas), state, NOW) == status


@needs_recording
@CASES
def test_the_status_of_a_group_at_rest_is_upstreams(case: Recorded):
    held = {r["name"]: r for r in case.group["status"]["roleStatuses"]}
    wanted = {r["name"]: r["replicas"] for r in case.group["spec"]["roles"]}
    if case.when == "in_rollout" or any(r["readyReplicas"] != r["replicas"] for r in held.values()):
        return
    counts = [counts_of(held[name], count, name) for name, count in wanted.items()]
    assert write_group_status(case.group, counts, NOW) == case.group["status"]


@needs_recording
@CASES
def test_the_status_of_a_ready_instance_is_upstreams(case: Recorded):
    for found in case.all("RoleInstance") if case.when == "at_rest" else ():
        status = found["status"]
        if any(c["status"] == "False" for c in status["conditions"]):
            continue
        parts = tuple(
            ComponentCounts(
                c["name"],
                c["size"],
                c["readyReplicas"],
                c["updatedReplicas"],
                c["updatedReadyReplicas"],
                c["scheduledReplicas"],
            )
            for c in status["componentStatuses"]
        )
        state = InstanceState(parts, status["updateRevision"])
        assert write_instance_status(found, state, NOW) == status


def conditions(status: Object) -> dict[str, Object]:
    return {condition["type"]: condition for condition in status["conditions"]}


def test_a_group_is_ready_when_every_role_has_exactly_what_it_asks_for():
    found = group(standalone("a", 2), standalone("b", 1))
    whole = [role("a", 2, 2, 2, 2), role("b", 1, 1, 1, 1)]
    ready = conditions(write_group_status(found, whole, NOW))["Ready"]
    assert (ready["status"], ready["reason"]) == ("True", "AllRolesReady")
    assert (ready["message"], ready["observedGeneration"]) == ("All roles are ready", 1)
    for counts in (role("a", 2, 2, 1, 2), role("a", 2, 1, 1, 1), role("a", 2, 3, 3, 3)):
        said = conditions(write_group_status(found, [counts, whole[1]], NOW))["Ready"]
        assert (said["status"], said["reason"]) == ("False", "RoleNotReady")
        assert said["message"] == "Not all role ready"


def test_removed_roles_leave_the_status_and_updates_alone_are_written_8():
    """Defect 8: entries of removed roles stayed, and updatedReplicas alone was not written."""
    found = group(standalone("a", 2))
    old = write_group_status(found, [role("a", 2, 2, 2, 1), role("gone", 1, 1, 1, 1)], NOW)
    new = write_group_status({**found, "status": old}, [role("a", 2, 2, 2, 2)], NOW)
    assert [entry["name"] for entry in new["roleStatuses"]] == ["a"]
    assert new["roleStatuses"][0]["updatedReplicas"] == 2


def test_a_condition_moves_its_moment_only_when_it_changes():
    found = group(standalone("a", 2))
    old = write_group_status(found, [role("a", 2, 2, 1, 2)], NOW)
    same = write_group_status({**found, "status": old}, [role("a", 2, 2, 0, 2)], "later")
    assert conditions(same)["Ready"]["lastTransitionTime"] == NOW
    ready = write_group_status({**found, "status": old}, [role("a", 2, 2, 2, 2)], "later")
    assert conditions(ready)["Ready"]["lastTransitionTime"] == "later"


def test_a_group_says_while_roles_are_updated():
    found = group(standalone("a", 2))
    status = write_group_status(found, [role("a", 2, 2, 2, 1)], NOW)
    assert conditions(status)["RollingUpdateInProgress"]["status"] == "True"
    after = write_group_status({**found, "status": status}, [role("a", 2, 2, 2, 2)], NOW)
    assert conditions(after)["RollingUpdateInProgress"]["status"] == "False"


def test_an_instance_names_the_pod_that_it_waits_for():
    found = {"metadata": {"name": "i", "namespace": "ns1", "generation": 1}}
    state = InstanceState((), "i-h", unready="i-0")
    said = conditions(write_instance_status(found, state, NOW))
    assert said["RoleInstanceReady"]["reason"] == "PodsNotReady"
    pods = said["RoleInstanceAllPodsReady"]
    assert pods["reason"] == "AtLeastOnePodNotReady" and "ns1/i-0" in pods["message"]


def test_an_adapter_mirrors_its_role_and_notes_when_it_scaled():
    adapter = {"status": {"phase": "Bound", "replicas": 2}}
    status = write_adapter_status(adapter, role("a", 5, 2, 2, 2), "x=y", BOUND, NOW)
    assert (status["replicas"], status["readyReplicas"]) == (5, 2)
    assert (status["selector"], status["lastScaleTime"]) == ("x=y", NOW)
    again = write_adapter_status({"status": status}, role("a", 5, 5, 5, 5), "x=y", BOUND, "later")
    assert again["lastScaleTime"] == NOW
