"""Pods with plugin `lws` where Kohort serves LeaderWorkerSets too: its webhook leaves them alone.

That webhook is asked about every pod with LeaderWorkerSet's labels. It would count by other names:
the leader of a group is no pod of a ModelServing, so its address would lead nowhere.
"""

from collections.abc import AsyncIterator

import pytest
from operator_lab import LWS, Lab, make_lws

from kohort.apis.bridges.carried_lws import carry_by_serving
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of

PREFIX = "leaderworkerset.sigs.k8s.io/"
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    apis = (carry_by_serving(LEADER_WORKER_SET), MODEL_SERVING, FORMER_MODEL_SERVING)
    found = await Lab(apis=apis).open()
    yield found
    await found.close()


def serving(plugin: Object, instances: int = 1, owner: Object | None = None) -> Object:
    role = {"name": "serve", "replicas": instances, "workerReplicas": 1}
    roles = [{**role, "entryTemplate": TEMPLATE, "workerTemplate": TEMPLATE}]
    return {
        "apiVersion": MODEL_SERVING.kind.api_version,
        "kind": MODEL_SERVING.kind.name,
        "metadata": {"name": "y", "ownerReferences": [owner] if owner else []},
        "spec": {
            "replicas": 1,
            "schedulerName": "default-scheduler",
            "plugins": [plugin],
            "template": {"roles": roles},
        },
    }


async def make(lab: Lab, asked: Object) -> list[Object]:
    """The pods of a ModelServing, in the order of their names."""
    role = asked["spec"]["template"]["roles"][0]
    await lab.apply(asked)
    await lab.until(lambda: len(lab.all(kinds.POD)) == 2 * role["replicas"], 60)
    return sorted(lab.all(kinds.POD), key=name_of)


def variables_of(pod: Object) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod["spec"]["containers"][0]["env"]}


async def test_the_leader_address_is_that_of_the_entry(lab: Lab):
    for index, pod in enumerate(await make(lab, serving({"name": "lws"}))):
        found = variables_of(pod)
        assert found["LWS_LEADER_ADDRESS"] == found["ENTRY_ADDRESS"] == "y-0-serve-0-0.default"
        assert (found["LWS_GROUP_SIZE"], found["LWS_WORKER_INDEX"]) == ("2", str(index))


async def test_so_it_is_in_a_set_that_a_model_serving_carries(lab: Lab):
    carried = {"kohort.dev/carrier": "modelserving"}
    await lab.apply(make_lws(groups=1, size=2, annotations=carried))
    await lab.until(lab.is_available, 120)
    addresses = {variables_of(pod)["LWS_LEADER_ADDRESS"] for pod in lab.all(kinds.POD)}
    assert addresses == {"x-0-default-0-0.default"}


async def test_an_index_over_the_group_stays_unique(lab: Lab):
    plugin = {"name": "lws", "config": {"indexScope": "group"}}
    found = await make(lab, serving(plugin, instances=2))
    for index, pod in enumerate(found):
        assert labels_of(pod)[PREFIX + "worker-index"] == str(index)
        assert variables_of(pod)["LWS_WORKER_INDEX"] == str(index)
        assert annotations_of(pod)[PREFIX + "size"] == "4"


async def test_the_subdomain_of_a_group_is_that_of_its_service(lab: Lab):
    plugin = {"name": "lws", "config": {"subdomainPolicy": "UniquePerReplica"}}
    found = await make(lab, serving(plugin))
    assert {pod["spec"]["subdomain"] for pod in found} == {"y-0"}
    assert lab.find(kinds.SERVICE, "y-0") is not None


async def test_standard_labels_alone_keep_no_pod_away(lab: Lab):
    """LeaderWorkerSet's own webhook refuses pods that have these labels and no size."""
    await lab.apply(make_lws(groups=0, size=2))
    uid = lab.lws()["metadata"]["uid"]
    owner = {"apiVersion": LWS.api_version, "kind": LWS.name, "name": "x", "uid": uid}
    asked = serving({"name": "lws-standard-labels"}, owner={**owner, "controller": True})
    assert [labels_of(pod)[PREFIX + "name"] for pod in await make(lab, asked)] == ["x", "x"]
