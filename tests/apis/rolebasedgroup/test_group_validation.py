"""What is refused of RoleBasedGroups and their kin, and what is warned of."""

import pytest
from group_builders import component, components, group, leader_worker, standalone, template

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.admission.smaller_kinds import (
    validate_adapter,
    validate_instance_set,
    validate_policy,
)
from kohort.apis.rolebasedgroup.admission.validation import validate_group, validate_group_set
from kohort.apis.rolebasedgroup.admission.warnings import (
    warn_group,
    warn_group_set,
    warn_instance_set,
)
from kohort.cluster.objects import Object


def texts(errors) -> list[str]:
    return [str(error) for error in errors]


def rolling(**fields) -> Object:
    return {"rolloutStrategy": {"rollingUpdate": fields}}


def typed(kind: str) -> Object:
    return {"annotations": {labels.WORKLOAD_TYPE: kind}}


def test_a_good_group_is_let_pass():
    good = group(
        standalone("a", 3, **rolling(maxUnavailable="50%", partition=2)), leader_worker("b")
    )
    assert validate_group(good) == []
    assert warn_group(good) == []


def test_a_name_with_a_dot_is_refused():
    (error,) = validate_group(group(standalone("a"), name="my.group"))
    assert str(error).startswith('metadata.name: Invalid value: "my.group": a lowercase RFC 1123')


@pytest.mark.parametrize(
    ("replicas", "fields", "path"),
    [
        (3, {"maxUnavailable": "10%"}, "maxUnavailable"),
        (3, {"maxUnavailable": 0}, "maxUnavailable"),
        (3, {"maxUnavailable": "0%", "maxSurge": "0%"}, "maxUnavailable"),
        (3, {"partition": 3}, "partition"),
        (3, {"partition": "100%"}, "partition"),
        (3, {"partition": "67%"}, "partition"),
        (3, {"maxSurge": "many"}, "maxSurge"),
        (3, {"maxUnavailable": -1}, "maxUnavailable"),
    ],
)
def test_a_rollout_that_cannot_go_on_is_refused(replicas: int, fields: Object, path: str):
    found = validate_group(group(standalone("a", replicas, **rolling(**fields))))
    wanted = f"spec.roles[0].rolloutStrategy.rollingUpdate.{path}"
    assert wanted in [error.path for error in found]


@pytest.mark.parametrize(
    ("replicas", "fields"),
    [
        (0, {"maxUnavailable": "10%", "partition": 5}),
        (3, {"maxUnavailable": "10%", "maxSurge": "1%"}),
        (3, {"maxUnavailable": "34%"}),
        (3, {"partition": "66%"}),
        (3, {}),
    ],
)
def test_a_rollout_that_can_is_let_pass(replicas: int, fields: Object):
    assert validate_group(group(standalone("a", replicas, **rolling(**fields)))) == []


def test_kinds_that_are_switched_off_are_refused_at_every_write():
    old = group(standalone("a", **typed("apps/v1/Deployment")))
    assert validate_group(old) == []
    (error,) = validate_group(old, old, allows_deprecated=False)
    assert "apps/v1/Deployment is deprecated and switched off" in str(error)
    own = group(standalone("a", **typed("workloads.x-k8s.io/v1alpha2/RoleInstanceSet")))
    assert validate_group(own, allows_deprecated=False) == []


def test_a_kind_that_is_not_supported_is_refused():
    (error,) = validate_group(group(standalone("a", **typed("batch/v1/Job"))))
    assert 'Unsupported value: "batch/v1/Job"' in str(error)


def test_cycles_and_unknown_dependencies_are_refused():
    circle = group(standalone("a", dependencies=["b"]), standalone("b", dependencies=["a"]))
    (error,) = validate_group(circle)
    assert "cycle detected in role dependencies: a -> b -> a" in str(error)
    (error,) = validate_group(group(standalone("a", dependencies=["x"])))
    assert error.path == "spec.roles[0]" and "which is no role" in str(error)


def test_a_rule_of_ours_does_not_lock_an_object_that_broke_it_before():
    bad = group(standalone("a", dependencies=["x"]))
    assert validate_group(bad, bad) == []
    more = group(standalone("a", dependencies=["x"]), standalone("b", dependencies=["y"]))
    assert [error.path for error in validate_group(more, bad)] == ["spec.roles[1]"]


def test_templates_that_do_not_exist_and_names_that_collide_are_refused():
    role = {"name": "a", "standalonePattern": {"templateRef": {"name": "t", "patch": {}}}}
    assert "'t', which does not exist" in texts(validate_group(group(role)))[0]
    long = group(standalone("decode-a"), standalone("decode-b"), name="g" * 60)
    assert {error.fault.name for error in validate_group(long)} == {"DUPLICATE"}
    twice = [{"name": "t", "template": template()}] * 2
    (error,) = validate_group(group(standalone("a"), roleTemplates=twice))
    assert error.path == "spec.roleTemplates[1].name"


@pytest.mark.parametrize("name", ["A_b", "a.b", "-a", "r" * 50])
def test_a_role_whose_objects_could_not_be_named_after_it_is_refused(name: str):
    """Its Service needs a label of DNS, and the label of its revision has its name as a key."""
    (error,) = validate_group(group(standalone(name)))
    assert error.path == "spec.roles[0].name"
    assert validate_group(group(standalone(name)), group(standalone(name))) == []
    template = {"spec": {"roles": [standalone(name)]}}
    inner = {"metadata": {"name": "s"}, "spec": {"groupTemplate": template}}
    assert [e.path for e in validate_group_set(inner)] == ["spec.groupTemplate.spec.roles[0].name"]


def test_role_names_that_objects_can_have_are_let_pass():
    deployed = standalone("a.b", **typed("apps/v1/Deployment"))
    assert validate_group(group(standalone("r" * 49), standalone("0"), deployed)) == []


def test_two_levels_of_gangs_are_refused():
    notes = {labels.GANG: "true", labels.INSTANCE_GANG: "true"}
    (error,) = validate_group(group(standalone("a"), notes=notes))
    assert error.path == f"metadata.annotations[{labels.GANG}]"


SCALED = {"scalingAdapter": {"enable": True}}


def adapter(replicas: int | None) -> dict[str, Object]:
    return {"m1-a": {"spec": {"replicas": replicas}}}


@pytest.mark.parametrize(
    ("new", "adapters", "is_refused"),
    [
        (group(standalone("a", 5, **SCALED)), adapter(3), True),
        (group(standalone("a", 3, **SCALED)), adapter(3), False),
        (group(standalone("a", 2, image="engine:2", **SCALED)), adapter(3), False),
        (group(standalone("a", 5, **SCALED)), {}, False),
        (group(standalone("a", 5, **SCALED)), adapter(None), False),
        (group(standalone("a", 5)), adapter(3), False),
    ],
)
def test_replicas_that_an_adapter_holds_are_changed_at_the_adapter(new, adapters, is_refused):
    old = group(standalone("a", 2, **SCALED))
    found = validate_group(new, old, adapters)
    assert bool(found) is is_refused
    if found:
        assert "the scaling adapter m1-a holds 3 replicas" in str(found[0])


def group_set(*roles: Object, name: str = "s") -> Object:
    template = {"spec": {"roles": list(roles)}}
    return {"metadata": {"name": name}, "spec": {"replicas": 2, "groupTemplate": template}}


def test_a_set_is_held_to_the_rules_of_its_groups():
    assert validate_group_set(group_set(standalone("a"))) == []
    bad = group_set(standalone("a", 3, dependencies=["x"], **rolling(partition=3)))
    assert [error.path for error in validate_group_set(bad)] == [
        "spec.groupTemplate.spec.roles[0].rolloutStrategy.rollingUpdate.partition",
        "spec.groupTemplate.spec.roles[0]",
    ]
    assert validate_group_set(group_set(standalone("a"), name="x" * 62)) != []
    off = group_set(standalone("a", **typed("apps/v1/StatefulSet")))
    assert validate_group_set(off, allows_deprecated=False) != []


def test_a_policy_that_cannot_be_used_is_refused():
    def policy(strategy: Object, roles=("a", "b"), notes=None) -> Object:
        rule = {"name": "r", "roles": list(roles), "strategy": strategy}
        return {"metadata": {"annotations": notes or {}}, "spec": {"policies": [rule]}}

    assert (
        validate_policy(policy({"rollingUpdate": {"maxSkew": 1}, "scaling": {"maxSkew": "5%"}}))
        == []
    )
    bad = [
        policy({"rollingUpdate": {"maxSkew": "one"}}),
        policy({"scaling": {"maxSkew": -1}}),
        policy({}, roles=("a", "a")),
        policy({"rollingUpdate": {"updateOrder": ["c"]}}),
        policy({"scaling": {"ratio": {"a": 0}}}),
        policy({"scaling": {"ratio": {"c": 1}}}),
        policy({}, notes={labels.RATIO: "[]"}),
    ]
    assert [len(validate_policy(found)) for found in bad] == [1] * len(bad)


def test_a_set_of_instances_made_by_hand_selects_its_own_labels():
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}}
    good = {"metadata": {"labels": {"app": "x"}}, "spec": spec}
    assert validate_instance_set(good) == []
    assert len(validate_instance_set({"metadata": {}, "spec": spec})) == 1
    stuck = {**spec, "updateStrategy": {"maxUnavailable": 0, "maxSurge": 0}}
    assert len(validate_instance_set({**good, "spec": stuck})) == 1
    assert len(validate_instance_set({**good, "spec": {"replicas": -1}})) == 1
    assert len(validate_adapter({"spec": {"replicas": -1}})) == 1
    assert validate_adapter({"spec": {"replicas": 0}}) == []


def test_a_set_by_hand_is_warned_of_what_only_a_group_has():
    template = {"metadata": {"labels": {labels.GROUP_NAME: "x"}}}
    spec = {"roleInstanceTemplate": {"components": [{"name": "a", "template": template}]}}
    metadata = {"annotations": {labels.INSTANCE_GANG: "true"}}
    gang, label = warn_instance_set({"metadata": metadata, "spec": spec})
    assert gang.startswith(f"{labels.INSTANCE_GANG} has no effect on a RoleInstanceSet without")
    assert label.startswith("spec.roleInstanceTemplate.components[0].template: label")
    of_group = {**metadata, "labels": {labels.GROUP_NAME: "x"}}
    assert warn_instance_set({"metadata": of_group, "spec": spec}) == []


def test_a_set_that_a_group_controls_may_be_smaller_than_its_partition():
    spec = {"replicas": 1, "updateStrategy": {"partition": 1}}
    owner = {"kind": "RoleBasedGroup", "name": "x", "uid": "1", "controller": True}
    assert len(validate_instance_set({"metadata": {}, "spec": spec})) == 1
    assert validate_instance_set({"metadata": {"ownerReferences": [owner]}, "spec": spec}) == []


def test_a_role_is_scaled_whatever_its_budget_says():
    role = standalone("a")
    held = group({**role, "replicas": 3, **rolling(partition=1)})
    scaled = group({**role, "replicas": 1, **rolling(partition=1)})
    assert len(validate_group(scaled)) == 1
    assert validate_group(scaled, held) == []
    assert len(validate_group(group({**role, "replicas": 1, **rolling(partition=2)}), held)) == 1


def test_surge_of_a_role_that_a_stateful_set_carries_is_warned_of():
    notes = {labels.WORKLOAD_TYPE: "apps/v1/StatefulSet"}
    asked = rolling(maxUnavailable=0, maxSurge=1)
    (said,) = warn_group(group(standalone("a", 2, annotations=notes, **asked)))
    assert "makes no extra pods" in said
    assert not warn_group(group(standalone("a", 2, **asked)))


LONG = "g" * 42


@pytest.mark.parametrize(
    ("role", "said"),
    [
        (standalone("ten-digits"), f"{LONG}-ten-digits has 53 characters and may have 52"),
        (standalone("ten-digits", **typed("apps/v1/StatefulSet")), "of the role's pods holds that"),
        (
            leader_worker("sevenok", replicas=11)
            | typed("leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"),
            f"{LONG}-sevenok-10 has 53 characters",
        ),
        (
            leader_worker("stateless") | {"annotations": {labels.INSTANCE_PATTERN: "Stateless"}},
            "",
        ),
        (
            leader_worker("stateless-and-long")
            | {"annotations": {labels.INSTANCE_PATTERN: "Stateless"}},
            "-0, with 65 characters, and the API server refuses a host name of more than 63",
        ),
        (
            components("a", component("prefill-workers-1", 11)),
            f"would be named {LONG}-a-0-prefill-workers-1-10, with 67 characters",
        ),
        (standalone("nine-char"), ""),
        (standalone("of-a-deployment", **typed("apps/v1/Deployment")), ""),
    ],
)
def test_a_name_too_long_for_what_is_made_from_it_is_warned_of(role: Object, said: str):
    long = group(role, name=LONG)
    assert validate_group(long) == []
    found = warn_group(long)
    assert [each.startswith("spec.roles[0].name: ") for each in found] == [True] * bool(said)
    assert said in "".join(found)


def test_names_of_groups_that_get_their_own_from_a_set_or_the_server_are_measured():
    generated = group(standalone("ten-digits"))
    generated["metadata"] = {"generateName": "g" * 37}
    assert "has 53 characters" in "".join(warn_group(generated))
    template_of_groups = {"spec": group(standalone("ten-digits"))["spec"]}
    group_set = {"metadata": {"name": "g" * 40}, "spec": {"groupTemplate": template_of_groups}}
    assert validate_group_set(group_set) == []
    (said,) = warn_group_set(group_set)
    assert said.startswith("spec.groupTemplate.spec.roles[0].name: " + "g" * 40 + "-0-ten-digits")


def test_what_is_probably_not_meant_is_warned_of():
    odd = leader_worker("a", restartPolicyConfig={"type": "RecreateRBGOnPodRestart"})
    odd |= rolling(type="Sometimes")
    notes = {labels.OLD_EXCLUSIVE_TOPOLOGY: "rack", labels.GANG: "true"}
    stateless = {"podManagementPolicy": "OrderedReady"}
    stateless["annotations"] = {labels.INSTANCE_PATTERN: "Stateless"}
    taken = standalone("b", **stateless)
    taken["standalonePattern"]["template"]["metadata"] = {"labels": {labels.ROLE_NAME: "x"}}
    found = "\n".join(warn_group(group(odd, taken, notes=notes)))
    for said in (
        f"write {labels.EXCLUSIVE_TOPOLOGY}",
        "pods of a, b name no schedulerName",
        "'Sometimes' is none of",
        "recreates the instance of the pod, not the group",
        f"label {labels.ROLE_NAME} of a template is reserved",
        "stateless instances have no order",
    ):
        assert said in found


def test_the_garbage_collector_may_let_a_set_go_that_is_smaller_than_its_partition():
    """An orphaning delete of the group takes the owner away and changes nothing else."""
    spec = {"replicas": 1, "updateStrategy": {"partition": 1}}
    owner = {"kind": "RoleBasedGroup", "name": "x", "uid": "1", "controller": True}
    old = {"metadata": {"ownerReferences": [owner]}, "spec": spec}
    assert validate_instance_set({"metadata": {}, "spec": spec}, old) == []
    changed = {"replicas": 1, "updateStrategy": {"partition": 1, "maxUnavailable": 1}}
    assert len(validate_instance_set({"metadata": {}, "spec": changed}, old)) == 1
