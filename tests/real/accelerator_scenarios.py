"""
The scenarios of LeaderWorkerSet's suite that are about TPUs: pods may well stay Pending.

So nothing here waits for readiness, and nothing needs a node that has any.
"""

from typing import Any

from cluster_driver import Driver, make_lws

from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, name_of

TPUS = {"resources": {"limits": {"google.com/tpu": "4"}}}
HOSTS, NUMBER, NAME = "TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID", "TPU_NAME"


async def case_08_subgroups_of_tpus(driver: Driver) -> None:
    """A slice is a subgroup, and its hosts are told of each other only."""
    lws = make_lws(groups=1, size=4, container=TPUS, template={"subGroupPolicy": _pairs()})
    await _make(driver, lws, 4)
    assert _read(driver, HOSTS) == {
        "x-0": "x-0.x,x-0-1.x",
        "x-0-1": "x-0.x,x-0-1.x",
        "x-0-2": "x-0-2.x,x-0-3.x",
        "x-0-3": "x-0-2.x,x-0-3.x",
    }
    assert list(_read(driver, NUMBER).values()) == ["0", "1", "0", "1"]


async def case_10_tpu_variables(driver: Driver) -> None:
    """Every pod of a group knows all hosts, its own number, and whose slice it is."""
    await _make(driver, make_lws(groups=2, size=2, container=TPUS), 4)
    assert _read(driver, HOSTS) == {
        "x-0": "x-0.x,x-0-1.x",
        "x-0-1": "x-0.x,x-0-1.x",
        "x-1": "x-1.x,x-1-1.x",
        "x-1-1": "x-1.x,x-1-1.x",
    }
    assert list(_read(driver, NUMBER).values()) == ["0", "1", "0", "1"]
    assert list(_read(driver, NAME).values()) == ["x-0", "x-0", "x-1", "x-1"]


async def case_11_several_tpu_containers(driver: Driver) -> None:
    """Each container with TPUs is a host of its own."""
    second = {"name": "second", "image": "engine:1", **TPUS}
    await _make(driver, make_lws(groups=1, size=2, container=TPUS, beside=[second]), 2)
    hosts = "x-0.x,x-0.x,x-0-1.x,x-0-1.x"
    assert _read(driver, HOSTS) == _read(driver, HOSTS, 1) == {"x-0": hosts, "x-0-1": hosts}
    assert _read(driver, NUMBER) == {"x-0": "0", "x-0-1": "2"}
    assert _read(driver, NUMBER, 1) == {"x-0": "1", "x-0-1": "3"}


async def case_13_subdomain_changes(driver: Driver) -> None:
    """The hosts' names follow the subdomain policy, there and back."""
    await _make(driver, make_lws(groups=2, size=2, container=TPUS, network="Shared"), 4)
    for policy, subdomain in (("UniquePerReplica", "x-0"), ("Shared", "x")):
        path = "/spec/networkConfig/subdomainPolicy"
        await driver.edit("x", {"op": "replace", "path": path, "value": policy})
        hosts = f"x-0.{subdomain},x-0-1.{subdomain}"
        await driver.until(lambda hosts=hosts: _first_hosts(driver) == [hosts, hosts])


async def case_15_no_tpus(driver: Driver) -> None:
    """Without TPUs no pod has variables for them."""
    await _make(driver, make_lws(groups=1, size=2), 2)
    assert not any(name.startswith("TPU") for pod in driver.all(POD) for name in _variables(pod))


def _pairs() -> Object:
    return {"subGroupSize": 2}


async def _make(driver: Driver, lws: Object, pods: int) -> None:
    await driver.apply(lws)
    await driver.until(lambda: len(driver.all(POD)) == pods)


def _first_hosts(driver: Driver) -> list[Any]:
    found = _read(driver, HOSTS)
    return [found.get("x-0"), found.get("x-0-1")]


def _read(driver: Driver, name: str, container: int = 0) -> dict[str, Any]:
    """A variable of every pod, by the pods' names."""
    pods = sorted(driver.all(POD), key=name_of)
    return {name_of(pod): _variables(pod, container).get(name) for pod in pods}


def _variables(pod: Object, container: int = 0) -> dict[str, Any]:
    listed = pod["spec"]["containers"][container].get("env") or ()
    return {entry["name"]: entry.get("value") for entry in listed}
