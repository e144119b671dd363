"""CoordinatedPolicies as rules of planning, ratios, and the coordination of v1alpha1."""

import json

import pytest
from group_builders import group, standalone
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.conversions import convert
from kohort.apis.rolebasedgroup.coordination import (
    PolicyRule,
    couple_replicas,
    list_faults,
    make_policy,
    make_rules,
    narrow_rollout,
    read_policy,
    resolve_partition,
)
from kohort.apis.rolebasedgroup.roles import RolloutSpec
from kohort.cluster.objects import Object, name_of
from kohort.model.policies import Gate, Rule, Skew


def policy(notes: dict[str, str] | None = None, **strategy) -> Object:
    rule = {"name": "even", "roles": ["a", "b"], "strategy": strategy}
    return {"metadata": {"name": "m1", "annotations": notes or {}}, "spec": {"policies": [rule]}}


@pytest.mark.parametrize(
    ("written", "skew"), [(1, Skew(units=1)), ("25%", Skew(share=0.25)), (0, Skew(units=0))]
)
def test_a_skew_is_a_number_or_a_share_11(written, skew: Skew):
    """Defect 11: upstream takes a number for 0%."""
    rules = make_rules(policy(rollingUpdate={"maxSkew": written}))
    assert rules == (Rule("even", ("a", "b"), update_skew=skew),)


def test_growth_waits_for_pods_that_are_placed_unless_it_asks_for_ready_ones():
    (rule,) = make_rules(policy(scaling={"maxSkew": "33%", "progression": "OrderReady"}))
    assert rule == Rule("even", ("a", "b"), scale_skew=Skew(share=0.33), gate=Gate.READY)
    (rule,) = make_rules(policy(scaling={}))
    assert (rule.scale_skew, rule.gate) == (Skew(share=1.0), Gate.SCHEDULED)


def test_an_order_of_updates_is_a_rule_of_its_own():
    wanted = Rule("even", ("b", "a"), is_ordered=True)
    assert make_rules(policy(rollingUpdate={"updateOrder": ["b", "a"]})) == (wanted,)
    noted = policy({labels.UPDATE_ORDER: '{"even": ["b", "a"]}'})
    assert make_rules(noted) == (wanted,)


def test_a_policy_that_says_nothing_makes_no_rule():
    assert make_rules(policy()) == ()
    assert make_rules({}) == ()


@pytest.mark.parametrize(
    ("value", "replicas", "wanted"),
    [("50%", 3, 2), ("99%", 3, 2), ("100%", 3, 3), ("1%", 1, 0), (2, 3, 2), (9, 3, 3), (0, 3, 0)],
)
def test_a_partition_below_all_lets_one_instance_be_updated(value, replicas: int, wanted: int):
    assert resolve_partition(value, replicas) == wanted


def test_a_policy_only_narrows_a_rollout():
    rules = read_policy(policy(rollingUpdate={"maxUnavailable": "25%", "partition": 2}))
    asked = RolloutSpec(partition=1, max_unavailable=3)
    narrowed = narrow_rollout(rules, "a", 8, asked)
    assert (narrowed.partition, narrowed.max_unavailable) == (2, 2)
    strict = RolloutSpec(partition=5, max_unavailable=1)
    assert narrow_rollout(rules, "a", 8, strict) == strict
    assert narrow_rollout(rules, "other", 8, asked) == asked


RATIO = (PolicyRule("r", ("a", "b"), ratio={"a": 2, "b": 1}),)


@pytest.mark.parametrize(
    ("counts", "leaders", "wanted"),
    [
        ({"a": 6, "b": 1}, {"a"}, {"a": 6, "b": 3}),
        ({"a": 5, "b": 1}, {"a"}, {"a": 5, "b": 3}),
        ({"a": 2, "b": 9}, {"a"}, {"a": 2, "b": 1}),
        ({"a": 2, "b": 3}, {"b"}, {"a": 6, "b": 3}),
        ({"a": 2, "b": 3}, {"a", "b"}, {"a": 6, "b": 3}),
        ({"a": 0, "b": 3}, {"a"}, {"a": 0, "b": 0}),
        ({"a": 2, "b": 9}, set(), {"a": 2, "b": 9}),
        ({"a": 2, "b": 9, "c": 4}, {"c"}, {"a": 2, "b": 9, "c": 4}),
    ],
)
def test_a_role_that_an_autoscaler_raises_takes_its_partner_along(counts, leaders, wanted):
    assert couple_replicas(RATIO, counts, frozenset(leaders)) == wanted


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 5), st.integers(1, 5))
def test_the_ratio_holds_to_less_than_one_instance(a: int, b: int, first: int, second: int):
    rules = (PolicyRule("r", ("a", "b"), ratio={"a": first, "b": second}),)
    found = couple_replicas(rules, {"a": a, "b": b}, frozenset({"a"}))
    assert found["a"] == a
    assert 0 <= found["b"] - a * second / first < 1


def test_ratios_are_read_from_the_field_or_the_annotation():
    (by_field,) = read_policy(policy(scaling={"ratio": {"a": 2, "b": 1}}))
    (by_note,) = read_policy(policy({labels.RATIO: '{"even": {"a": 2, "b": 1}}'}))
    assert by_field.ratio == by_note.ratio == {"a": 2, "b": 1}


def test_coordination_of_v1alpha1_becomes_a_policy_with_names_and_order_2():
    """Defect 2: rules without names are refused by the API server, and OrderReady was lost."""
    scaling = {"maxSkew": "10%", "progression": "OrderReady"}
    named = {"name": "pd", "roles": ["a", "b"], "strategy": {"scaling": scaling}}
    bare = {"roles": ["a"], "strategy": {}}
    old = group({"name": "a", "template": {}}, coordination=[named, bare])
    old["apiVersion"] = "workloads.x-k8s.io/v1alpha1"
    made = make_policy(convert(old, "v1alpha2"))
    assert made is not None and name_of(made) == "m1"
    assert [rule["name"] for rule in made["spec"]["policies"]] == ["pd", "rule-1"]
    assert made["spec"]["policies"][0]["strategy"]["scaling"] == scaling
    assert "controller" not in made["metadata"]["ownerReferences"][0]
    assert make_rules(made)[0].gate is Gate.READY


def test_a_group_without_coordination_has_no_policy_of_its_own():
    assert make_policy(group(standalone("a"))) is None
    notes = {labels.OLD_COORDINATION: json.dumps([])}
    assert make_policy(group(standalone("a"), notes=notes)) is None
    assert make_policy(group(standalone("a"), notes={labels.OLD_COORDINATION: "?"})) is None


@pytest.mark.parametrize(
    ("given", "seconds"), [({}, None), ({"rollBackAfterSeconds": 90}, 90.0)], ids=str
)
def test_versions_are_kept_together_by_field_or_annotation(given, seconds):
    wanted = Rule(
        "even", ("a", "b"), update_skew=Skew(units=1), is_together=True, rollback_seconds=seconds
    )
    assert make_rules(policy(rollingUpdate={"versionsTogether": given})) == (wanted,)
    noted = policy({labels.VERSIONS_TOGETHER: json.dumps({"even": given})})
    assert make_rules(noted) == (wanted,)
    (skewed,) = make_rules(policy(rollingUpdate={"versionsTogether": given, "maxSkew": "20%"}))
    assert skewed.update_skew == Skew(share=0.2)


@pytest.mark.parametrize("text", ['{"even": 60}', '{"even": {"rollBackAfterSeconds": 0}}', "[]"])
def test_a_note_on_versions_that_says_nothing_is_refused(text: str):
    (fault,) = list_faults(policy({labels.VERSIONS_TOGETHER: text}))
    assert fault.path == f"metadata.annotations[{labels.VERSIONS_TOGETHER}]"
