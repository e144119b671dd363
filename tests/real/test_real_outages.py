"""What goes wrong in the middle of a rollout on a real control plane, and what then holds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from audit_log import AuditLog
from cluster_driver import Driver, images, is_ready, make_lws, set_image
from drift_scenarios import (
    FOREIGN,
    GROUPS,
    SIZE,
    find_false_counts,
    find_shortfalls,
    is_mended,
    name_image,
)
from operator_processes import QUICK_LEASE, Controller, controllers, eventually, read_holder
from own_scenarios import PODS, ready_groups
from scenario_runs import settle
from upstream_scenarios import bring_up

from kohort.cluster.http import connect
from kohort.cluster.kinds import POD, STATEFUL_SET

pytestmark = pytest.mark.real
OLD, NEW = "engine:1", "engine:2"
LEASE_ALONE = {"update leases"}


async def begin_rollout(driver: Driver, counts: list[int]) -> None:
    """Six groups, of which one may be missing; return when the first is new."""
    await bring_up(driver, make_lws(groups=6, size=2))
    driver.follow(lambda: counts.append(ready_groups(driver, 2)))
    await driver.edit("x", set_image(NEW))
    await driver.until(lambda: any(images([p]) == {NEW} and is_ready(p) for p in driver.all(POD)))


async def end_rollout(driver: Driver, counts: list[int]) -> None:
    """Return when every group is new; never more than one was missing."""
    await driver.until(lambda: driver.is_available() and images(driver.all(POD)) == {NEW})
    assert min(counts) >= 5


async def test_another_replica_goes_on_when_the_leader_is_killed(site):
    log = site.plane.folder / "log" / "first"
    first = Controller(site.kubeconfig, site.service.url, log, *QUICK_LEASE)
    eventually("somebody leads", lambda: read_holder(site.plane), first.log.read_text)
    leader = read_holder(site.plane)
    counts: list[Any] = []
    with controllers(site.plane, site.service, site.kubeconfig, words=QUICK_LEASE) as (second,):
        site.service.backends = [first.port, second.port]
        async with connect(site.plane.kubeconfig) as cluster, Driver(cluster) as driver:
            await begin_rollout(driver, counts)
            first.kill()
            assert OLD in images(driver.all(POD))
            async with revived(second):
                await end_rollout(driver, counts)
            assert not await settle(driver, site.audit, replicas=2)
        assert read_holder(site.plane) != leader
    assert not site.audit.read_breaches()


async def test_a_rollout_survives_a_restart_of_the_api_server(site):
    counts: list[int] = []
    with controllers(site.plane, site.service, site.kubeconfig) as (controller,):
        async with connect(site.plane.kubeconfig) as cluster, Driver(cluster) as driver:
            await begin_rollout(driver, counts)
            async with revived(controller):
                await asyncio.to_thread(site.plane.restart, "kube-apiserver")
                await end_rollout(driver, counts)
            assert not await settle(driver, site.audit, replicas=2)
        controller.wait_until_ready()
    # For a moment after its start a server knows no roles, and forbids every request.
    breaches = site.audit.read_breaches()
    assert not [breach for breach in breaches if not breach.startswith("forbidden")]


async def test_an_edit_while_no_operator_ran_costs_one_group(site):
    """The set takes a leader down; the operator that comes then takes down no other."""
    async with connect(site.plane.kubeconfig) as cluster, Driver(cluster) as driver:
        with controllers(site.plane, site.service, site.kubeconfig):
            await bring_up(driver, make_lws(groups=GROUPS, size=SIZE))
        await driver.edit_as("kubectl-set", STATEFUL_SET, "x", name_image(FOREIGN))
        await driver.until(lambda: "x-3" not in driver.uids())
        with controllers(site.plane, site.service, site.kubeconfig):
            await driver.until(lambda: images(driver.all(POD)) == {OLD} and is_mended(driver))
            assert not await settle(driver, site.audit)
        changes = driver.record.in_order()
        assert not find_shortfalls(changes)
        assert not find_false_counts(changes)
    assert not site.audit.read_breaches()


@asynccontextmanager
async def revived(controller: Controller) -> AsyncIterator[None]:
    """Where a server stays away for long, its lease is lost: one ends, and is started again."""

    async def check() -> None:
        while True:
            controller.revive()
            await asyncio.sleep(0.5)

    task = asyncio.create_task(check())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_at_rest_only_the_lease_is_written(site):
    with controllers(site.plane, site.service, site.kubeconfig):
        async with connect(site.plane.kubeconfig) as cluster, Driver(cluster) as driver:
            await bring_up(driver, make_lws(groups=2))
            await driver.apply(make_lws("y", groups=2, annotations=PODS))
            await driver.until(lambda: driver.is_available("y"))
            async with asyncio.timeout(300):
                while await written(site.audit, driver, renewals=3) != LEASE_ALONE:
                    pass
            assert await written(site.audit, driver, renewals=15) == LEASE_ALONE


async def written(audit: AuditLog, driver: Driver, renewals: int) -> set[str]:
    """
    What the operator writes until its lease, which ticks at rest too, was renewed that often.

    Workloads of earlier tests may still be going with their namespaces: writes about them are not
    counted.
    """
    audit.asked.clear()
    wanted = audit.writes["update leases"] + renewals
    async with asyncio.timeout(300):
        while audit.writes["update leases"] < wanted:
            assert not audit.read_breaches()
            await asyncio.sleep(0.2)
    return {
        f"{write.verb} {write.resource}"
        for write in audit.asked
        if not write.namespace.startswith("try-") or write.namespace == driver.namespace
    }
