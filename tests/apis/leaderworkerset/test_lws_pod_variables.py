"""Variables of a pod's containers: the group's, and those of TPU slices."""

import json
from pathlib import Path

import pytest
from lws_builders import bare_pod, variables_of

from kohort.apis.leaderworkerset.admission.pods import PodRefused, mutate_pod
from kohort.cluster.objects import Object

VECTORS = json.loads(Path(__file__).with_name("pod_env_vectors.json").read_text())["vectors"]


def environments(pod: Object | PodRefused) -> list[list[list[str]]]:
    assert isinstance(pod, dict)
    containers = [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or ())]
    return [[[v["name"], v["value"]] for v in container["env"]] for container in containers]


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_variables_are_those_of_the_upstream_webhook(vector: Object):
    expected = vector["expected_env_per_container_then_init"]
    assert environments(mutate_pod(vector["pod"])) == expected


def test_the_groups_variables_come_first_so_that_others_can_refer_to_them():
    pod = bare_pod("lw-0-2")
    mine = {"name": "URL", "value": "http://$(LWS_LEADER_ADDRESS)"}
    pod["spec"]["containers"][0]["env"] = [mine, {"name": "LWS_GROUP_SIZE", "value": "99"}]
    assert environments(mutate_pod(pod))[0] == [
        ["LWS_LEADER_ADDRESS", "lw-0.lw.ns"],
        ["LWS_GROUP_SIZE", "5"],
        ["LWS_WORKER_INDEX", "2"],
        ["URL", "http://$(LWS_LEADER_ADDRESS)"],
    ]


def test_init_containers_get_them_too_and_the_pod_that_came_in_is_untouched():
    pod = bare_pod("lw-0-2")
    pod["spec"]["initContainers"] = [{"name": "wait"}]
    before = json.dumps(pod)
    result = mutate_pod(pod)
    assert isinstance(result, dict)
    assert len(result["spec"]["initContainers"][0]["env"]) == 3
    assert json.dumps(pod) == before


def test_a_pod_without_tpus_has_no_variables_of_them():
    result = mutate_pod(bare_pod("lw-0-2"))
    assert isinstance(result, dict)
    assert not [name for name in variables_of(result) if name.startswith("TPU")]


def test_a_leader_that_is_left_out_of_subgroups_cannot_hold_tpus():
    notes = {"subgroup_size": "2", "subgroup_policy_type": "LeaderExcluded"}
    pod = bare_pod("lw-0", is_leader=True, **notes)
    pod["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": 4}}
    assert mutate_pod(pod) == PodRefused("the subgroup index of pod lw-0 is not a number: None")
