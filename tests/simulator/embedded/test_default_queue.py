"""Volcano's definitions bring along the queue that its own controllers would make."""

import time

import pytest

from kohort.apis.gangs.definitions import definitions_of
from kohort.apiserver.host.client import Client, Refusal
from kohort.testing import start_cluster

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
SECONDS_MAX = 20


def read_default(client: Client) -> dict:
    try:
        return client.read(f"{QUEUES}/default")
    except Refusal:
        return {}


@pytest.mark.parametrize("has_status", [True, False])
def test_a_bare_cluster_with_the_definitions_of_volcano_gets_an_open_queue(has_status):
    queues = next(d for d in definitions_of("volcano") if d["spec"]["names"]["kind"] == "Queue")
    if not has_status:
        versions = [{**v, "subresources": {}} for v in queues["spec"]["versions"]]
        queues = {**queues, "spec": {**queues["spec"], "versions": versions}}
    with start_cluster(nodes=1) as cluster:
        client = Client(cluster.url, cluster.token, cluster.ca)
        client.create(DEFINITIONS, queues)
        end = time.monotonic() + SECONDS_MAX
        while (found := read_default(client).get("status", {}).get("state")) != "Open":
            if not has_status and read_default(client):
                break
            assert time.monotonic() < end, found
        assert read_default(client)["spec"]["weight"] == 1
        client.close()
