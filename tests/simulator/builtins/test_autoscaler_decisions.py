"""What an autoscaler decides, as a value: counts, windows, policies, and what it says."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.simulator.builtins.autoscalers.decision import History, decide, read_tolerance
from kohort.simulator.builtins.autoscalers.proposals import Situation, Tolerance, show_selector
from kohort.simulator.builtins.autoscalers.targets import Pod

CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
REQUESTS = {"main": {"cpu": 500, "memory": 100 * 2**20 * 1000}}
SHARE = "cpu resource utilization (percentage of request)"


def spec(*metrics, least=1, most=100, **more):
    return {"minReplicas": least, "maxReplicas": most, "metrics": list(metrics or (CPU,)), **more}


def situation(count, pods=None, found=None, **notes):
    """A target of so many replicas, with annotations ``metric-NAME``, dashes as underscores."""
    pods = [Pod(f"p{i}", requests=REQUESTS) for i in range(count)] if pods is None else pods
    said = {f"sim.kohort.dev/{k.replace('_', '-', 1)}": v for k, v in notes.items()}
    return Situation(count, count if found is None else found, pods, said)


def conditions(decision):
    return {c.type: (c.is_true, c.reason) for c in decision.conditions}


def test_replicas_follow_the_ratio_of_use_to_target():
    decision = decide(spec(), situation(2, metric_cpu="400m"), History(), 0)
    assert (decision.replicas, decision.reason) == (4, f"{SHARE} above target")
    current = {"averageUtilization": 80, "averageValue": "400m"}
    assert decision.metrics == [
        {"type": "Resource", "resource": {"name": "cpu", "current": current}}
    ]
    assert conditions(decision) == {
        "ScalingActive": (True, "ValidMetricFound"),
        "AbleToScale": (True, "ReadyForNewScale"),
        "ScalingLimited": (False, "DesiredWithinRange"),
    }


def test_use_may_be_given_as_a_share_of_the_request():
    decision = decide(spec(), situation(2, metric_cpu="80%"), History(), 0)
    assert decision.replicas == 4


def test_a_load_is_shared_by_ready_pods():
    pods = [Pod("a", requests=REQUESTS), Pod("b", requests=REQUESTS, is_ready=False)]
    decision = decide(spec(), situation(2, pods, load_cpu="1"), History(), 0)
    assert decision.metrics[0]["resource"]["current"]["averageValue"] == "500m"


def test_a_ratio_near_one_changes_nothing():
    assert decide(spec(), situation(2, metric_cpu="55%"), History(), 0).replicas is None
    assert decide(spec(), situation(2, metric_cpu="56%"), History(), 0).replicas == 3
    tight = replace(situation(2, metric_cpu="55%"), tolerance=Tolerance(0.0, 0.0))
    assert decide(spec(), tight, History(), 0).replicas == 3


def test_of_several_metrics_the_highest_count_is_taken():
    memory = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "80Mi"}}
    metrics = (CPU, {"type": "Resource", "resource": memory})
    seen = situation(2, metric_cpu="80%", metric_memory="90Mi")
    assert decide(spec(*metrics), seen, History(), 0).replicas == 4
    seen = situation(2, metric_cpu="50%", metric_memory="90Mi")
    decision = decide(spec(*metrics), seen, History(), 0)
    assert (decision.replicas, decision.reason) == (3, "memory resource above target")
    assert decision.metrics[1]["resource"]["current"] == {"averageValue": "90Mi"}


def test_a_metric_without_a_value_is_reported():
    decision = decide(spec(), situation(2), History(), 0)
    assert (decision.replicas, decision.is_known) == (None, False)
    assert conditions(decision) == {"ScalingActive": (False, "FailedGetResourceMetric")}
    assert [reason for reason, _ in decision.warnings] == [
        "FailedGetResourceMetric",
        "FailedComputeMetricsReplicas",
    ]
    assert "sim.kohort.dev/metric-cpu" in decision.warnings[0][1]
    assert decision.metrics == [{"type": ""}]


def test_a_silent_metric_lets_others_raise_the_count_and_never_lower_it():
    queue = {"metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "5"}}
    metrics = (CPU, {"type": "Pods", "pods": queue})
    assert decide(spec(*metrics), situation(2, metric_cpu="80%"), History(), 0).replicas == 4
    decision = decide(spec(*metrics), situation(2, metric_cpu="10%"), History(), 0)
    assert conditions(decision) == {"ScalingActive": (False, "FailedGetPodsMetric")}


@pytest.mark.parametrize(
    ("kind", "source", "notes", "replicas", "name"),
    [
        (
            "Pods",
            {"metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "5"}},
            {"metric_q": "10"},
            6,
            "pods metric q",
        ),
        (
            "ContainerResource",
            {"name": "cpu", "container": "main", "target": {"averageUtilization": 50}},
            {"metric_cpu.main": "400m", "metric_cpu": "1m"},
            5,
            "cpu container resource utilization (percentage of request)",
        ),
        (
            "Object",
            {
                "describedObject": {"kind": "Service", "name": "front"},
                "metric": {"name": "hits"},
                "target": {"type": "Value", "value": "100"},
            },
            {"metric_hits": "150"},
            5,
            "Service metric hits",
        ),
        (
            "External",
            {"metric": {"name": "lag"}, "target": {"type": "AverageValue", "averageValue": "10"}},
            {"metric_lag": "35"},
            4,
            "external metric lag(nil)",
        ),
        (
            "External",
            {"metric": {"name": "a/lag"}, "target": {"type": "Value", "value": "10"}},
            {"metric_a_lag": "15"},
            5,
            "external metric a/lag(nil)",
        ),
    ],
)
def test_every_type_of_metric_scales(kind, source, notes, replicas, name):
    metric = {"type": kind, kind[0].lower() + kind[1:]: source}
    decision = decide(spec(metric), situation(3, **notes), History(), 0)
    assert (decision.replicas, decision.reason) == (replicas, f"{name} above target")
    assert decision.metrics[0]["type"] == kind


@pytest.mark.parametrize(
    ("target", "replicas"),
    [
        ({"type": "Value", "value": "100"}, 5),
        ({"type": "AverageValue", "averageValue": "30"}, 5),
        ({"type": "Value", "averageValue": "30"}, None),
        ({"type": "Utilization", "value": "100"}, None),
    ],
)
def test_the_target_of_an_object_is_of_the_type_that_it_names(target, replicas):
    described = {"kind": "Service", "name": "front"}
    source = {"describedObject": described, "metric": {"name": "hits"}, "target": target}
    metric = {"type": "Object", "object": source}
    decision = decide(spec(metric), situation(3, metric_hits="150"), History(), 0)
    assert decision.replicas == replicas
    assert decision.is_known == (replicas is not None)


@pytest.mark.parametrize("amount", ["1e4000", "9" * 30, "9999999%"])
@pytest.mark.parametrize("name", ["cpu", "lag"])
def test_amounts_beyond_all_measure_are_bounded(name, amount):
    target = {"type": "AverageValue", "averageValue": "1n"}
    external = {"type": "External", "external": {"metric": {"name": "lag"}, "target": target}}
    seen = situation(3, **{f"metric_{name}": amount})
    decision = decide(spec(CPU if name == "cpu" else external), seen, History(), 0)
    if decision.is_known:
        assert decision.replicas == 6
        shown = decision.metrics[0].get("resource", {}).get("current", {})
        assert shown.get("averageUtilization", 0) < 2**31


def test_a_tolerance_beyond_all_measure_holds_the_count():
    wide = spec(behavior={"scaleUp": {"tolerance": "1e400"}})
    seen = replace(situation(3, metric_cpu="200%"), tolerance=read_tolerance(wide))
    assert decide(wide, seen, History(), 0).replicas is None


def test_a_container_metric_takes_the_metric_of_the_pod_where_it_has_none():
    source = {"name": "cpu", "container": "main", "target": {"averageValue": "100m"}}
    metric = {"type": "ContainerResource", "containerResource": source}
    assert decide(spec(metric), situation(2, metric_cpu="200m"), History(), 0).replicas == 4


def test_limits_are_kept_before_metrics_are_looked_at():
    above = decide(spec(most=3), situation(5), History(), 0)
    assert (above.replicas, above.reason) == (
        3,
        "Current number of replicas above Spec.MaxReplicas",
    )
    below = decide(spec(least=2), situation(1), History(), 0)
    assert (below.replicas, below.reason) == (
        2,
        "Current number of replicas below Spec.MinReplicas",
    )


def test_a_target_of_no_replicas_is_left_alone():
    decision = decide(spec(), situation(0, metric_cpu="80%"), History(), 0)
    assert decision.replicas is None
    assert conditions(decision) == {"ScalingActive": (False, "ScalingDisabled")}


def test_a_count_beyond_the_limits_is_cut():
    decision = decide(spec(most=3), situation(2, metric_cpu="400%"), History(), 0)
    assert decision.replicas == 3
    assert conditions(decision)["ScalingLimited"] == (True, "TooManyReplicas")
    decision = decide(spec(), situation(2, metric_cpu="400%"), History(), 0)
    assert decision.replicas == 4
    assert conditions(decision)["ScalingLimited"] == (True, "ScaleUpLimit")


def test_a_decrease_waits_for_five_minutes():
    history = decide(spec(), situation(4, metric_cpu="50%"), History(), 0).history
    held = decide(spec(), situation(4, metric_cpu="10%"), history, 300)
    assert held.replicas is None
    assert conditions(held)["AbleToScale"] == (True, "ScaleDownStabilized")
    late = decide(spec(), situation(4, metric_cpu="10%"), history, 301)
    assert (late.replicas, late.reason) == (1, "All metrics below target")


def test_windows_of_behavior_hold_changes_back():
    rules = {"stabilizationWindowSeconds": 60, "policies": [percent(1000)]}
    behavior = {"scaleUp": rules, "scaleDown": {"stabilizationWindowSeconds": 0}}
    history = decide(spec(behavior=behavior), situation(2, metric_cpu="50%"), History(), 0).history
    held = decide(spec(behavior=behavior), situation(2, metric_cpu="100%"), history, 59)
    assert held.replicas is None
    assert conditions(held)["AbleToScale"] == (True, "ScaleUpStabilized")
    assert (
        decide(spec(behavior=behavior), situation(2, metric_cpu="100%"), history, 60).replicas == 4
    )


def percent(value, period=15):
    return {"type": "Percent", "value": value, "periodSeconds": period}


def pods(value, period=15):
    return {"type": "Pods", "value": value, "periodSeconds": period}


@pytest.mark.parametrize(
    ("choice", "up", "down"), [("Max", 20, 4), ("Min", 12, 8), ("Disabled", None, None)]
)
def test_policies_bound_the_change_within_their_period(choice, up, down):
    rules = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": choice,
        "policies": [pods(2, 60), percent(100 if choice == "Max" else 60, 60)],
    }
    behavior = {"scaleUp": rules, "scaleDown": {**rules, "policies": [pods(2), percent(60)]}}
    asked = spec(behavior=behavior)
    rising = decide(asked, situation(10, metric_cpu="1000%"), History(), 0)
    assert rising.replicas == up
    falling = decide(asked, situation(10, metric_cpu="1%"), History(), 0)
    assert falling.replicas == down
    if up:
        assert conditions(rising)["ScalingLimited"] == (True, "ScaleUpLimit")
        assert conditions(falling)["ScalingLimited"] == (True, "ScaleDownLimit")
        again = decide(
            spec(behavior=behavior), situation(up, metric_cpu="1000%"), rising.history, 59
        )
        assert again.replicas is None


AT_ONCE = {
    "scaleUp": {"stabilizationWindowSeconds": 0, "policies": [percent(1000)]},
    "scaleDown": {"stabilizationWindowSeconds": 0, "policies": [percent(100)]},
}


def ask(share, known, **other):
    """The count that so many pods with a share ask for, beside one that is otherwise."""
    said = {"sim.kohort.dev/metric-cpu": share}
    some = [Pod(f"p{i}", requests=REQUESTS, annotations=said) for i in range(known)]
    some.append(replace(Pod("other", requests=REQUESTS), **other))
    return decide(spec(behavior=AT_ONCE), situation(known + 1, some), History(), 0).replicas


def test_a_pod_of_which_nothing_is_known_counts_as_idle_when_the_count_would_rise():
    assert ask("70%", 3) is None
    assert ask("150%", 3) == 9


def test_a_pod_of_which_nothing_is_known_counts_as_busy_when_the_count_would_fall():
    assert ask("10%", 1) is None
    assert ask("10%", 3) == 3


@pytest.mark.parametrize("other", [{"is_pending": True}, {"is_starting": True}])
def test_a_pod_that_starts_counts_as_idle_when_the_count_would_rise(other):
    said = {"sim.kohort.dev/metric-cpu": "70%"}
    assert ask("70%", 3, annotations=said, **other) is None
    assert ask("10%", 3, annotations=said, **other) == 1


def test_a_pod_that_leaves_is_left_out():
    assert ask("70%", 3, is_ignored=True) == 5


def test_a_pod_without_a_request_has_no_share_of_it():
    bare = [Pod("a", requests={"main": {}})]
    decision = decide(spec(), situation(1, bare, metric_cpu="400m"), History(), 0)
    why = "failed to get cpu utilization: missing request for cpu in container main of Pod a"
    assert decision.warnings[0] == ("FailedGetResourceMetric", why)


def test_an_amount_that_cannot_be_read_is_told():
    decision = decide(spec(), situation(1, metric_cpu="lots"), History(), 0)
    assert (
        "the annotation sim.kohort.dev/metric-cpu is 'lots', which is no amount"
        in (decision.warnings[0][1])
    )


def test_a_selector_is_named_as_go_names_it():
    lines = [{"key": "x", "operator": "NotIn", "values": ["c", "d"]}]
    selector = {"matchLabels": {"topic": "a", "zone": "b"}, "matchExpressions": lines}
    assert show_selector(selector) == (
        "&LabelSelector{MatchLabels:map[string]string{topic: a,zone: b,},MatchExpressions:"
        "[]LabelSelectorRequirement{LabelSelectorRequirement{Key:x,Operator:NotIn,"
        "Values:[c d],},},}"
    )


counts = st.integers(1, 50)
shares = st.integers(0, 2000)
policies = st.lists(
    st.builds(
        lambda kind, value, period: {"type": kind, "value": value, "periodSeconds": period},
        st.sampled_from(["Pods", "Percent"]),
        st.integers(1, 200),
        st.integers(1, 1800),
    ),
    min_size=1,
    max_size=3,
)
rules = st.fixed_dictionaries(
    {"policies": policies},
    optional={
        "stabilizationWindowSeconds": st.integers(0, 3600),
        "selectPolicy": st.sampled_from(["Max", "Min", "Disabled"]),
    },
)
behaviors = st.none() | st.fixed_dictionaries({"scaleUp": rules, "scaleDown": rules})


@given(st.lists(st.tuples(st.integers(1, 900), shares), max_size=12), counts, counts, behaviors)
def test_a_decision_stays_within_the_limits_and_goes_where_metrics_point(
    looks, count, most, behavior
):
    asked = spec(least=1, most=most, behavior=behavior)
    history, now = History(), 0.0
    for seconds, share in looks:
        now += seconds
        decision = decide(asked, situation(count, metric_cpu=f"{share}%"), history, now)
        history = decision.history
        if decision.replicas is None:
            continue
        assert 1 <= decision.replicas <= most
        assert decision.replicas != count
        if count <= most and behavior is not None:
            is_rising = decision.replicas > count
            sides = behavior["scaleUp"] if is_rising else behavior["scaleDown"]
            assert sides.get("selectPolicy") != "Disabled"
        count = decision.replicas


@given(shares, counts, behaviors)
def test_load_that_stays_the_same_leads_to_rest(share, count, behavior):
    """A load that all pods share asks for one count, whatever the windows and policies are."""
    asked = spec(most=60, behavior=behavior)
    total = f"{share * 5 * count}m"
    history, seen = History(), []
    for turn in range(200):
        decision = decide(asked, situation(count, load_cpu=total), history, turn * 1800.0)
        history = decision.history
        count = decision.replicas or count
        seen.append(count)
    assert len(set(seen[-5:])) == 1


@given(counts, shares, shares)
def test_more_use_never_asks_for_fewer_replicas(count, one, other):
    def ask(share):
        seen = situation(count, metric_cpu=f"{share}%")
        return decide(spec(most=1000), seen, History(), 0).replicas or count

    assert ask(min(one, other)) <= ask(max(one, other))
