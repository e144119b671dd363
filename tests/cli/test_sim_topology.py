"""The network of a running cluster, as commands show it."""

import json

import pytest
from command_lines import Cli

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster with a gang scheduler, four racks and two spines."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    flags = "--port 0 --speed 50 --gang volcano --racks 4 --spines 2"
    told = cli("up", "--detach", *flags.split())
    assert told.code == 0, told.err
    assert "8 nodes, 64 GPUs, 4 racks, 2 spines (simulated)" in told.out
    assert "gangs       volcano" in told.out
    yield cli
    cli("down")


def read(cluster: Cli) -> dict:
    told = cluster("sim", "topology", "-o", "json")
    assert told.code == 0, told.err
    return json.loads(told.out)["cluster"]


def test_racks_and_spines_are_shown_with_their_tiers(cluster):
    found = read(cluster)
    spines = found["areas"]
    assert [(s["name"], s["tier"], s["tierName"]) for s in spines] == [
        ("spine-0", 2, "spine"),
        ("spine-1", 2, "spine"),
    ]
    assert [rack["name"] for rack in spines[0]["areas"]] == ["rack-0", "rack-1"]
    host = spines[0]["areas"][0]["hosts"][0]
    assert (host["name"], host["tier"], host["gpusFree"]) == ("gpu-00", 0, 8)


def test_a_node_that_is_added_joins_the_domains(cluster):
    told = cluster("sim", "node", "add", "--rack", "3")
    assert told.out == "gpu-08 added to rack-3 with 8 GPUs\n"
    racks = {rack["name"]: rack for spine in read(cluster)["areas"] for rack in spine["areas"]}
    assert [host["name"] for host in racks["rack-3"]["hosts"]] == ["gpu-06", "gpu-07", "gpu-08"]


def test_the_same_is_shown_by_any_kubeconfig(cluster):
    path = cluster.home / "sim" / "kubeconfig"
    other = cluster("sim", "topology", "--name", "absent", "--kubeconfig", path)
    assert other.out == cluster("sim", "topology").out
    assert other.out.startswith("DOMAIN ")
