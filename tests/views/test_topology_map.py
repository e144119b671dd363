"""The map of a cluster: domains, free GPUs, and who sits where."""

import pytest
from topology_scenes import make_hypernode, make_hypernodes, make_nodes, make_pod, names_in

from kohort.cli.render.topologies import write_map
from kohort.views.topology.atlas import draw_atlas
from kohort.views.topology.map import draw_map


def draw(pods=(), hypernodes=(), nodes=None):
    return draw_map(draw_atlas(nodes or make_nodes(), pods, hypernodes))


def test_hypernodes_are_drawn_as_a_tree_in_which_a_node_stands_once():
    pods = [make_pod("llama-0", "gpu-00"), make_pod("a", "gpu-02", 2, "team"), make_pod("waits")]
    assert write_map(draw(pods, make_hypernodes())) == [
        "DOMAIN         TIER        GPUS FREE   PODS",
        "cluster                    22/32       4 nodes",
        "  spine-0      2 (spine)   22/32       4 nodes",
        "    rack-0     1 (rack)    8/16        2 nodes",
        "      gpu-00   0 (host)    0/8         llama-0",
        "      gpu-01   0 (host)    8/8",
        "    rack-1     1 (rack)    14/16       2 nodes",
        "      gpu-02   0 (host)    6/8         team/a",
        "      gpu-03   0 (host)    8/8",
    ]


def test_a_cluster_without_hypernodes_is_drawn_by_the_labels_of_its_nodes():
    drawn = draw(nodes=make_nodes(spines=2))
    assert names_in(drawn.cluster.areas) == ["spine-0", "spine-1"]
    assert names_in(drawn.cluster.areas[1].areas) == ["rack-1"]
    assert (drawn.cluster.tier, drawn.cluster.areas[1].areas[0].tier) == (3, 1)


@pytest.mark.parametrize("spec", [5, {"tier": "one"}, {"members": [3]}, {"tierName": [1]}])
def test_a_malformed_hypernode_is_left_out_and_named(spec):
    lines = write_map(draw(hypernodes=[{"metadata": {"name": "bad"}, "spec": spec}]))
    assert lines[0] == "the topology has a mistake: HyperNode bad is malformed, and is left out"
    assert len(lines) == 7


def test_nodes_that_no_domain_has_hang_on_the_cluster():
    drawn = draw(hypernodes=[make_hypernode("rack-0", 1, "rack", "gpu-00")])
    assert names_in(drawn.cluster.hosts) == ["gpu-00", "gpu-01", "gpu-02", "gpu-03"]


def test_a_domain_of_tier_0_with_two_nodes_is_neither_of_them():
    drawn = draw(hypernodes=[make_hypernode("switch", 0, "switch", "gpu-00", "gpu-01")])
    assert [(area.name, area.tier) for area in drawn.cluster.areas] == [("switch", 0)]
    assert [(host.name, host.tier) for host in drawn.cluster.areas[0].hosts] == [
        ("gpu-00", None),
        ("gpu-01", None),
    ]


def test_a_node_that_takes_no_pods_says_why():
    nodes = make_nodes()
    nodes[0]["spec"]["unschedulable"] = True
    nodes[1]["status"]["conditions"] = []
    lines = write_map(draw([make_pod("a", "gpu-00", 2)], nodes=nodes))
    [first] = [line for line in lines if "gpu-00" in line]
    assert "gpu-00 (cordoned) " in first
    assert first[lines[0].index("PODS") :] == "a"
    assert any("gpu-01 (not ready) " in line for line in lines)


def test_nodes_that_take_no_pods_have_nothing_free():
    nodes = make_nodes()
    nodes[0]["spec"]["unschedulable"] = True
    nodes[1]["status"]["conditions"] = []
    drawn = draw([make_pod("a", "gpu-00", 2), make_pod("b", "gpu-02", 2)], nodes=nodes)
    assert (drawn.cluster.gpus_free, drawn.cluster.gpus) == (14, 32)
    first, second = drawn.cluster.areas[0].areas
    assert [area.gpus_free for area in (first, second)] == [0, 14]
    assert [host.gpus_free for host in first.hosts] == [0, 0]


def test_many_pods_are_cut_short_unless_all_are_asked_for():
    pods = [make_pod(f"p-{n}", "gpu-00", 1) for n in range(6)]
    drawn = draw(pods)
    assert any(line.endswith("p-0, p-1, p-2, p-3, and 2 more") for line in write_map(drawn))
    assert any("p-4 (1), p-5 (1)" in line for line in write_map(drawn, wide=True))


def test_domains_that_form_no_forest_are_told():
    twice = [*make_hypernodes(), make_hypernode("rack-2", 1, "rack", "gpu-00")]
    first = write_map(draw(hypernodes=twice))[0]
    assert first.startswith("the topology has a mistake: HyperNode gpu-00 belongs to both")
