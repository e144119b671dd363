"""Other people's tests get a cluster with a gang scheduler and a network."""

import time

import pytest

from kohort.apiserver.host.client import Client
from kohort.testing import start_cluster

HYPER_NODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
SECONDS_MAX = 20


def test_a_cluster_has_the_kinds_and_the_tiers_of_a_gang_scheduler():
    with start_cluster(nodes=4, racks=2, gang="volcano") as cluster:
        client = Client(cluster.url, cluster.token, cluster.ca)
        end = time.monotonic() + SECONDS_MAX
        while len(client.read(HYPER_NODES)["items"]) < 7:
            assert time.monotonic() < end
        tiers = {
            o["metadata"]["name"]: o["spec"]["tier"] for o in client.read(HYPER_NODES)["items"]
        }
        client.close()
    assert {name: tier for name, tier in tiers.items() if tier} == {
        "rack-0": 1,
        "rack-1": 1,
        "spine-0": 2,
    }


@pytest.mark.parametrize("wish", [{"racks": 2, "spines": 3}, {"spines": -1}, {"gang": "slurm"}])
def test_a_network_that_cannot_be_is_refused_with_a_sentence(wish):
    with pytest.raises(ValueError, match=r" must be .*, not "), start_cluster(**wish):
        pass
