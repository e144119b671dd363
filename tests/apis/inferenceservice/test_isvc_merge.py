"""A runtime's configuration with the user's over it, in the order that upstream makes."""

from typing import Any

import pytest
from isvc_builders import RUNNER, model, resolved, runtime, service

from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.merge import merge_component, merge_containers


def named(*names: str) -> list[dict]:
    return [{"name": name} for name in names]


def order(old: str, new: str) -> str:
    base, own = ({"name": "c", "env": named(*each)} for each in (old, new))
    merged = merge_component({"runner": base}, {"runner": own})
    return "".join(each["name"] for each in merged["runner"]["env"])


def test_without_a_runtime_the_users_component_stands_alone():
    assert merge_component(None, {"minReplicas": 2}) == {"minReplicas": 2}


def test_maps_merge_by_key_and_the_user_wins():
    base = {"labels": {"a": "1", "b": "1"}, "nodeSelector": {"x": "1"}, "config": {"k": "1"}}
    own = {"labels": {"b": "2"}, "nodeSelector": {"y": "2"}, "config": {"k": "2"}}
    assert merge_component(base, own) == {
        "labels": {"a": "1", "b": "2"},
        "nodeSelector": {"x": "1", "y": "2"},
        "config": {"k": "2"},
    }


def test_objects_merge_field_by_field():
    base = {"runner": {"name": "c", "readinessProbe": {"httpGet": {"port": 80, "path": "/x"}}}}
    own = {"runner": {"readinessProbe": {"httpGet": {"port": 81}, "periodSeconds": 5}}}
    merged = merge_component(base, own)["runner"]["readinessProbe"]
    assert merged == {"httpGet": {"port": 81, "path": "/x"}, "periodSeconds": 5}


SECRET = {"secretKeyRef": {"name": "s", "key": "k"}}
FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}
EXEC = {"exec": {"command": ["x"]}}
GET = {"httpGet": {"port": 80}}


@pytest.mark.parametrize(
    ("base", "own", "kept"),
    [
        (
            {"env": [{"name": "A", "value": "1"}]},
            {"env": [{"name": "A", "valueFrom": SECRET}]},
            {"env": [{"name": "A", "valueFrom": SECRET}]},
        ),
        (
            {"env": [{"name": "A", "valueFrom": SECRET}]},
            {"env": [{"name": "A", "value": "1"}]},
            {"env": [{"name": "A", "value": "1"}]},
        ),
        (
            {"env": [{"name": "A", "valueFrom": FIELD}]},
            {"env": [{"name": "A", "valueFrom": SECRET}]},
            {"env": [{"name": "A", "valueFrom": SECRET}]},
        ),
        (
            {"readinessProbe": {**GET, "periodSeconds": 5}},
            {"readinessProbe": EXEC},
            {"readinessProbe": {**EXEC, "periodSeconds": 5}},
        ),
        (
            {"lifecycle": {"preStop": GET, "postStart": GET}},
            {"lifecycle": {"preStop": EXEC}},
            {"lifecycle": {"preStop": EXEC, "postStart": GET}},
        ),
    ],
)
def test_of_fields_that_exclude_each_other_the_users_stays(base: dict, own: dict, kept: dict):
    pairs = [
        ({"runner": {"name": "c", **base}}, {"runner": own}),
        ({"leader": {"runner": {"name": "c", **base}}}, {"leader": {"runner": own}}),
        ({"containers": [{"name": "c", **base}]}, {"containers": [{"name": "c", **own}]}),
    ]
    whole = {"name": "c", **kept}
    wanted = [{"runner": whole}, {"leader": {"runner": whole}}, {"containers": [whole]}]
    for (theirs, ours), result in zip(pairs, wanted, strict=True):
        assert drop_empty(merge_component(theirs, ours)) == drop_empty(result)
    assert merge_containers({"name": "c", **base}, own) == whole


def drop_empty(found: Any) -> Any:
    """A value without empty objects, which Go writes for some fields."""
    if isinstance(found, list):
        return [drop_empty(each) for each in found]
    if isinstance(found, dict):
        return {key: drop_empty(value) for key, value in found.items() if value != {}}
    return found


def test_a_volume_of_the_user_has_the_users_source_alone():
    base = {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}, {"name": "w"}]}
    disk = {"hostPath": {"path": "/v"}}
    merged = merge_component(base, {"volumes": [{"name": "v", **disk}]})
    assert merged["volumes"][0] == {"name": "v", **disk}
    larger = {"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}
    merged = merge_component(base, {"volumes": [larger]})
    assert merged["volumes"][0]["emptyDir"] == {"medium": "Memory", "sizeLimit": "1Gi"}
    assert merge_component(base, {"volumes": [{"name": "v"}]})["volumes"] == base["volumes"]


def test_a_budget_of_the_user_takes_the_place_of_the_runtimes():
    assert merge_component({"maxUnavailable": 1}, {"minAvailable": 2}) == {"minAvailable": 2}
    assert merge_component({"minAvailable": 1}, {"maxUnavailable": 0}) == {"maxUnavailable": 0}


def test_of_the_two_fields_of_a_service_account_the_users_stays():
    old, new = {"serviceAccount": "b"}, {"serviceAccountName": "a"}
    assert merge_component(new, old) == old
    assert merge_component({"leader": old}, {"leader": new})["leader"] == new


def test_lists_without_a_key_are_replaced():
    base = {"tolerations": [{"key": "a"}], "runner": {"name": "c", "args": ["1"], "command": ["x"]}}
    own = {"tolerations": [{"key": "b"}], "runner": {"args": ["2"], "command": []}}
    merged = merge_component(base, own)
    assert merged["tolerations"] == [{"key": "b"}]
    assert (merged["runner"]["args"], merged["runner"]["command"]) == (["2"], ["x"])


def test_new_items_of_the_user_come_before_those_of_the_runtime():
    assert order("ab", "x") == "xab"


def test_items_that_both_have_keep_the_runtimes_order_around_them():
    assert order("abc", "b") == "abc"
    assert order("abc", "cx") == "abcx"
    assert order("abc", "xc") == "xabc"
    assert order("abcd", "db") == "acdb"


def test_lists_merge_by_their_own_keys():
    base = {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "runner": {
            "name": "c",
            "env": [{"name": "A", "value": "1"}],
            "ports": [{"containerPort": 80, "name": "http"}],
            "volumeMounts": [{"mountPath": "/v", "name": "v"}],
        },
    }
    own = {
        "runner": {
            "env": [{"name": "A", "value": "2"}],
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "volumeMounts": [{"mountPath": "/v", "name": "w"}],
        }
    }
    merged = merge_component(base, own)
    assert merged["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert merged["runner"]["env"] == [{"name": "A", "value": "2"}]
    assert merged["runner"]["ports"] == [{"name": "http", "containerPort": 80, "protocol": "TCP"}]
    assert merged["runner"]["volumeMounts"] == [{"mountPath": "/v", "name": "w"}]


def test_a_zero_of_a_plain_field_says_nothing_and_one_of_a_pointer_counts():
    base = {"maxReplicas": 5, "minReplicas": 2, "hostNetwork": True, "enableServiceLinks": True}
    own = {"maxReplicas": 0, "minReplicas": 0, "hostNetwork": False, "enableServiceLinks": False}
    merged = merge_component(base, own)
    assert (merged["maxReplicas"], merged["minReplicas"]) == (5, 0)
    assert (merged["hostNetwork"], merged["enableServiceLinks"]) == (True, False)


def test_a_runner_without_a_name_inherits_the_runtimes():
    base = {"runner": {"name": "ome-container", "image": "a"}}
    for empty in ({"image": "b"}, {"name": "", "image": "b"}):
        merged = merge_component(base, {"runner": empty})["runner"]
        assert (merged["name"], merged["image"]) == ("ome-container", "b")


def test_the_accelerator_of_a_runtime_is_not_a_services():
    base = {"acceleratorOverride": {"acceleratorClass": "a"}}
    assert "acceleratorOverride" not in merge_component(base, {})


def test_amounts_have_one_spelling():
    base = {"runner": {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}}
    own = {"runner": {"resources": {"limits": {"memory": "1024Mi"}}}}
    merged = merge_component(base, own)["runner"]["resources"]["limits"]
    assert merged == {"nvidia.com/gpu": "8", "memory": "1Gi"}


@pytest.mark.parametrize(
    "broken", [{"ports": ["80"]}, {"resources": {"limits": {"cpu": "much"}}}, {"env": [3]}]
)
def test_a_field_that_cannot_be_read_is_an_error_of_the_service(broken: dict):
    with pytest.raises(ServiceError) as error:
        merge_component({"runner": {"name": "c", **broken}}, {})
    assert error.value.reason == "MergeSpecsError"


def test_an_image_pull_secret_without_a_name_is_none():
    base, own = {"imagePullSecrets": named("a", "")}, {"imagePullSecrets": named("", "b")}
    assert merge_component(base, own)["imagePullSecrets"] == named("b", "a")
    assert merge_component(base, {"imagePullSecrets": named("")})["imagePullSecrets"] == named("a")
    parts = {"leader": {"imagePullSecrets": named("a", "")}}
    assert merge_component(None, parts)["leader"]["imagePullSecrets"] == named("a")


def test_an_entry_that_cannot_be_merged_is_an_error_that_names_the_component():
    held = runtime(engineConfig={"runner": RUNNER, "resourceClaims": [{"name": "a"}]})
    obj = service(engine={"resourceClaims": [{"$patch": "merge", "name": "a"}]})
    with pytest.raises(ServiceError, match="component engine: a list of the service") as error:
        resolved(obj, model(), held)
    assert error.value.reason == "MergeSpecsError"
