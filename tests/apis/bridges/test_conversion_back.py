"""ModelServings as LeaderWorkerSets: what one role keeps, and what has no place."""

import pytest
from bridge_samples import PREFIX, pod_template

from kohort.apis.bridges.conversion_report import ConversionRefused, Level
from kohort.apis.bridges.ms_to_lws import convert_to_lws


def role(name: str = "serve", **fields):
    made = {"name": name, "replicas": 1, "workerReplicas": 2, "entryTemplate": pod_template()}
    return {**made, "workerTemplate": pod_template(), **fields}


def serving(*roles, group=None, annotations=None, **spec):
    metadata = {"name": "llama", "namespace": "ml", "annotations": annotations or {}}
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": metadata,
        "spec": {"replicas": 2, "template": {"roles": list(roles or (role(),)), **(group or {})}}
        | spec,
    }


def convert(obj, name="default"):
    return convert_to_lws(obj, name).object


def list_losses(obj, name="default"):
    return [line.field for line in convert_to_lws(obj, name).lines if line.matters]


def test_the_only_role_is_converted_whatever_it_is_called():
    made = convert(serving())
    assert (made["apiVersion"], made["kind"]) == ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert made["spec"]["leaderWorkerTemplate"]["size"] == 3
    assert list_losses(serving()) == []


def test_a_second_role_is_lost_and_matters():
    obj = serving(role("prefill"), role("decode", workerReplicas=4))
    assert convert(obj, "decode")["spec"]["leaderWorkerTemplate"]["size"] == 5
    assert list_losses(obj, "decode") == ["spec.template.roles[prefill]"]


def test_none_of_several_roles_is_guessed():
    with pytest.raises(ConversionRefused, match=r"its roles: prefill, decode\. Choose one"):
        convert(serving(role("prefill"), role("decode")))


def test_several_instances_of_a_role_are_lost():
    assert list_losses(serving(role(replicas=2))) == ["spec.template.roles[serve].replicas"]


def test_an_entry_without_workers_is_a_group_of_one():
    alone = role(workerReplicas=0)
    del alone["workerTemplate"]
    group = convert(serving(alone, schedulerName="default-scheduler"))["spec"][
        "leaderWorkerTemplate"
    ]
    assert group["size"] == 1
    assert group["workerTemplate"] == pod_template()
    assert "leaderTemplate" not in group


def test_pods_keep_the_scheduler_that_a_modelserving_has_by_default():
    group = convert(serving())["spec"]["leaderWorkerTemplate"]
    assert group["workerTemplate"]["spec"]["schedulerName"] == "volcano"


@pytest.mark.parametrize(
    ("recovery", "policy"),
    [
        (None, "RecreateGroupOnPodRestart"),
        ("RoleRecreate", "RecreateGroupOnPodRestart"),
        ("ServingGroupRecreate", "RecreateGroupOnPodRestart"),
        ("None", "None"),
    ],
)
def test_recovery_policies_are_restart_policies(recovery: str | None, policy: str):
    group = convert(serving(recoveryPolicy=recovery))["spec"]["leaderWorkerTemplate"]
    assert group["restartPolicy"] == policy


def test_a_partition_in_percent_is_written_as_a_number():
    strategy = {
        "type": "ServingGroupRollingUpdate",
        "rollingUpdateConfiguration": {"partition": "50%", "maxUnavailable": 1, "maxSurge": 1},
    }
    made = convert_to_lws(serving(rolloutStrategy=strategy), "default")
    assert made.object["spec"]["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 1, "maxUnavailable": 1, "maxSurge": 1},
    }
    (line,) = [line for line in made.lines if line.field.endswith(".partition")]
    assert line.level is Level.APPROXIMATE


def test_configuration_of_plugin_lws_becomes_fields_and_annotations():
    config = {"subdomainPolicy": "UniquePerReplica", "exclusiveTopology": "rack"}
    made = convert(serving(plugins=[{"name": "lws", "config": config}]))
    assert made["spec"]["networkConfig"] == {"subdomainPolicy": "UniquePerReplica"}
    assert made["metadata"]["annotations"] == {PREFIX + "exclusive-topology": "rack"}


def test_other_plugins_grace_and_variables_are_lost():
    reading = {"name": "engine", "image": "engine:1", "args": ["$(ENTRY_ADDRESS):$(GROUP_SIZE)"]}
    obj = serving(
        role(entryTemplate={"spec": {"containers": [reading]}}),
        group={"restartGracePeriodSeconds": 30},
        plugins=[{"name": "demo-pod-tweaks"}, {"name": "lws-standard-labels"}],
    )
    assert list_losses(obj) == [
        "variable GROUP_SIZE in spec.template.roles[serve]",
        "variable ENTRY_ADDRESS in spec.template.roles[serve]",
        "spec.plugins[demo-pod-tweaks]",
        "spec.template.restartGracePeriodSeconds",
    ]


def test_variables_of_leaderworkerset_itself_are_no_loss():
    reading = {"name": "e", "image": "e:1", "args": ["$(LWS_GROUP_SIZE) $(LWS_WORKER_INDEX)"]}
    assert list_losses(serving(role(entryTemplate={"spec": {"containers": [reading]}}))) == []


@pytest.mark.parametrize("which", ["groupPolicy", "rolePolicy"])
def test_either_topology_policy_is_that_of_the_group(which: str):
    policy = {which: {"mode": "hard", "highestTierAllowed": 1}}
    made = convert(serving(group={"networkTopology": policy}))
    noted = made["metadata"]["annotations"]["kohort.dev/network-topology"]
    assert noted == '{"mode":"hard","highestTierAllowed":1}'
    assert list_losses(serving(group={"networkTopology": policy})) == []


def test_the_former_group_of_modelserving_is_converted_too():
    obj = {**serving(), "apiVersion": "workload.volcano.sh/v1alpha1"}
    assert convert(obj)["kind"] == "LeaderWorkerSet"


def test_what_makes_no_valid_set_is_refused():
    with pytest.raises(ConversionRefused, match="makes no valid LeaderWorkerSet"):
        convert(serving(replicas=-1))


def test_a_plugin_with_a_wrong_configuration_is_refused_by_its_name():
    wrong = [{"name": "lws", "config": {"exclusiveTopology": 3}}]
    with pytest.raises(ConversionRefused, match="plugin lws: its config is wrong"):
        convert(serving(plugins=wrong))


def plugin_lws(config=None, **scope):
    return {"name": "lws", "config": {"groupKey": "lws", **(config or {})}, "scope": scope}


def list_lines(obj, start: str, name="default"):
    lines = convert_to_lws(obj, name).lines
    return [
        (line.field, line.level, line.matters) for line in lines if line.field.startswith(start)
    ]


EXCLUSIVE = {"exclusiveTopology": "rack"}
LWS = "spec.plugins[lws]"


def test_configuration_for_other_roles_is_not_given_to_the_role():
    obj = serving(role("a"), role("b"), plugins=[plugin_lws(EXCLUSIVE, roles=["b"])])
    assert "annotations" not in convert(obj, "a")["metadata"]
    assert list_lines(obj, LWS, "a") == [(LWS, Level.LOST, False)]
    assert convert(obj, "b")["metadata"]["annotations"] == {PREFIX + "exclusive-topology": "rack"}
    assert (f"{LWS}.scope.roles", Level.EXACT, False) in list_lines(obj, LWS, "b")


def test_each_role_keeps_the_configuration_that_is_for_it():
    mine, other = plugin_lws(EXCLUSIVE, roles=["a"]), plugin_lws({}, roles=["b"])
    made = convert(serving(role("a"), role("b"), plugins=[mine, other]), "a")
    assert made["metadata"]["annotations"] == {PREFIX + "exclusive-topology": "rack"}


@pytest.mark.parametrize("target", ["Entry", "Worker"])
def test_keys_for_some_pods_of_a_group_are_told_to_be_on_all(target: str):
    found = list_lines(serving(plugins=[plugin_lws(target=target)]), f"{LWS}.scope")
    assert found == [(f"{LWS}.scope.target", Level.APPROXIMATE, False)]


@pytest.mark.parametrize("target", ["Entry", "Worker"])
def test_placement_of_some_pods_of_a_group_is_a_loss_that_matters(target: str):
    assert list_losses(serving(plugins=[plugin_lws(EXCLUSIVE, target=target)])) == [
        f"{LWS}.scope.target"
    ]


def test_a_target_loses_nothing_where_a_group_is_one_pod():
    alone = role(workerReplicas=0)
    kept = serving(alone, plugins=[plugin_lws(EXCLUSIVE, target="Entry")])
    assert list_lines(kept, f"{LWS}.scope") == [(f"{LWS}.scope.target", Level.EXACT, False)]
    idle = serving(alone, plugins=[plugin_lws(EXCLUSIVE, target="Worker")])
    assert "annotations" not in convert(idle)["metadata"]
    assert list_lines(idle, LWS) == [(LWS, Level.LOST, False)]


def test_labels_with_other_texts_are_told():
    plugin = {"name": "lws", "config": {"indexScope": "group"}}
    assert list_lines(serving(plugins=[plugin]), f"{LWS}.config") == [
        (f"{LWS}.config.groupKey", Level.APPROXIMATE, False),
        (f"{LWS}.config.indexScope", Level.EXACT, False),
    ]
    both = serving(role("a"), role("b"), plugins=[plugin])
    assert (f"{LWS}.config.indexScope", Level.APPROXIMATE, False) in list_lines(both, LWS, "a")


@pytest.mark.parametrize(("partition", "matters"), [(0, False), (1, True), ("100%", True)])
def test_a_role_s_partition_is_a_loss_that_matters_where_it_keeps_instances(
    partition: int | str, matters: bool
):
    obj = serving(role(partition=partition), rolloutStrategy={"type": "RoleRollingUpdate"})
    found = list_lines(obj, "spec.template.roles[serve].partition")
    assert found == [("spec.template.roles[serve].partition", Level.LOST, matters)]


def test_a_role_s_max_unavailable_has_a_line():
    obj = serving(role(maxUnavailable=1), rolloutStrategy={"type": "RoleRollingUpdate"})
    path = "spec.template.roles[serve].maxUnavailable"
    assert list_lines(obj, path) == [(path, Level.LOST, False)]
