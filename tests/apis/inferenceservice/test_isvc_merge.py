"""A runtime's configuration with the user's over it, in the order that upstream makes."""

import pytest

from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.merge import merge_component


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


def test_objects_merge_whatever_they_mean():
    base = {"runner": {"name": "c", "readinessProbe": {"httpGet": {"port": 80}}}}
    own = {"runner": {"readinessProbe": {"exec": {"command": ["x"]}}}}
    merged = merge_component(base, own)["runner"]["readinessProbe"]
    assert merged == {"httpGet": {"port": 80}, "exec": {"command": ["x"]}}


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
