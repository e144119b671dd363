"""What is said of a gang that waits."""

from gang_builders import bound, node, pod, racks

from kohort.model.placement import Pack, Strength
from kohort.placement.fits import Explanation, Wish, explain
from kohort.placement.sentences import describe

NODES = [node(f"n{at}") for at in range(4)]
RACKS = racks(["n0", "n1"], ["n2", "n3"])
HARD = Pack(Strength.HARD, 1)


def ask(
    members: list[dict], pack: Pack | None = HARD, others: list[dict] | None = None
) -> Explanation:
    return explain(NODES, [*members, *(others or [])], RACKS, members, Wish(pack))


def gang(size: int, gpus: int = 4) -> list[dict]:
    return [pod(f"p{at}", gpus) for at in range(size)]


def test_the_best_domain_and_what_it_lacks_are_named():
    told = ask(gang(3))
    (rack, spine, cluster) = told.tiers
    assert (rack.domain, rack.assignments, rack.fits, spine.fits) == ("rack-0", 2, False, True)
    assert rack.shapes[0].shortfalls[0].missing == 4
    assert cluster.nodes == 4


def test_soft_would_place_what_a_hard_limit_keeps_waiting():
    told = ask(gang(3))
    assert not told.is_placeable
    assert describe(told) == (
        "3 of 3 members wait for a node; asked for: hard, tier 1.",
        "tier 1 (rack): 2 of 3 fit into rack-0; 1 of p0, p1, p2 lacks 4 nvidia.com/gpu.",
        "There is room at tier 2 (spine), spine: mode soft would place it.",
    )


def test_what_fits_nowhere_is_said_so():
    told = ask(gang(5))
    assert told.nearest is None
    assert describe(told)[-1].endswith("start together, not even with mode soft.")
    soft = ask(gang(5), Pack(Strength.SOFT))
    assert describe(soft)[-1].endswith("start together.")


def test_other_pods_take_room():
    told = ask(gang(2), others=[bound(pod("other", 1), "n0")])
    assert told.is_placeable
    assert told.tiers[0].domain == "rack-1"


def test_those_who_have_nodes_hold_the_others_in_their_domain():
    first, *rest = gang(3)
    told = ask([bound(first, "n0"), *rest])
    assert [fit.domain for fit in told.tiers][:2] == ["rack-0", "spine"]
    assert not told.is_placeable


def test_room_in_pieces_is_not_called_a_missing_resource():
    others = [bound(pod(f"other-{at}", 2), f"n{at}") for at in range(4)]
    told = ask(gang(1), others=others)
    assert "lacks nvidia.com/gpu in one piece" in describe(told)[1]


def test_a_tier_that_no_domain_has_is_said():
    told = ask(gang(1), Pack(Strength.HARD, tier_name="block"))
    assert not told.is_limit_known
    assert ask(gang(1), Pack(Strength.HARD, 0)).is_placeable is False


def test_labels_serve_where_there_are_no_hypernodes():
    nodes = [node(f"n{at}", labels={"rack": f"r{at // 2}"}) for at in range(4)]
    wish = Wish(Pack(Strength.HARD, tier_name="rack"), levels=["rack"])
    assert explain(nodes, [], [], gang(2), wish).is_placeable
    assert not explain(nodes, [], [], gang(3), wish).is_placeable


def test_terms_about_others_are_said_not_to_count():
    near = pod("near", affinity={"podAffinity": {"x": []}})
    assert ask([near]).minds_others
