"""
What the operator does when a write does not succeed, and what it does not write at all.

Each failure is answered at rest, so that no other event brings the workload back: only
the operator itself can try again.
"""

from typing import Any

import pytest
from operator_lab import CountingCluster, Lab, make_lws
from races import act_before_patch

from kohort.cluster import kinds
from kohort.cluster.errors import Conflict, Forbidden, Invalid, KohortError, Unavailable
from kohort.cluster.objects import Object, find_condition
from kohort.views.health import WRITE_FAILS

QUOTA = 'services "x" is forbidden: exceeded quota: few, requested: services=1, used: services=1'
ERRORS = {
    "nobody answers": Unavailable("connection refused"),
    "a conflict": Conflict("Operation cannot be fulfilled on resourcequotas"),
    "a full quota": Forbidden(QUOTA),
}


async def bring_up(lab: Lab) -> None:
    await lab.apply(make_lws(groups=2, size=2))
    await lab.until(lab.is_available)
    await lab.run(30)


def refuse_services(cluster: CountingCluster, error: KohortError, times: int) -> list[KohortError]:
    """Answer the next creates of services with an error; returns those that are left."""
    create = cluster.create
    errors = [error] * times

    async def answer(kind: Any, *args: Any, **options: Any) -> Object:
        if kind == kinds.SERVICE and errors:
            raise errors.pop()
        made: Object = await create(kind, *args, **options)
        return made

    cluster.create = answer  # type: ignore[method-assign]
    return errors


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
async def test_a_write_that_may_succeed_later_is_tried_again(lab: Lab, error: KohortError):
    await bring_up(lab)
    refuse_services(lab.cluster, error, times=5)
    await lab.delete(kinds.SERVICE, "x")
    await lab.run(60)
    assert lab.find(kinds.SERVICE, "x") is not None
    assert lab.is_available()


async def test_a_write_is_not_repeated_while_the_caches_have_not_seen_it(lab: Lab):
    await lab.run(1)
    lab.cluster.hold("ControllerRevision")
    await lab.apply(make_lws(groups=2, size=2))
    await lab.run(30)
    assert lab.cluster.tried["create", "ControllerRevision"] == 1
    lab.cluster.release()
    await lab.until(lab.is_available)
    assert lab.cluster.tried["create", "ControllerRevision"] == 1


async def test_a_status_that_is_there_already_is_not_sent(lab: Lab):
    await bring_up(lab)
    looks: list[object] = []
    lab.operator.controllers[0].record = lambda *look: looks.append(look)
    before = lab.cluster.tried.copy()
    note = {"op": "add", "path": "/metadata/labels/seen", "value": "yes"}
    await lab.edit("x-1-1", note, kind=kinds.POD)
    await lab.run(30)
    assert looks
    assert lab.cluster.tried == before


async def test_a_delete_names_the_very_pod_that_was_seen(lab: Lab):
    await bring_up(lab)
    delete, uids = lab.cluster.delete, []

    async def answer(address: Any, *, uid: str = "", **options: Any) -> None:
        uids.append(uid)
        await delete(address, uid=uid, **options)

    lab.cluster.delete = answer  # type: ignore[method-assign]
    leader = lab.find(kinds.POD, "x-1")
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)
    await lab.until(lambda: bool(uids))
    assert leader and uids == [leader["metadata"]["uid"]]


async def test_a_status_names_the_very_workload_that_was_seen(lab: Lab):
    patch, uids = lab.cluster.patch, []

    async def answer(address: Any, body: Any, *args: Any, **options: Any) -> Object:
        if address.part == "status":
            uids.append(body["metadata"].get("uid"))
        made: Object = await patch(address, body, *args, **options)
        return made

    lab.cluster.patch = answer  # type: ignore[method-assign]
    await bring_up(lab)
    assert set(uids) == {lab.lws()["metadata"]["uid"]}


async def test_events_tell_of_a_status_when_it_is_stored(lab: Lab):
    patch, errors = lab.cluster.patch, [Unavailable("connection refused")] * 4

    async def answer(address: Any, body: Any, *args: Any, **options: Any) -> Object:
        conditions = body["status"].get("conditions", ()) if address.part == "status" else ()
        held = {c["type"]: c["status"] for c in conditions}
        if held.get("Available") == "True" and errors:
            raise errors.pop()
        made: Object = await patch(address, body, *args, **options)
        return made

    lab.cluster.patch = answer  # type: ignore[method-assign]
    await bring_up(lab)
    assert not errors
    told = [e["reason"] for e in lab.all(kinds.EVENT)]
    assert told.count("AllGroupsReady") == 1


def is_stalled(lab: Lab) -> bool:
    return (find_condition(lab.lws(), "Stalled") or {}).get("status") == "True"


async def replace_service(lab: Lab, held: Object) -> None:
    """Delete the Service and make it again, as ``kubectl replace --force`` does."""
    if lab.find(kinds.SERVICE, "x") is not None:
        await lab.delete(kinds.SERVICE, "x")
    kept = {
        key: held["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")
    }
    await lab.apply({**held, "metadata": kept})


async def test_an_object_that_a_user_replaces_under_a_write_stalls_nothing(lab: Lab):
    await bring_up(lab)

    async def replace() -> None:
        held = lab.find(kinds.SERVICE, "x")
        assert held is not None
        await replace_service(lab, held)

    patches = act_before_patch(lab.cluster, kinds.SERVICE, replace)
    another = {"op": "add", "path": "/spec/selector/another", "value": "yes"}
    await lab.edit("x", another, kind=kinds.SERVICE)
    await lab.run(60)
    found = lab.find(kinds.SERVICE, "x")
    assert patches and found and "another" not in found["spec"]["selector"]
    assert not is_stalled(lab)


async def test_a_refusal_is_told_until_another_client_makes_the_request_superfluous(lab: Lab):
    await bring_up(lab)
    held = lab.find(kinds.SERVICE, "x")
    assert held is not None
    refuse_services(lab.cluster, Invalid("spec.ports: Required value"), times=9)
    await lab.delete(kinds.SERVICE, "x")
    await lab.run(60)
    assert is_stalled(lab)
    await replace_service(lab, held)
    await lab.run(60)
    assert not is_stalled(lab)


async def test_a_new_workload_tells_of_a_write_that_fails_for_half_a_minute(lab: Lab):
    left = refuse_services(lab.cluster, Unavailable("connection refused"), times=999)
    await lab.apply(make_lws(groups=2, size=2))
    await lab.run(20)
    assert not is_stalled(lab)
    await lab.run(60)
    stalled = find_condition(lab.lws(), "Stalled") or {}
    assert (stalled.get("status"), stalled.get("reason")) == ("True", WRITE_FAILS)
    assert stalled["message"] == "Service x could not be created: connection refused"
    left.clear()
    await lab.until(lambda: lab.is_available() and not is_stalled(lab))
