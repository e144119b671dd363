"""The table of LeaderWorkerSet's fields and what each becomes, row by row."""

import pytest
from bridge_samples import PREFIX, lws, pod_template

from kohort.apis.bridges.conversion_report import ConversionRefused, Level
from kohort.apis.bridges.lws_to_ms import convert_to_serving

ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
GROUP = "spec.leaderWorkerTemplate"


def convert(obj, role="default"):
    return convert_to_serving(obj, role).object


def role_of(obj) -> dict:
    (role,) = convert(obj)["spec"]["template"]["roles"]
    return role


def level_of(obj, field: str) -> tuple[Level, bool]:
    (line,) = [line for line in convert_to_serving(obj, "default").lines if line.field == field]
    return line.level, line.matters


def rolling(**fields):
    return {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": fields}}


def test_row_api_version_and_kind():
    made = convert(lws())
    assert (made["apiVersion"], made["kind"]) == (
        "workload.serving.volcano.sh/v1alpha1",
        "ModelServing",
    )
    assert level_of(lws(), "kind") == (Level.EXACT, False)


def test_row_metadata_is_kept_without_keys_of_leaderworkerset():
    obj = lws(annotations={"team": "chat", "leaderworkerset.x-k8s.io/other": "1"})
    obj["metadata"]["labels"] = {"app": "llama", PREFIX + "mark": "1"}
    assert convert(obj)["metadata"] == {
        "name": "llama",
        "namespace": "ml",
        "labels": {"app": "llama"},
        "annotations": {"team": "chat"},
    }


def test_row_metadata_leaves_what_the_server_wrote():
    obj = lws(annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"})
    obj["metadata"] |= {"uid": "1", "resourceVersion": "2", "managedFields": []}
    obj["status"] = {"replicas": 2}
    made = convert(obj)
    assert made["metadata"] == {"name": "llama", "namespace": "ml"}
    assert "status" not in made


def test_row_metadata_name_that_makes_too_long_names_of_pods_is_refused():
    # <name>-<replicas>-<role>-1-<W> is 63 characters at 63 - len("-2-default-1-2") = 49.
    obj = lws()
    obj["metadata"]["name"] = "a" * 49
    assert convert(obj)["metadata"]["name"] == "a" * 49
    obj["metadata"]["name"] = "a" * 50
    with pytest.raises(ConversionRefused, match=r"makes no valid ModelServing: metadata\.name"):
        convert(obj)


def test_row_replicas():
    assert convert(lws(replicas=7))["spec"]["replicas"] == 7
    assert level_of(lws(), "spec.replicas") == (Level.EXACT, False)


def test_row_size_is_workers_and_the_leader():
    assert role_of(lws(group={"size": 4}))["workerReplicas"] == 3
    alone = role_of(lws(group={"size": 1}))
    assert alone["workerReplicas"] == 0
    assert "workerTemplate" not in alone


def test_row_templates_leader_and_worker():
    leader = pod_template("leader:1")
    leader["metadata"] = {"name": "x", "labels": {"a": "b"}, "annotations": {"c": "d"}}
    role = role_of(lws(group={"leaderTemplate": leader}))
    assert role["entryTemplate"]["metadata"] == {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    assert role["entryTemplate"]["spec"] == leader["spec"]
    assert role["workerTemplate"] == pod_template()
    assert level_of(lws(group={"leaderTemplate": leader}), f"{GROUP}.leaderTemplate")[0] == "exact"


def test_row_templates_worker_alone_is_the_entry_too():
    role = role_of(lws())
    assert role["entryTemplate"] == role["workerTemplate"] == pod_template()


def test_row_scheduler_name_is_the_cluster_s_own_by_default():
    assert convert(lws())["spec"]["schedulerName"] == "default-scheduler"
    named = lws(group={"workerTemplate": pod_template(schedulerName="volcano")})
    assert convert(named)["spec"]["schedulerName"] == "volcano"
    field = f"{GROUP}.workerTemplate.spec.schedulerName"
    assert level_of(named, field) == (Level.EXACT, False)


def test_row_scheduler_name_of_leaders_holds_where_workers_have_another():
    leader = pod_template(schedulerName="volcano")
    obj = lws(group={"leaderTemplate": leader})
    assert convert(obj)["spec"]["schedulerName"] == "volcano"
    field = f"{GROUP}.leaderTemplate.spec.schedulerName"
    assert level_of(obj, field) == (Level.APPROXIMATE, False)


def test_row_scheduler_name_of_workers_counts_for_nothing_in_a_group_of_one():
    leader = pod_template(schedulerName="volcano")
    obj = lws(group={"size": 1, "leaderTemplate": leader})
    field = f"{GROUP}.leaderTemplate.spec.schedulerName"
    assert level_of(obj, field) == (Level.EXACT, False)


@pytest.mark.parametrize(
    ("policy", "recovery", "level"),
    [
        ("RecreateGroupOnPodRestart", "ServingGroupRecreate", Level.EXACT),
        (None, "ServingGroupRecreate", Level.EXACT),
        ("RecreateGroupAfterStart", "ServingGroupRecreate", Level.APPROXIMATE),
        ("None", "None", Level.EXACT),
        ("Default", "None", Level.EXACT),
    ],
)
def test_row_restart_policy(policy: str | None, recovery: str, level: Level):
    obj = lws(group={"restartPolicy": policy})
    assert convert(obj)["spec"]["recoveryPolicy"] == recovery
    assert level_of(obj, f"{GROUP}.restartPolicy") == (level, False)


def test_row_rollout_strategy_partition_and_max_unavailable():
    obj = lws(**rolling(partition=1, maxUnavailable="50%"))
    assert convert(obj)["spec"]["rolloutStrategy"] == {
        "type": "ServingGroupRollingUpdate",
        "rollingUpdateConfiguration": {"partition": 1, "maxUnavailable": "50%"},
    }
    assert level_of(obj, f"{ROLLING}.partition") == (Level.EXACT, False)
    assert level_of(obj, f"{ROLLING}.maxUnavailable") == (Level.EXACT, False)


@pytest.mark.parametrize("amount", [0, "10%"])
def test_row_rollout_strategy_that_may_take_no_group_is_not_kept(amount: int | str):
    obj = lws(**rolling(maxUnavailable=amount))
    assert level_of(obj, f"{ROLLING}.maxUnavailable") == (Level.LOST, True)
    assert convert(obj)["spec"]["rolloutStrategy"] == {"type": "ServingGroupRollingUpdate"}


def test_row_max_surge_is_an_annotation_of_ours():
    obj = lws(**rolling(maxUnavailable=0, maxSurge=1))
    made = convert(obj)
    assert made["metadata"]["annotations"] == {"kohort.dev/max-surge": "1"}
    assert "maxSurge" not in made["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert level_of(obj, f"{ROLLING}.maxSurge") == (Level.APPROXIMATE, False)


@pytest.mark.parametrize("surge", [None, 0, "0%"])
def test_row_max_surge_of_none_writes_no_annotation(surge: int | str | None):
    made = convert(lws(**rolling(maxUnavailable=1, maxSurge=surge)))
    assert "annotations" not in made["metadata"]


def test_row_startup_policy_leader_ready_is_lost():
    assert level_of(lws(startupPolicy="LeaderReady"), "spec.startupPolicy") == (Level.LOST, True)
    created = lws(startupPolicy="LeaderCreated")
    assert level_of(created, "spec.startupPolicy") == (Level.EXACT, False)


@pytest.mark.parametrize("policy", ["Shared", "UniquePerReplica"])
def test_row_subdomain_policy_is_the_plugin_s(policy: str):
    obj = lws(networkConfig={"subdomainPolicy": policy})
    assert convert(obj)["spec"]["plugins"][0]["config"]["subdomainPolicy"] == policy


def test_row_subgroups_and_exclusive_topology_are_the_plugin_s():
    notes = {
        PREFIX + "exclusive-topology": "rack",
        PREFIX + "subgroup-exclusive-topology": "host",
    }
    policy = {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"}
    made = convert(lws(annotations=notes, group={"size": 4, "subGroupPolicy": policy}))
    config = made["spec"]["plugins"][0]["config"]
    assert config["subGroupPolicy"] == policy
    assert config["exclusiveTopology"] == "rack"
    assert config["subGroupExclusiveTopology"] == "host"
    assert "annotations" not in made["metadata"]


def test_row_volume_claim_templates_and_retention_are_lost():
    claim = {"metadata": {"name": "cache"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    retention = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    obj = lws(
        group={
            "volumeClaimTemplates": [claim],
            "persistentVolumeClaimRetentionPolicy": retention,
        }
    )
    assert level_of(obj, f"{GROUP}.volumeClaimTemplates") == (Level.LOST, True)
    field = f"{GROUP}.persistentVolumeClaimRetentionPolicy"
    assert level_of(obj, field) == (Level.LOST, True)


def test_row_volume_claim_templates_become_ephemeral_volumes():
    claim = {"metadata": {"name": "cache"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    worker = pod_template(volumes=[{"name": "cache", "emptyDir": {}}, {"name": "tmp"}])
    role = role_of(lws(group={"volumeClaimTemplates": [claim], "workerTemplate": worker}))
    for template in ("entryTemplate", "workerTemplate"):
        assert role[template]["spec"]["volumes"] == [
            {"name": "cache", "ephemeral": {"volumeClaimTemplate": {"spec": claim["spec"]}}},
            {"name": "tmp"},
        ]


def test_row_plugin_lws_is_added():
    (plugin,) = convert(lws())["spec"]["plugins"]
    assert (plugin["name"], plugin["type"]) == ("lws", "BuiltIn")


def test_the_role_has_the_requested_name():
    (role,) = convert(lws(), "serve")["spec"]["template"]["roles"]
    assert (role["name"], role["replicas"]) == ("serve", 1)


def test_an_unknown_field_is_lost_and_may_matter():
    assert level_of(lws(someField=1), "spec.someField") == (Level.LOST, True)


def test_network_topology_is_the_group_s_policy():
    policy = {"mode": "hard", "highestTierAllowed": 1}
    template = convert(lws(networkTopology=policy))["spec"]["template"]
    assert template["networkTopology"] == {"groupPolicy": policy}


def test_unknown_fields_are_reported_in_the_same_order_each_time():
    lines = convert_to_serving(lws(zebra=1, ant=1, mole=1), "default").lines
    found = [line.field for line in lines if line.matters]
    assert found == ["spec.ant", "spec.mole", "spec.zebra"]
