"""The spec of a RoleBasedGroup as a value, and what is said of specs that are wrong."""

import pytest
from group_builders import component, components, group, leader_worker, standalone, template
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.api import Snapshot
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.problems import (
    FAILED_WORKLOAD,
    INVALID_DEPENDENCY,
    INVALID_GANG,
    INVALID_TEMPLATE_REF,
    INVALID_TEMPLATES,
)
from kohort.apis.rolebasedgroup.read import read
from kohort.apis.rolebasedgroup.roles import Pattern, RestartSpec
from kohort.apis.rolebasedgroup.spec import GroupSpec, read_set_spec, read_spec
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Object
from kohort.model.policies import Amendment


def read_one(role: Object, **more):
    return read_spec(group(role, **more)).roles[0]


def rolling(**fields):
    return {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": fields}}


def reasons(spec: GroupSpec) -> list[str]:
    return [problem.reason for problem in spec.all_problems]


def test_roles_keep_their_order_and_a_bare_role_has_defaults():
    spec = read_spec(group(standalone("router"), leader_worker("engine"), standalone("decoder")))
    assert [role.name for role in spec.roles] == ["router", "engine", "decoder"]
    bare = read_one({"name": "a", "standalonePattern": {"template": template()}})
    assert (bare.replicas, bare.size, bare.workload) == (1, 1, labels.INSTANCE_SET)
    assert not bare.is_ordered and not bare.adapter.is_enabled and not bare.problems
    assert (bare.rollout.max_unavailable, bare.rollout.max_surge, bare.rollout.partition) == (
        1,
        0,
        0,
    )


def test_a_standalone_role_is_one_component_of_its_own_name():
    role = read_one(standalone("decoder", replicas=3))
    assert role.pattern is Pattern.STANDALONE
    assert [(c.name, c.size) for c in role.components] == [("decoder", 1)]
    assert role.restart == RestartSpec("None", 30, 600)


def test_leader_and_workers_have_templates_merged_by_their_patches():
    patch = {"spec": {"containers": [{"name": "engine", "args": ["worker"]}]}}
    role = read_one(leader_worker("engine", size=4, workerTemplatePatch=patch))
    leader, worker = role.components
    assert (leader.size, worker.size, role.size) == (1, 3, 4)
    assert leader.template == template()
    merged = {"name": "engine", "image": "engine:1", "args": ["worker"]}
    assert worker.template["spec"]["containers"] == [merged]
    assert role.restart.recreates_instance


def test_a_patch_of_the_leader_is_not_one_of_the_workers():
    def patch(image: str) -> Object:
        return {"spec": {"containers": [{"name": "engine", "image": image}], "nodeName": image}}

    role = read_one(leader_worker("e", leaderTemplatePatch=patch("leader:1")))
    images = [c.template["spec"]["containers"][0]["image"] for c in role.components]
    assert images == ["leader:1", "engine:1"]
    assert "nodeName" not in role.components[1].template["spec"]


def test_a_role_template_is_patched_and_stays_as_it_was():
    patch = {"spec": {"containers": [{"name": "engine", "image": "engine:2"}]}}
    role = {"name": "a", "standalonePattern": {"templateRef": {"name": "base", "patch": patch}}}
    found = group(role, roleTemplates=[{"name": "base", "template": template()}])
    made = read_spec(found).roles[0].components[0].template
    assert made["spec"]["containers"] == [{"name": "engine", "image": "engine:2"}]
    assert found["spec"]["roleTemplates"][0]["template"] == template()


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"name": "other", "patch": {}}, "refers to role template 'other', which does not exist"),
        ({"name": "base", "patch": {"spec": {"containers": [{}]}}}, "cannot be applied"),
    ],
)
def test_a_bad_reference_to_a_role_template_is_said(reference: Object, said: str):
    role = {"name": "a", "standalonePattern": {"templateRef": reference}}
    spec = read_spec(group(role, roleTemplates=[{"name": "base", "template": template()}]))
    assert reasons(spec) == [INVALID_TEMPLATE_REF]
    assert said in spec.all_problems[0].message


def test_a_reference_without_a_patch_is_the_template_itself():
    role = {"name": "a", "standalonePattern": {"templateRef": {"name": "base"}}}
    spec = read_spec(group(role, roleTemplates=[{"name": "base", "template": template()}]))
    assert spec.roles[0].components[0].template == template()
    assert spec.all_problems == ()


def test_bad_role_templates_are_said():
    listed = [{"template": template()}, {"name": "a", "template": {}}, {"name": "a"}]
    spec = read_spec(group(standalone("a"), roleTemplates=listed))
    assert reasons(spec) == [INVALID_TEMPLATES] * 3


def test_components_have_their_order_from_their_annotation():
    order = {labels.DEPENDS_ON: '{"startAfter": ["leader"], "deleteAfter": ["router"]}\n'}
    role = read_one(components("p", component("leader"), component("w", 2, annotations=order)))
    assert role.components[1].start_after == ("leader",)
    assert role.size == 3
    broken = components("p", component("leader", annotations={labels.DEPENDS_ON: "leader"}))
    assert reasons(read_spec(group(broken))) == [FAILED_WORKLOAD]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("apps/v1/Deployment", DEPLOYMENT),
        ("apps/v1/StatefulSet", STATEFUL_SET),
        ("leaderworkerset.x-k8s.io/v1/LeaderWorkerSet", labels.LEADER_WORKER_SET),
        ("workloads.x-k8s.io/v1alpha2/RoleInstanceSet", labels.INSTANCE_SET),
        ("workloads.x-k8s.io/v1alpha1/InstanceSet", labels.INSTANCE_SET),
    ],
)
def test_the_annotation_chooses_the_workload(kind: str, wanted):
    assert read_one(standalone("a", annotations={labels.WORKLOAD_TYPE: kind})).workload == wanted


def test_an_unknown_workload_is_said_and_the_role_has_none():
    role = read_one(standalone("a", annotations={labels.WORKLOAD_TYPE: "batch/v1/Job"}))
    assert role.workload is None
    assert role.problems[0].message.startswith("unsupported workload type 'batch/v1/Job'")


@pytest.mark.parametrize(
    ("kind", "amendment"),
    [
        ("", Amendment.IF_POSSIBLE),
        ("InPlaceIfPossible", Amendment.IF_POSSIBLE),
        ("InPlaceOnly", Amendment.ONLY),
        ("RecreatePod", Amendment.NEVER),
        ("Recreate", Amendment.NEVER),
    ],
)
def test_the_type_says_whether_instances_change_in_place_3_17(kind: str, amendment: Amendment):
    """Defects 3 and 17: Recreate was taken for in place, and InPlaceOnly was not enforced."""
    assert read_one(standalone("a", **rolling(type=kind))).rollout.amendment is amendment


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"partition": "50%"}, (1, 1, 0)),
        ({"partition": 9}, (3, 1, 0)),
        ({"maxUnavailable": "10%"}, (0, 1, 0)),
        ({"maxUnavailable": "50%"}, (0, 2, 0)),
        ({"maxUnavailable": "50%", "maxSurge": 1}, (0, 1, 1)),
        ({"maxUnavailable": "10%", "maxSurge": "10%"}, (0, 0, 1)),
        ({"maxUnavailable": 2, "maxSurge": 1}, (0, 2, 1)),
    ],
)
def test_amounts_of_three_instances_are_resolved_as_upstream_does(fields: Object, wanted):
    rollout = read_one(standalone("a", replicas=3, **rolling(**fields))).rollout
    assert (rollout.partition, rollout.max_unavailable, rollout.max_surge) == wanted


@pytest.mark.parametrize(
    ("kind", "pattern", "wanted"),
    [
        ("", "", 1),
        ("", "Stateless", 2),
        ("apps/v1/StatefulSet", "", 2),
        ("leaderworkerset.x-k8s.io/v1/LeaderWorkerSet", "", 2),
    ],
)
def test_a_partition_in_percent_keeps_as_many_instances_as_with_upstream(
    kind: str, pattern: str, wanted: int
):
    notes = {labels.WORKLOAD_TYPE: kind, labels.INSTANCE_PATTERN: pattern}
    role = standalone("a", replicas=3, annotations=notes, **rolling(partition="50%"))
    assert read_one(role).rollout.partition == wanted


def test_paused_grace_and_order_are_read():
    fields = {"paused": True, "inPlaceUpdateStrategy": {"gracePeriodSeconds": 5}}
    role = read_one(standalone("a", podManagementPolicy="OrderedReady", **rolling(**fields)))
    assert role.rollout.is_paused and role.rollout.grace_seconds == 5 and role.is_ordered


def test_a_rollout_that_may_do_nothing_is_said():
    spec = read_spec(group(standalone("a", **rolling(maxUnavailable=0, maxSurge=0))))
    assert reasons(spec) == [FAILED_WORKLOAD]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ({}, ("RecreateRoleInstanceOnPodRestart", 30, 600)),
        ({"restartPolicy": "None"}, ("None", 30, 600)),
        (
            {"restartPolicy": "RecreateRBGOnPodRestart"},
            ("RecreateRoleInstanceOnPodRestart", 30, 600),
        ),
        (
            {
                "restartPolicy": "None",
                "restartPolicyConfig": {"type": "RecreateRoleInstanceOnPodRestart"},
            },
            ("RecreateRoleInstanceOnPodRestart", 30, 600),
        ),
        (
            {"restartPolicyConfig": {"type": "None", "baseDelaySeconds": 1, "maxDelaySeconds": 8}},
            ("None", 1, 8),
        ),
    ],
)
def test_the_config_wins_over_the_former_field_of_restarts(pattern: Object, wanted):
    assert read_one(leader_worker("a", **pattern)).restart == RestartSpec(*wanted)


def test_restarts_wait_twice_as_long_each_time_up_to_a_limit():
    config = {"type": "RecreateRoleInstanceOnPodRestart", "baseDelaySeconds": 30}
    asked = leader_worker("a", restartPolicyConfig={**config, "maxDelaySeconds": 100})
    (role,) = read(Snapshot(group(asked), {})).workload.roles
    assert role.recovery is not None and role.recovery.backoff is not None
    waits = [role.recovery.backoff.wait_seconds(count) for count in (1, 2, 3, 4, 99)]
    assert waits == [0, 30, 60, 100, 100]


def test_the_count_of_restarts_is_kept_for_twice_the_longest_wait():
    policy = RestartSpec("RecreateRoleInstanceOnPodRestart", 30, 600)
    assert policy.reset_seconds == 1200
    assert RestartSpec("", 1, 8).reset_seconds == 600


def test_a_cycle_of_dependencies_is_said_with_its_path():
    spec = read_spec(
        group(
            standalone("a", dependencies=["b"]),
            standalone("b", dependencies=["c"]),
            standalone("c", dependencies=["b"]),
        )
    )
    assert reasons(spec) == [INVALID_DEPENDENCY]
    assert spec.problems[0].message == "cycle detected in role dependencies: b -> c -> b"


def test_a_dependency_on_no_role_is_said_and_a_diamond_is_no_cycle():
    spec = read_spec(group(standalone("a", dependencies=["x"])))
    assert [problem.role for problem in spec.problems] == ["a"]
    diamond = [("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"])]
    found = read_spec(group(*(standalone(name, dependencies=after) for name, after in diamond)))
    assert found.all_problems == ()


def test_gangs_are_read_from_annotations_and_two_levels_exclude_each_other():
    notes = {labels.GANG: "true", labels.GANG_TIMEOUT: "90", labels.GANG_QUEUE: "q"}
    spec = read_spec(group(standalone("a"), notes=notes))
    assert (spec.gang.is_enabled, spec.gang.timeout_seconds, spec.gang.queue) == (True, 90, "q")
    both = read_spec(group(standalone("a"), notes={**notes, labels.INSTANCE_GANG: "true"}))
    assert reasons(both) == [INVALID_GANG]
    assert read_spec(group(standalone("a"))).gang.timeout_seconds == 60


def test_former_nodes_and_runtimes_are_read():
    notes = {labels.IN_PLACE_SCHEDULING: "Required", labels.IN_PLACE_AVOID: "bad, spot"}
    runtimes = [{"profileName": "patio", "containers": [{"name": "x"}]}]
    role = read_one(standalone("a", annotations=notes, engineRuntimes=runtimes))
    assert (role.scheduling.mode, role.scheduling.granularity) == ("Required", "Pod")
    assert role.scheduling.avoided == ("bad", "spot")
    assert role.runtimes[0].profile == "patio"
    stateless = {**notes, labels.INSTANCE_PATTERN: "Stateless"}
    assert read_one(standalone("a", annotations=stateless)).scheduling.granularity == "Component"


def test_a_set_made_by_hand_is_one_role_with_a_tenth_unavailable():
    made = {
        "metadata": {"name": "mine"},
        "spec": {"replicas": 20, "roleInstanceTemplate": {"components": [component("x", 2)]}},
    }
    role = read_set_spec(made)
    assert (role.name, role.replicas, role.size) == ("mine", 20, 2)
    assert role.rollout.max_unavailable == 2
    assert role.pattern is Pattern.COMPONENTS


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
FIELDS = st.sampled_from(
    [
        "name",
        "replicas",
        "standalonePattern",
        "leaderWorkerPattern",
        "customComponentsPattern",
        "rolloutStrategy",
        "dependencies",
        "scalingAdapter",
        "engineRuntimes",
        "annotations",
    ]
)


@given(st.dictionaries(FIELDS, JUNK), JUNK)
def test_reading_never_fails(role: Object, templates):
    spec = read_spec(group(role, roleTemplates=templates))
    assert len(spec.roles) == 1
