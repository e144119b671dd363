"""What clients may not set, and what stays when objects of built-in kinds change."""

from typing import Any

from golden_corpus import BEHAVIOURS, copy_of, load_answers

STORED = {key: answer["stored"] for key, answer in load_answers("accepted").items()}


def stored(key: str) -> dict[str, Any]:
    return copy_of(STORED[key])


def test_an_update_of_an_object_leaves_its_status_alone():
    old = stored("apps/v1 StatefulSet smallest")
    old["status"] = {"replicas": 3, "availableReplicas": 3}
    new = copy_of(old) | {"status": {"replicas": 9, "availableReplicas": 9}}
    BEHAVIOURS["statefulsets.apps"].prepare_update(new, old)
    assert new["status"]["replicas"] == 3


def test_an_update_of_the_status_leaves_the_spec_alone():
    old = stored("apps/v1 StatefulSet smallest")
    new = copy_of(old)
    new["spec"]["replicas"] = 9
    new["metadata"]["labels"] = {"a": "b"}
    BEHAVIOURS["statefulsets.apps"].prepare_status(new, old)
    assert new["spec"] == old["spec"]
    assert new["metadata"]["labels"] == {"a": "b"}


def test_labels_of_a_deployment_do_not_change_with_its_status():
    old = stored("apps/v1 Deployment smallest")
    new = copy_of(old)
    new["metadata"]["labels"] = {"a": "b"}
    BEHAVIOURS["deployments.apps"].prepare_status(new, old)
    assert "labels" not in new["metadata"]


def test_the_quality_of_a_pod_does_not_change_with_its_status():
    old = stored("v1 Pod guaranteed")
    new = copy_of(old) | {"status": {"phase": "Running", "qosClass": "BestEffort"}}
    BEHAVIOURS["pods"].prepare_status(new, old)
    assert new["status"] == {"phase": "Running", "qosClass": "Guaranteed"}


def test_a_pod_keeps_the_priority_that_its_class_gave_it():
    old = stored("v1 Pod smallest")
    old["spec"] |= {"priorityClassName": "high", "priority": 1000}
    new = copy_of(old)
    del new["spec"]["priority"]
    BEHAVIOURS["pods"].prepare_update(new, old)
    assert new["spec"]["priority"] == 1000


def test_annotations_of_a_deployment_count_as_a_new_generation():
    old = stored("apps/v1 Deployment smallest")
    new = copy_of(old)
    new["metadata"]["annotations"] = {"a": "b"}
    BEHAVIOURS["deployments.apps"].prepare_update(new, old)
    assert new["metadata"]["generation"] == old["metadata"]["generation"] + 1


def test_a_service_keeps_its_address_and_node_ports():
    old = stored("v1 Service node-port")
    new = copy_of(old)
    del new["spec"]["clusterIP"], new["spec"]["clusterIPs"]
    del new["spec"]["ports"][0]["nodePort"]
    BEHAVIOURS["services"].prepare_update(new, old)
    assert new["spec"] == old["spec"]
    assert not BEHAVIOURS["services"].validate(new, old)


def test_a_service_that_becomes_internal_gives_its_node_ports_back():
    old = stored("v1 Service node-port")
    new = copy_of(old)
    new["spec"]["type"] = "ClusterIP"
    BEHAVIOURS["services"].prepare_update(new, old)
    assert "nodePort" not in new["spec"]["ports"][0]
    assert not BEHAVIOURS["services"].validate(new, old)


def test_finalizers_of_a_namespace_change_only_through_their_subresource():
    old = stored("v1 Namespace kohort-golden-space")
    new = copy_of(old) | {"spec": {}}
    BEHAVIOURS["namespaces"].prepare_update(new, old)
    assert new["spec"] == {"finalizers": ["kubernetes"]}


def change_pod(**spec: Any) -> list[str]:
    old = stored("v1 Pod placed")
    old["spec"] |= {"nodeSelector": {"pool": "gpu"}}
    new = copy_of(old)
    new["spec"] |= spec
    return [str(fault) for fault in BEHAVIOURS["pods"].validate(new, old)]


def test_a_pod_may_lose_its_gates_and_gain_tolerations():
    tolerations = [*STORED["v1 Pod placed"]["spec"]["tolerations"], {"operator": "Exists"}]
    assert not change_pod(schedulingGates=[], tolerations=tolerations)


def test_a_gated_pod_may_be_sent_to_fewer_nodes():
    assert not change_pod(nodeSelector={"pool": "gpu", "rack": "a"})
    assert change_pod(nodeSelector={})


def test_an_image_may_change():
    containers = copy_of(STORED["v1 Pod placed"]["spec"])["containers"]
    containers[0]["image"] = "app:2"
    assert not change_pod(containers=containers)


def test_a_claim_grows_once_it_is_bound():
    old = stored("v1 PersistentVolumeClaim data")
    new = copy_of(old)
    new["spec"]["resources"] = {"requests": {"storage": "2Gi"}}
    validate = BEHAVIOURS["persistentvolumeclaims"].validate
    assert validate(new, old)
    old["status"]["phase"] = "Bound"
    assert not validate(new, old)


def test_a_claim_may_be_given_its_volume():
    old = stored("v1 PersistentVolumeClaim data")
    new = copy_of(old)
    new["spec"]["volumeName"] = "volume-1"
    assert not BEHAVIOURS["persistentvolumeclaims"].validate(new, old)
