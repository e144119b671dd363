"""How one workload is spread over the domains of a cluster."""

from dataclasses import replace

from scenes import NOW, Scene, make_lws
from topology_scenes import make_hypernode, make_hypernodes, make_nodes

from kohort.cli.render.topologies import write_spread
from kohort.model.placement import Pack, PlacementPolicy, Strength
from kohort.views.topology.atlas import draw_atlas
from kohort.views.topology.spread import describe_pack, make_spread

NODES = {
    "llama-0": "gpu-00",
    "llama-0-1": "gpu-00",
    "llama-0-2": "gpu-01",
    "llama-1": "gpu-01",
    "llama-1-1": "gpu-02",
    "llama-1-2": "gpu-03",
}


def assignment(nodes: dict[str, str]) -> Scene:
    """Two groups of three on these nodes; a member without a node waits."""

    def body(node: str) -> dict:
        return {"spec": {"nodeName": node}, "status": {}} if node else {"spec": {"nodeName": ""}}

    names = [f"llama-{g}{i}" for g in range(2) for i in ("", "-1", "-2")]
    unready = {name: body(nodes.get(name, "")) for name in names}
    return Scene((2, 2), unready=unready, lws=make_lws(groups=2))


def spread_of(nodes: dict[str, str], hypernodes: bool = True, pack: Pack | None = None):
    atlas = draw_atlas(make_nodes(), (), make_hypernodes() if hypernodes else ())
    picture = assignment(nodes).picture()
    assert picture.reading is not None
    workload = replace(picture.reading.workload, placement=PlacementPolicy(pack))
    picture = replace(picture, reading=replace(picture.reading, workload=workload))
    return make_spread(picture, atlas)


def test_each_group_has_the_smallest_domain_that_holds_it():
    groups = spread_of(NODES).groups
    assert [(g.width.domain, g.width.tier, g.width.tier_name) for g in groups] == [
        ("rack-0", 1, "rack"),
        ("spine-0", 2, "spine"),
    ]
    assert spread_of(NODES).widest.domain == "spine-0"


def test_a_domain_of_tier_0_with_two_nodes_is_shown_as_one():
    switch = make_hypernode("switch", 0, "switch", "gpu-00", "gpu-01")
    group = make_spread(assignment(NODES).picture(), draw_atlas(make_nodes(), (), [switch])).groups[
        1
    ]
    assert [(spot.name, spot.tier) for spot in group.spots] == [
        ("switch", 0),
        ("gpu-02", None),
        ("gpu-03", None),
    ]


def test_members_are_shown_by_domain():
    assert write_spread(spread_of(NODES), NOW)[1:] == [
        "  widest    spine-0, tier 2 (spine)",
        "",
        "  group 0   3 of 3 members within rack-0, tier 1 (rack)",
        "    gpu-00   llama-0, llama-0-1",
        "    gpu-01   llama-0-2",
        "",
        "  group 1   3 of 3 members within spine-0, tier 2 (spine)",
        "    rack-0     tier 1 (rack)",
        "      gpu-01   llama-1",
        "    rack-1     tier 1 (rack)",
        "      gpu-02   llama-1-1",
        "      gpu-03   llama-1-2",
    ]


def test_members_without_a_node_are_named():
    lines = write_spread(spread_of({"llama-0": "gpu-00"}), NOW)
    assert "  group 0   1 of 3 members within gpu-00, tier 0 (host)" in lines
    assert "    waiting for a node: llama-0-1, llama-0-2" in lines
    assert "  group 1   no member has a node" in lines


def test_a_group_that_is_wider_than_asked_for_is_marked():
    hard = spread_of(NODES, pack=Pack(Strength.HARD, 1))
    assert [group.is_too_wide for group in hard.groups] == [False, True]
    lines = write_spread(hard, NOW)
    assert lines[1] == "  asked     hard: within tier 1 (rack)"
    assert [line for line in lines if line.endswith("! wider than asked for")] == [
        "  group 1   3 of 3 members within spine-0, tier 2 (spine)   ! wider than asked for"
    ]
    soft = spread_of(NODES, pack=Pack(Strength.SOFT, 1))
    assert not any(group.is_too_wide for group in soft.groups)
    assert spread_of(NODES, pack=Pack(Strength.HARD, tier_name="rack")).groups[1].is_too_wide


def test_labels_of_nodes_stand_in_where_there_are_no_hypernodes():
    assert [g.width for g in spread_of(NODES, False).groups] == [
        g.width for g in spread_of(NODES).groups
    ]


def test_what_was_asked_for_is_said_in_words():
    forest = draw_atlas(make_nodes(), (), make_hypernodes()).forest
    said = [
        describe_pack(Pack(Strength.HARD, 1), forest),
        describe_pack(Pack(Strength.SOFT, tier_name="spine"), forest),
        describe_pack(Pack(Strength.HARD, 5), forest),
        describe_pack(Pack(Strength.SOFT), forest),
    ]
    assert said == [
        "hard: within tier 1 (rack)",
        "soft: preferably within tier spine",
        "hard: within tier 5, which is the whole cluster here",
        "soft, as near as there is room",
    ]


def test_a_pod_of_a_deleted_node_makes_no_group_wider():
    nodes = {**NODES, "llama-0-2": "gone-09"}
    spread = spread_of(nodes, pack=Pack(Strength.HARD, 1))
    group = spread.groups[0]
    assert (group.width.domain, group.is_too_wide) == ("gpu-00", False)
    assert group.homeless == ("llama-0-2 (gone-09)",)
    text = "\n".join(write_spread(spread, NOW))
    assert "group 0   2 of 3 members within gpu-00" in text
    assert "on a node that was deleted: llama-0-2 (gone-09)" in text
