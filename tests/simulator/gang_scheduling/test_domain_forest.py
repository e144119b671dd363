"""Domains: who belongs where, and what is no forest."""

import pytest
from gang_builders import hypernode, labelled, matching, named, racks

from kohort.placement.forest import ROOT, ROOT_NAME, Forest, build_forest, build_label_forest
from kohort.placement.hypernodes import read_hypernode

NODES = {f"node-{at}": {"rack": f"r{at // 2}", "zone": f"z{at // 4}"} for at in range(8)}


def forest(*objects: dict) -> Forest:
    return build_forest((read_hypernode(obj) for obj in objects), NODES)


def names(made: Forest, node: str) -> list[str]:
    return [made.names[domain] for domain in made.chain(node)]


def test_without_hypernodes_the_root_has_tier_one():
    made = forest()
    assert (made.top, names(made, "node-0")) == (1, [ROOT_NAME])


def test_the_root_stands_one_tier_above_the_highest():
    made = forest(*racks(["node-0", "node-1"], ["node-2"]))
    assert made.top == 3
    assert names(made, "node-0") == ["rack-0", "spine", ROOT_NAME]


def test_a_node_in_no_domain_hangs_on_the_root():
    assert names(forest(*racks(["node-0"])), "node-7") == [ROOT_NAME]


@pytest.mark.parametrize("member", [matching("^node-[01]$"), labelled(rack="r0")])
def test_members_are_found_by_pattern_and_by_label(member: dict):
    made = forest(hypernode("here", 1, member))
    assert [node for node in NODES if names(made, node)[0] == "here"] == ["node-0", "node-1"]


def test_a_pattern_is_found_anywhere_in_the_name():
    assert names(forest(hypernode("here", 1, matching("7"))), "node-7")[0] == "here"


def test_labels_that_ask_for_nothing_choose_nothing():
    assert names(forest(hypernode("here", 1, labelled())), "node-0") == [ROOT_NAME]


def test_tier_zero_may_hold_one_node_each():
    hosts = [hypernode(f"host-{at}", 0, named(f"node-{at}")) for at in range(2)]
    rack = hypernode("rack", 1, *(named(f"host-{at}", "HyperNode") for at in range(2)))
    made = forest(*hosts, rack)
    assert names(made, "node-1") == ["host-1", "rack", ROOT_NAME]
    assert made.tiers[made.find_common(["node-0", "node-1"])] == 1


def test_a_second_parent_is_an_error():
    inner = hypernode("inner", 1, named("node-0"))
    outer = [hypernode(name, 2, named("inner", "HyperNode")) for name in ("a", "b")]
    assert forest(inner, *outer).errors == ("HyperNode inner belongs to both a and b",)


def test_a_circle_is_an_error():
    made = forest(
        hypernode("a", 1, named("b", "HyperNode")), hypernode("b", 2, named("a", "HyperNode"))
    )
    assert len(made.errors) == 1


def test_a_child_as_wide_as_its_parent_is_an_error():
    made = forest(hypernode("a", 1, named("b", "HyperNode")), hypernode("b", 1, named("node-0")))
    assert made.errors == ("HyperNode b of tier 1 cannot belong to a of tier 1",)


def test_a_node_in_two_domains_that_are_not_nested_is_an_error():
    made = forest(hypernode("a", 1, named("node-0")), hypernode("b", 1, named("node-0")))
    assert made.errors == ("node node-0 belongs to both a and b",)


def test_a_wrong_pattern_is_an_error_and_a_missing_member_is_none():
    assert len(forest(hypernode("a", 1, matching("["))).errors) == 1
    assert forest(hypernode("a", 1, named("nowhere"), named("b", "HyperNode"))).errors == ()


def test_the_common_domain_is_the_smallest_that_holds_all():
    made = forest(*racks(["node-0", "node-1"], ["node-2"]))
    found = [
        made.find_common(nodes)
        for nodes in ([], ["node-0", "node-1"], ["node-0", "node-2"], ["node-0", "node-7"])
    ]
    assert found == [None, made.numbers["rack-0"], made.numbers["spine"], ROOT]


def test_label_levels_nest_and_the_narrowest_is_tier_one():
    made = build_label_forest(["zone", "rack"], NODES)
    assert names(made, "node-3") == ["z0/r1", "z0", ROOT_NAME]
    assert (made.find_tier("rack"), made.find_tier("zone"), made.top) == (1, 2, 3)


def test_a_node_without_the_narrow_label_belongs_to_the_broad_domain():
    made = build_label_forest(["zone", "rack"], {"n": {"zone": "z0"}, "m": {"rack": "r0"}})
    assert names(made, "n") == ["z0", ROOT_NAME]
    assert names(made, "m") == [ROOT_NAME]


def test_a_label_for_each_node_is_tier_zero():
    nodes = {name: {**labels, "kubernetes.io/hostname": name} for name, labels in NODES.items()}
    made = build_label_forest(["rack", "kubernetes.io/hostname"], nodes)
    assert (made.find_tier("kubernetes.io/hostname"), made.find_tier("rack"), made.top) == (0, 1, 2)
