"""The three tables of LeaderWorkerSet's own guide, one test for each row."""

from hashlib import sha1

import pytest
from lws_builders import POD_TEMPLATE, lws, pod_from, variables_of

from kohort.apis.leaderworkerset.admission.pods import PodRefused, mutate_pod
from kohort.apis.leaderworkerset.objects.services import group_service, shared_service
from kohort.apis.leaderworkerset.objects.sets import leader_set, worker_set
from kohort.cluster.objects import Object, annotations_of, labels_of

PREFIX = "leaderworkerset.sigs.k8s.io/"
NAME = "leaderworkerset-multi-template"


class World:
    """The objects of one set: both StatefulSets, and a leader and a worker as they are admitted."""

    def __init__(self, workload: Object, worker: int = 2) -> None:
        self.leaders = leader_set(workload, "5c5fcdfb44", 3, 0)
        spec = self.leaders["spec"]
        self.leader = self._admit(spec["template"], f"{NAME}-0", spec["serviceName"])
        self.workers = worker_set(workload, self.leader)
        spec = self.workers["spec"]
        self.worker = self._admit(spec["template"], f"{NAME}-0-{worker}", spec["serviceName"])
        self.services = [shared_service(workload), group_service(workload, self.leader)]

    @staticmethod
    def _admit(template: Object, name: str, service: str) -> Object:
        pod = mutate_pod(pod_from(template, name, service))
        assert not isinstance(pod, PodRefused), pod.reason
        return pod

    def with_label(self, key: str) -> dict[str, str]:
        """The value of a label on each of the four objects that has it."""
        objects = vars(self)
        names = ("leaders", "workers", "leader", "worker")
        own = {name: labels_of(objects[name]).get(PREFIX + key) for name in names}
        return {name: value for name, value in own.items() if value is not None}

    def with_annotation(self, key: str) -> dict[str, str]:
        """The value of an annotation on each of the four objects that has it."""
        objects = vars(self)
        names = ("leaders", "workers", "leader", "worker")
        own = {name: annotations_of(objects[name]).get(PREFIX + key) for name in names}
        return {name: value for name, value in own.items() if value is not None}


@pytest.fixture
def world() -> World:
    return World(lws(name=NAME))


@pytest.fixture
def divided() -> World:
    notes = {PREFIX + "subgroup-exclusive-topology": "topologyKey"}
    return World(lws(name=NAME, annotations=notes, subGroupPolicy={"subGroupSize": 2}))


def on_all(value: str) -> dict[str, str]:
    return dict.fromkeys(("leaders", "workers", "leader", "worker"), value)


class TestLabels:
    def test_name_is_on_pods_sets_and_services(self, world: World):
        assert world.with_label("name") == on_all(NAME)
        assert [labels_of(s)[PREFIX + "name"] for s in world.services] == [NAME, NAME]

    def test_template_revision_hash_is_on_pods_and_sets(self, world: World):
        assert world.with_label("template-revision-hash") == on_all("5c5fcdfb44")

    def test_group_index_is_on_pods_and_on_the_set_of_workers(self, world: World):
        expected = {"workers": "0", "leader": "0", "worker": "0"}
        assert world.with_label("group-index") == expected

    def test_group_key_is_on_pods_and_on_the_set_of_workers(self, world: World):
        key = sha1(f"default/{NAME}-0".encode()).hexdigest()
        assert world.with_label("group-key") == {"workers": key, "leader": key, "worker": key}

    def test_worker_index_is_on_pods(self, world: World):
        assert world.with_label("worker-index") == {"leader": "0", "worker": "2"}

    def test_subgroup_index_is_on_pods_of_subgroups(self, world: World, divided: World):
        assert divided.with_label("subgroup-index") == {"leader": "0", "worker": "1"}
        assert world.with_label("subgroup-index") == {}

    def test_subgroup_key_is_shared_by_a_subgroup(self, world: World, divided: World):
        keys = {place: sha1(f"{NAME}-0/{place}".encode()).hexdigest() for place in (0, 1)}
        assert divided.with_label("subgroup-key") == {"leader": keys[0], "worker": keys[1]}
        assert world.with_label("subgroup-key") == {}


class TestAnnotations:
    def test_size_is_on_pods(self, world: World):
        assert world.with_annotation("size") == {"leader": "4", "worker": "4"}

    def test_replicas_is_on_the_set_of_leaders(self, world: World):
        assert world.with_annotation("replicas") == {"leaders": "3"}

    def test_leader_name_is_on_workers(self, world: World):
        assert world.with_annotation("leader-name") == {"worker": f"{NAME}-0"}

    def test_exclusive_topology_reaches_pods_where_it_is_used(self, world: World):
        topology = "cloud.google.com/gke-nodepool"
        notes = {PREFIX + "exclusive-topology": topology}
        exclusive = World(lws(name=NAME, annotations=notes))
        assert exclusive.with_annotation("exclusive-topology") == on_all(topology)
        assert world.with_annotation("exclusive-topology") == {}

    def test_subdomain_policy_is_on_leaders_with_a_subdomain_of_their_own(self, world: World):
        unique = World(lws(name=NAME, subdomain="UniquePerReplica"))
        assert unique.with_annotation("subdomainPolicy") == {"leader": "UniquePerReplica"}
        assert world.with_annotation("subdomainPolicy") == {}

    def test_subgroup_size_is_on_pods_of_subgroups(self, world: World, divided: World):
        assert divided.with_annotation("subgroup-size") == {"leader": "2", "worker": "2"}
        assert world.with_annotation("subgroup-size") == {}

    def test_subgroup_exclusive_topology_reaches_pods_of_subgroups(
        self, world: World, divided: World
    ):
        key = "subgroup-exclusive-topology"
        assert divided.with_annotation(key) == on_all("topologyKey")
        assert world.with_annotation(key) == {}


@pytest.fixture
def slices() -> World:
    container = {**POD_TEMPLATE["spec"]["containers"][0]}
    container["resources"] = {"limits": {"google.com/tpu": "4"}}
    template = {"spec": {"containers": [container]}}
    workload = lws(
        name=NAME,
        size=9,
        leaderTemplate=POD_TEMPLATE,
        workerTemplate=template,
        subGroupPolicy={"subGroupSize": 4},
    )
    return World(workload, worker=5)


class TestVariables:
    def test_leader_address_leads_through_the_headless_service(self, world: World):
        address = f"{NAME}-0.{NAME}.default"
        assert variables_of(world.leader)["LWS_LEADER_ADDRESS"] == address
        assert variables_of(world.worker)["LWS_LEADER_ADDRESS"] == address

    def test_group_size_counts_the_pods_of_a_group(self, world: World):
        assert variables_of(world.leader)["LWS_GROUP_SIZE"] == "4"
        assert variables_of(world.worker)["LWS_GROUP_SIZE"] == "4"

    def test_worker_index_is_the_place_in_the_group(self, world: World):
        assert variables_of(world.leader)["LWS_WORKER_INDEX"] == "0"
        assert variables_of(world.worker)["LWS_WORKER_INDEX"] == "2"

    def test_tpu_worker_hostnames_are_those_of_the_same_subgroup(self, slices: World):
        hosts = ",".join(f"{NAME}-0-{worker}.{NAME}" for worker in (5, 6, 7, 8))
        assert variables_of(slices.worker)["TPU_WORKER_HOSTNAMES"] == hosts
        assert "TPU_WORKER_HOSTNAMES" not in variables_of(slices.leader)

    def test_tpu_worker_id_counts_from_zero_in_the_subgroup(self, slices: World):
        assert variables_of(slices.worker)["TPU_WORKER_ID"] == "0"

    def test_tpu_name_is_that_of_the_group(self, slices: World):
        assert variables_of(slices.worker)["TPU_NAME"] == f"{NAME}-0"
