"""Creating, updating and deleting, as clients of a real server know it."""

import pytest
from api_builders import Bench, config_map, pod

from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
)
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE, NODE, POD, SERVICE
from kohort.cluster.port import PatchType


class TestCreate:
    async def test_a_new_object_gets_its_uid_time_and_version(self, bench: Bench):
        made = await bench.create(CONFIG_MAP, config_map(x="1"))
        metadata = made["metadata"]
        assert metadata["creationTimestamp"] == "2026-01-02T03:04:05Z"
        assert metadata["namespace"] == "lab"
        assert metadata["uid"] and metadata["resourceVersion"]

    async def test_a_name_that_is_taken_is_refused(self, bench: Bench):
        await bench.create(CONFIG_MAP, config_map())
        with pytest.raises(AlreadyExists, match='configmaps "a" already exists'):
            await bench.create(CONFIG_MAP, config_map())

    async def test_a_generated_name_begins_as_asked(self, bench: Bench):
        made = await bench.create(CONFIG_MAP, {"metadata": {"generateName": "run-"}})
        assert made["metadata"]["name"].startswith("run-")
        assert len(made["metadata"]["name"]) == len("run-") + 5

    async def test_an_object_needs_a_name(self, bench: Bench):
        with pytest.raises(Invalid, match="name or generateName is required"):
            await bench.create(CONFIG_MAP, {"metadata": {}})

    async def test_a_namespace_must_exist(self, bench: Bench):
        with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
            await bench.create(CONFIG_MAP, config_map(), namespace="nowhere")

    async def test_a_namespace_that_goes_takes_nothing_new(self, bench: Bench):
        await bench.delete(NAMESPACE, "lab")
        with pytest.raises(Forbidden, match="because it is being terminated"):
            await bench.create(CONFIG_MAP, config_map())

    async def test_another_namespace_in_the_body_is_refused(self, bench: Bench):
        body = {"metadata": {"name": "a", "namespace": "other"}}
        with pytest.raises(BadRequest, match="does not match the namespace"):
            await bench.create(CONFIG_MAP, body)

    async def test_an_apply_that_names_a_uid_makes_no_object_where_there_is_none(
        self, bench: Bench
    ):
        """The client means an object that it has seen; as kube-apiserver answers it."""
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}}
        why = "uid mismatch: the provided object specified uid u, and no existing object was found"
        with pytest.raises(Conflict, match=why):
            await bench.patch(CONFIG_MAP, "a", PatchType.APPLY, body, manager="m")
        with pytest.raises(NotFound):
            bench.read(CONFIG_MAP, "a")

    async def test_a_dry_run_stores_nothing(self, bench: Bench):
        made = await bench.create(CONFIG_MAP, config_map(), dry_run=True)
        assert made["metadata"]["uid"]
        with pytest.raises(NotFound):
            bench.read(CONFIG_MAP, "a")

    async def test_services_get_addresses_of_their_own(self, bench: Bench):
        body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
        made = await bench.create(SERVICE, body)
        assert made["spec"]["clusterIP"].startswith("10.")
        assert made["spec"]["clusterIPs"] == [made["spec"]["clusterIP"]]


class TestUpdate:
    async def test_an_old_version_loses(self, bench: Bench):
        first = await bench.create(CONFIG_MAP, config_map(x="1"))
        await bench.merge(CONFIG_MAP, "a", {"data": {"x": "2"}})
        with pytest.raises(Conflict, match="the object has been modified"):
            await bench.update(CONFIG_MAP, {**first, "data": {"x": "3"}})

    async def test_a_write_without_a_change_takes_no_version(self, bench: Bench):
        made = await bench.create(CONFIG_MAP, config_map(x="1"))
        again = await bench.update(CONFIG_MAP, made)
        assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]

    async def test_the_status_is_not_changed_with_the_spec(self, bench: Bench):
        made = await bench.create(POD, pod())
        made["status"] = {"phase": "Running"}
        assert (await bench.update(POD, made))["status"]["phase"] == "Pending"

    async def test_the_spec_is_not_changed_with_the_status(self, bench: Bench):
        made = await bench.create(POD, pod())
        made["spec"]["nodeName"] = "elsewhere"
        made["status"]["phase"] = "Running"
        changed = await bench.update(POD, made, "status")
        assert changed["status"]["phase"] == "Running"
        assert "nodeName" not in changed["spec"]

    async def test_a_uid_of_another_object_is_a_conflict(self, bench: Bench):
        made = await bench.create(CONFIG_MAP, config_map())
        made["metadata"] = {"name": "a", "uid": "other"}
        with pytest.raises(Conflict, match="UID in precondition: other"):
            await bench.update(CONFIG_MAP, made)

    @pytest.mark.parametrize("form", [PatchType.MERGE, PatchType.STRATEGIC, PatchType.APPLY])
    async def test_a_patch_names_the_object_that_it_meets(self, bench: Bench, form: PatchType):
        await bench.create(CONFIG_MAP, config_map(x="1"))
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "2"}}
        other = {**body, "metadata": {"name": "a", "uid": "other"}}
        with pytest.raises(Invalid, match='uid: Invalid value: "other": field is immutable'):
            await bench.patch(CONFIG_MAP, "a", form, other, manager="m", force=True)
        renamed = {**body, "metadata": {"name": "b"}}
        with pytest.raises(BadRequest, match=r"name of the object \(b\) does not match the name"):
            await bench.patch(CONFIG_MAP, "a", form, renamed, manager="m", force=True)
        assert bench.read(CONFIG_MAP, "a")["data"] == {"x": "1"}


class TestDelete:
    async def test_an_object_goes_at_once(self, bench: Bench):
        await bench.create(CONFIG_MAP, config_map())
        status = await bench.delete(CONFIG_MAP, "a")
        assert status["status"] == "Success"
        with pytest.raises(NotFound):
            bench.read(CONFIG_MAP, "a")

    async def test_a_finalizer_holds_it_until_it_is_taken_off(self, bench: Bench):
        body = config_map()
        body["metadata"]["finalizers"] = ["kohort.dev/hold"]
        await bench.create(CONFIG_MAP, body)
        held = await bench.delete(CONFIG_MAP, "a")
        assert held["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:05Z"
        await bench.merge(CONFIG_MAP, "a", {"metadata": {"finalizers": []}})
        with pytest.raises(NotFound):
            bench.read(CONFIG_MAP, "a")

    async def test_another_uid_is_left_alone(self, bench: Bench):
        await bench.create(CONFIG_MAP, config_map())
        with pytest.raises(Conflict, match="does not match the UID in record"):
            await bench.delete(CONFIG_MAP, "a", uid="other")

    async def test_a_pod_on_a_node_gets_its_grace_period(self, bench: Bench):
        await bench.create(POD, pod(nodeName="n", terminationGracePeriodSeconds=7))
        leaving = await bench.delete(POD, "p")
        assert leaving["metadata"]["deletionGracePeriodSeconds"] == 7
        assert leaving["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:12Z"

    async def test_a_pod_without_a_node_goes_at_once(self, bench: Bench):
        await bench.create(POD, pod())
        await bench.delete(POD, "p")
        with pytest.raises(NotFound):
            bench.read(POD, "p")

    async def test_grace_may_be_shortened_but_not_lengthened(self, bench: Bench):
        await bench.create(POD, pod(nodeName="n"))
        await bench.delete(POD, "p", grace_seconds=5)
        await bench.delete(POD, "p", grace_seconds=50)
        assert bench.read(POD, "p")["metadata"]["deletionGracePeriodSeconds"] == 5

    @pytest.mark.parametrize(
        ("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")]
    )
    async def test_propagation_leaves_a_note_for_the_collector(self, bench, policy, finalizer):
        await bench.create(CONFIG_MAP, config_map())
        held = await bench.delete(CONFIG_MAP, "a", propagation=policy)
        assert held["metadata"]["finalizers"] == [finalizer]


class TestPlaces:
    ZONE = "topology.kubernetes.io/zone"

    async def test_a_pod_takes_the_zone_of_the_node_it_is_bound_to(self, bench: Bench):
        await bench.create(NODE, {"metadata": {"name": "n", "labels": {self.ZONE: "z"}}})
        await bench.create(POD, pod("one"))
        carried = {"labels": {"carried": "yes"}, "annotations": {"note": "yes"}}
        binding = {"metadata": {"name": "one", **carried}, "target": {"name": "n"}}
        await bench.api.create(bench.target(POD, "one", "binding"), binding, WriteOptions())
        bound = bench.read(POD, "one")
        assert bound["metadata"]["labels"] == {self.ZONE: "z", "carried": "yes"}
        assert bound["metadata"]["annotations"] == {"note": "yes"}
        assert len(bound["metadata"]["managedFields"]) == 1

    async def test_a_pod_that_names_its_node_takes_its_zone(self, bench: Bench):
        await bench.create(NODE, {"metadata": {"name": "n", "labels": {self.ZONE: "z"}}})
        made = await bench.create(POD, pod("one", nodeName="n"))
        assert made["metadata"]["labels"] == {self.ZONE: "z"}
