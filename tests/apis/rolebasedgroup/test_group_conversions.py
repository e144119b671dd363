"""RoleBasedGroups between v1alpha1 and v1alpha2: upstream's rules, and nothing lost either way."""

import json
from copy import deepcopy
from typing import Any

import pytest
from group_builders import component, components, group, leader_worker, standalone, template
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.conversion import ConversionError
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.conversions import convert
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.cluster.objects import Object, annotations_of
from recorded_groups import examples, needs_recording

NEW, OLD = "v1alpha2", "v1alpha1"
STATEFUL = {"apiVersion": "apps/v1", "kind": "StatefulSet"}
OWN = {"apiVersion": "workloads.x-k8s.io/v1alpha2", "kind": "RoleInstanceSet"}


def old_group(*roles: Object, notes: dict[str, str] | None = None, **spec: Any) -> Object:
    found = group(*roles, notes=notes, **spec)
    return {**found, "apiVersion": "workloads.x-k8s.io/v1alpha1"}


def old_role(name: str = "a", **more: Any) -> Object:
    return {"name": name, "replicas": 1, "workload": STATEFUL, "template": template(), **more}


def role_of(obj: Object, index: int = 0) -> Object:
    found: Object = obj["spec"]["roles"][index]
    return found


def drop_empty(obj: Object) -> Object:
    """A server stores no empty annotations."""
    if not obj["metadata"].get("annotations"):
        obj["metadata"].pop("annotations", None)
    return obj


def test_the_workload_becomes_an_annotation_and_comes_back():
    old = old_group(old_role(annotations={"mine": "x"}))
    new = convert(old, NEW)
    assert role_of(new)["annotations"] == {
        "mine": "x",
        "rbg.workloads.x-k8s.io/role-workload-type": "apps/v1/StatefulSet",
    }
    assert role_of(new)["standalonePattern"] == {"template": template()}
    assert "workload" not in role_of(new)
    assert new["apiVersion"] == "workloads.x-k8s.io/v1alpha2"
    assert convert(new, OLD) == drop_empty(old)


def test_leader_and_workers_become_a_pattern():
    pair = {"size": 4, "patchWorkerTemplate": {"spec": {"x": 1}}}
    old = old_group(old_role(leaderWorkerSet=pair, restartPolicy="None"))
    assert role_of(convert(old, NEW))["leaderWorkerPattern"] == {
        "size": 4,
        "workerTemplatePatch": {"spec": {"x": 1}},
        "template": template(),
        "restartPolicyConfig": {"type": "None", "baseDelaySeconds": 30, "maxDelaySeconds": 600},
    }


def test_a_role_without_a_template_is_read_with_an_empty_base():
    worker = template("worker:1")
    pair = {"size": 2, "patchLeaderTemplate": template("leader:1"), "patchWorkerTemplate": worker}
    role = old_role(leaderWorkerSet=pair)
    del role["template"]
    found = read_spec(convert(old_group(role), NEW)).roles[0]
    images = [c.template["spec"]["containers"][0]["image"] for c in found.components]
    assert images == ["leader:1", "worker:1"]


def test_components_and_shared_templates_are_moved():
    listed = [{"name": "x", "size": 2, "template": template()}]
    reference = {"templateRef": {"name": "t"}, "templatePatch": {"spec": {}}}
    first = old_role("a", components=listed)
    second = {k: v for k, v in old_role("b").items() if k != "template"} | reference
    new = convert(old_group(first, second), NEW)
    assert role_of(new)["customComponentsPattern"]["components"] == listed
    wanted = {"templateRef": {"name": "t", "patch": {"spec": {}}}}
    assert role_of(new, 1)["standalonePattern"] == wanted


def test_the_gang_policy_becomes_annotations():
    old = old_group(old_role(), podGroupPolicy={"kubeScheduling": {"scheduleTimeoutSeconds": 90}})
    notes = annotations_of(convert(old, NEW))
    assert notes[labels.GANG] == "true" and notes[labels.GANG_TIMEOUT] == "90"
    twin = "conversion.workloads.x-k8s.io/v1alpha1-pod-group-policy"
    assert json.loads(notes[twin]) == {"kubeScheduling": {"scheduleTimeoutSeconds": 90}}
    volcano = {"volcanoScheduling": {"queue": "q", "priorityClassName": "p"}}
    notes = annotations_of(convert(old_group(old_role(), podGroupPolicy=volcano), NEW))
    assert (notes[labels.GANG_QUEUE], notes[labels.GANG_PRIORITY]) == ("q", "p")


def test_exclusive_topology_is_copied_to_its_present_key():
    old = old_group(old_role(), notes={labels.OLD_EXCLUSIVE_TOPOLOGY: "rack"})
    new = convert(old, NEW)
    assert annotations_of(new)[labels.EXCLUSIVE_TOPOLOGY] == "rack"
    assert convert(new, OLD) == old


def test_what_a_user_set_in_v1alpha2_survives_a_client_of_v1alpha1_20():
    """Defect 20: reading and writing v1alpha1 strips gangs and exclusive topology."""
    notes = {labels.GANG: "true", labels.GANG_QUEUE: "q", labels.EXCLUSIVE_TOPOLOGY: "rack"}
    new = group(standalone("a", podManagementPolicy="Parallel"), notes=notes)
    old = convert(new, OLD)
    assert annotations_of(old) == notes
    assert convert(old, NEW) == new


def test_a_live_annotation_that_was_removed_stays_removed():
    new = convert(old_group(old_role(), podGroupPolicy={"kubeScheduling": {}}), NEW)
    del new["metadata"]["annotations"][labels.GANG]
    assert convert(convert(new, OLD), NEW) == new


def test_a_live_annotation_that_was_edited_is_seen_in_v1alpha1():
    new = convert(old_group(old_role(), podGroupPolicy={"kubeScheduling": {}}), NEW)
    new["metadata"]["annotations"][labels.GANG_TIMEOUT] = "5"
    old = convert(new, OLD)
    assert annotations_of(old) == {labels.GANG_TIMEOUT: "5"}
    assert convert(old, NEW) == new


def test_an_edit_of_the_gang_policy_in_v1alpha1_wins():
    new = convert(old_group(old_role(), podGroupPolicy={"kubeScheduling": {}}), NEW)
    del new["metadata"]["annotations"][labels.GANG]
    old = convert(new, OLD)
    old["spec"]["podGroupPolicy"] = {"kubeScheduling": {"scheduleTimeoutSeconds": 5}}
    notes = annotations_of(convert(old, NEW))
    assert (notes[labels.GANG], notes[labels.GANG_TIMEOUT]) == ("true", "5")


RICH = group(
    {
        **leader_worker(
            "e",
            sharedServiceSelection="All",
            restartPolicyConfig={"type": "None", "baseDelaySeconds": 1, "maxDelaySeconds": 9},
        ),
        "podManagementPolicy": "OrderedReady",
        "scalingAdapter": {"enable": True, "labels": {"l": "1"}},
    },
    {
        **components("c", component("x", labels={"l": "1"}, annotations={"n": "2"})),
        "podManagementPolicy": "Parallel",
    },
)


def test_what_v1alpha1_lacks_travels_in_an_annotation():
    old = convert(RICH, OLD)
    assert "podManagementPolicy" not in str(old["spec"])
    kept = json.loads(annotations_of(old)["conversion.workloads.x-k8s.io/v1alpha2-fields"])
    assert kept["roles"]["e"]["podManagementPolicy"] == "OrderedReady"
    assert kept["roles"]["c"]["components"] == {
        "x": {"labels": {"l": "1"}, "annotations": {"n": "2"}}
    }
    assert "whole" not in str(kept)
    assert convert(old, NEW) == drop_empty(deepcopy(RICH))


def test_an_object_that_says_nothing_special_carries_nothing():
    new = group(
        standalone("a", podManagementPolicy="Parallel"),
        {**leader_worker("b"), "podManagementPolicy": "Parallel"},
    )
    assert annotations_of(convert(new, OLD)) == {}
    assert annotations_of(convert(old_group(old_role(workload=OWN)), NEW)) == {}


def test_a_workload_that_is_named_though_it_is_the_default_stays_named():
    kind = "workloads.x-k8s.io/v1alpha2/RoleInstanceSet"
    notes = {"annotations": {labels.WORKLOAD_TYPE: kind}, "podManagementPolicy": "Parallel"}
    new = drop_empty(group(standalone("a", **notes)))
    old = convert(new, OLD)
    kept = json.loads(annotations_of(old)[labels.KEPT_FIELDS])
    assert kept == {"roles": {"a": {"namesWorkload": True}}}
    assert convert(old, NEW) == new


def test_edits_in_v1alpha1_win_over_what_is_carried():
    old = convert(RICH, OLD)
    old["spec"]["roles"][0]["restartPolicy"] = "RecreateRoleInstanceOnPodRestart"
    old["spec"]["roles"][0]["scalingAdapter"] = {"enable": False}
    old["spec"]["roles"][1]["components"][0]["name"] = "y"
    first, second = convert(old, NEW)["spec"]["roles"]
    assert first["leaderWorkerPattern"]["restartPolicyConfig"] == {
        "type": "RecreateRoleInstanceOnPodRestart",
        "baseDelaySeconds": 1,
        "maxDelaySeconds": 9,
    }
    assert first["scalingAdapter"]["enable"] is False
    assert "labels" not in second["customComponentsPattern"]["components"][0]


def test_a_whole_role_that_was_carried_counts_until_it_is_edited():
    strange = {"name": "a", "replicas": 1, "standalonePattern": {}, "customComponentsPattern": {}}
    old = convert(group(strange), OLD)
    assert "whole" in str(annotations_of(old))
    assert role_of(convert(old, NEW)) == strange
    old["spec"]["roles"][0]["replicas"] = 5
    assert role_of(convert(old, NEW))["replicas"] == 5


def test_recreate_of_v1alpha1_stays_recreate_3():
    """Defect 3: the word of v1alpha1 was taken for an update in place."""
    update = {"type": "RollingUpdate", "rollingUpdate": {"type": "Recreate"}}
    new = convert(old_group(old_role(rolloutStrategy=update)), NEW)
    assert read_spec(new).roles[0].rollout.type == "RecreatePod"


def test_what_a_user_removes_in_v1alpha1_leaves_the_template_of_a_set():
    """Groups of the set stayed gangs, and stayed under the policy, if the template had a label."""
    gang = {"kubeScheduling": {"scheduleTimeoutSeconds": 30}}
    bound = {"podGroupPolicy": gang, "coordination": [{"name": "c", "roles": ["a"]}]}
    spec = {"template": {"roles": [old_role()], **bound}}
    head = {"apiVersion": "workloads.x-k8s.io/v1alpha1", "kind": "RoleBasedGroupSet"}
    stored = convert({**head, "metadata": {"name": "s"}, "spec": spec}, NEW)
    stored["spec"]["groupTemplate"]["labels"] = {"app": "chat"}
    stored["spec"]["groupTemplate"]["annotations"]["mine"] = "kept"
    found = convert(stored, OLD)
    for field in bound:
        del found["spec"]["template"][field]
    template = convert(found, NEW)["spec"]["groupTemplate"]
    assert template["annotations"] == {"mine": "kept"}
    assert template["labels"] == {"app": "chat"}


def test_a_set_passes_annotations_on_to_its_groups():
    spec = {
        "replicas": 2,
        "template": {"roles": [old_role()], "podGroupPolicy": {"kubeScheduling": {}}},
    }
    notes = {labels.OLD_EXCLUSIVE_TOPOLOGY: "rack"}
    head = {"apiVersion": "workloads.x-k8s.io/v1alpha1", "kind": "RoleBasedGroupSet"}
    old = {**head, "metadata": {"name": "s", "annotations": notes}, "spec": spec}
    new = convert(old, NEW)
    inner = new["spec"]["groupTemplate"]
    assert inner["annotations"][labels.GANG] == "true"
    assert inner["annotations"][labels.EXCLUSIVE_TOPOLOGY] == "rack"
    assert inner["spec"]["roles"][0]["standalonePattern"] == {"template": template()}
    assert convert(new, OLD) == old


def test_kinds_that_are_the_same_only_change_their_version():
    adapter = {"kind": "RoleBasedGroupScalingAdapter", "spec": {"replicas": 1}}
    assert convert(adapter, OLD) == {**adapter, "apiVersion": "workloads.x-k8s.io/v1alpha1"}
    with pytest.raises(ConversionError, match="Pod has no version v1alpha1"):
        convert({"kind": "Pod"}, OLD)


TEXT = st.sampled_from(["", "a", "b"])
MAPS = st.dictionaries(TEXT, TEXT, max_size=2)
RAW = st.dictionaries(TEXT, st.integers(-1, 1) | MAPS, max_size=2)
POLICY = st.sampled_from(["None", "RecreateRoleInstanceOnPodRestart", "RecreateRBGOnPodRestart"])


def fields(**known: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries({}, optional=known)


COMMON = {
    "labels": MAPS,
    "annotations": MAPS,
    "replicas": st.integers(0, 3),
    "dependencies": st.lists(TEXT, max_size=2),
    "rolloutStrategy": fields(type=TEXT, rollingUpdate=fields(type=TEXT, paused=st.booleans())),
    "unknown": RAW,
}
OLD_ROLES = fields(
    **COMMON,
    scalingAdapter=fields(enable=st.booleans()),
    workload=st.sampled_from([{}, STATEFUL, OWN, {"apiVersion": "", "kind": "X"}]),
    template=RAW,
    templateRef=st.fixed_dictionaries({"name": TEXT}),
    templatePatch=RAW,
    leaderWorkerSet=fields(size=st.integers(1, 3), patchLeaderTemplate=RAW),
    components=st.lists(fields(name=TEXT, size=st.integers(0, 2)), max_size=2),
    restartPolicy=POLICY,
)
SOURCE = {"template": RAW, "templateRef": fields(name=TEXT, patch=RAW)}
RESTART = {
    "restartPolicy": POLICY,
    "restartPolicyConfig": fields(type=POLICY, baseDelaySeconds=st.integers(0, 30)),
}
NEW_COMPONENT = fields(name=TEXT, size=st.integers(0, 2), labels=MAPS, annotations=MAPS)
TYPES = st.sampled_from(["apps/v1/StatefulSet", "workloads.x-k8s.io/v1alpha2/RoleInstanceSet", "x"])
NEW_ROLES = fields(
    **{**COMMON, "annotations": fields(**{"a": TEXT, labels.WORKLOAD_TYPE: TYPES})},
    scalingAdapter=fields(enable=st.booleans(), labels=MAPS),
    podManagementPolicy=st.sampled_from(["Parallel", "OrderedReady"]),
    standalonePattern=fields(**SOURCE),
    leaderWorkerPattern=fields(
        **SOURCE,
        **RESTART,
        size=st.integers(1, 3),
        sharedServiceSelection=TEXT,
        workerTemplatePatch=RAW,
    ),
    customComponentsPattern=fields(components=st.lists(NEW_COMPONENT, max_size=2), **RESTART),
)
OLD_NOTES = {
    "mine": TEXT,
    labels.GANG: st.sampled_from(["true", "false"]),
    labels.GANG_TIMEOUT: st.sampled_from(["60", "5"]),
    labels.EXCLUSIVE_TOPOLOGY: TEXT,
    labels.OLD_EXCLUSIVE_TOPOLOGY: TEXT,
}
# Keys of conversion are ours in v1alpha1; only an object of v1alpha2 has them.
NOTES = fields(
    **OLD_NOTES,
    **{
        labels.OLD_GANG_POLICY: st.sampled_from(['{"kubeScheduling": {}}', "{}", "?"]),
        labels.OLD_COORDINATION: st.sampled_from(["[]", '[{"name":"r"}]', "null"]),
    },
)
OLD_SPEC = fields(
    podGroupPolicy=st.sampled_from(
        [{}, {"kubeScheduling": {}}, {"volcanoScheduling": {"queue": "q"}}]
    ),
    coordination=st.lists(fields(name=TEXT), max_size=1),
)


def named(roles: list[Object]) -> list[Object]:
    return [{"name": f"r{index}", **role} for index, role in enumerate(roles)]


@given(st.lists(OLD_ROLES, max_size=2), fields(**OLD_NOTES), OLD_SPEC)
def test_v1alpha1_comes_back_as_it_was(roles, notes, spec):
    old = drop_empty(old_group(*named(roles), notes=notes, **spec))
    assert convert(convert(old, NEW), OLD) == old


@given(st.lists(NEW_ROLES, max_size=2), NOTES)
def test_v1alpha2_comes_back_as_it_was(roles, notes):
    new = drop_empty(group(*named(roles), notes=notes))
    assert convert(convert(new, OLD), NEW) == new


@given(st.lists(NEW_ROLES, max_size=1), NOTES, fields(labels=MAPS, annotations=NOTES))
def test_sets_come_back_as_they_were(roles, notes, more):
    inner = {"roles": named(roles)}
    head = {"apiVersion": "workloads.x-k8s.io/v1alpha2", "kind": "RoleBasedGroupSet"}
    spec = {"replicas": 1, "groupTemplate": {**more, "spec": inner}}
    new = drop_empty({**head, "metadata": {"name": "s", "annotations": notes}, "spec": spec})
    assert convert(convert(new, OLD), NEW) == new


@given(st.lists(OLD_ROLES, max_size=1), fields(**OLD_NOTES), OLD_SPEC)
def test_sets_of_v1alpha1_come_back_as_they_were(roles, notes, more):
    head = {"apiVersion": "workloads.x-k8s.io/v1alpha1", "kind": "RoleBasedGroupSet"}
    spec = {"replicas": 1, "template": {**more, "roles": named(roles)}}
    old = drop_empty({**head, "metadata": {"name": "s", "annotations": notes}, "spec": spec})
    assert convert(convert(old, NEW), OLD) == old


@needs_recording
@pytest.mark.parametrize(
    ("source", "found"),
    [(s, o) for s, o in examples() if o.get("kind") in ("RoleBasedGroup", "RoleBasedGroupSet")],
)
def test_every_example_comes_back_as_it_was(source: str, found: Object):
    had = found["apiVersion"].partition("/")[2]
    other = OLD if had == NEW else NEW
    assert convert(convert(found, other), had) == found
