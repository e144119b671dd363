"""The page of nodes carries a bounded part of a large cluster, and says what it left out."""

from topology_scenes import make_nodes, make_pod

from kohort.views.residents import Resident
from kohort.views.topology.atlas import draw_atlas
from kohort.views.topology.map import draw_map
from kohort.views.topology.nodes_page import (
    HOSTS_MAX,
    LINES_MAX,
    NodesPage,
    NodesWish,
    ShownArea,
    ShownHost,
    make_page,
)

RACKS = {f"gpu-{n:04}": n // 8 for n in range(2000)}
OWNER = Resident("default", "llama-0", "leaderworkerset.x/llama", 0, "llama-0")


def show(pods=(), owners=(), racks=RACKS, failed=(), cordoned=(), **wish: object) -> NodesPage:
    nodes = make_nodes(racks)
    for node in nodes:
        if node["metadata"]["name"] in cordoned:
            node["spec"]["unschedulable"] = True
    owned = {(each.namespace, each.pod): each for each in owners}
    drawn = draw_map(draw_atlas(nodes, pods))
    return make_page(drawn, owned, failed, NodesWish(**wish))  # type: ignore[arg-type]


def list_hosts(area: ShownArea) -> list[ShownHost]:
    return [*area.hosts, *(host for inner in area.areas for host in list_hosts(inner))]


def list_names(page: NodesPage) -> list[str]:
    return [host.name for host in list_hosts(page.cluster)]


def test_a_page_carries_a_bounded_number_of_nodes_and_totals_of_all():
    page = show()
    assert len(list_hosts(page.cluster)) == HOSTS_MAX
    assert (page.shown, page.matching) == (HOSTS_MAX, 2000)
    assert (page.cluster.nodes, page.cluster.gpus) == (2000, 16000)
    assert (
        len(page.cluster.areas[0].areas) == HOSTS_MAX // 8 + 1
    )  # racks without a node are left out


def test_more_nodes_are_carried_when_they_are_asked_for():
    assert len(list_names(show(hosts=HOSTS_MAX * 2))) == HOSTS_MAX * 2


def test_nodes_that_need_help_are_always_among_those_that_are_carried():
    names = list_names(show(failed={"gpu-1999"}, cordoned={"gpu-1500"}))
    assert len(names) == HOSTS_MAX
    assert {"gpu-1999", "gpu-1500"} <= set(names)


def test_a_node_carries_a_bounded_number_of_lines_and_the_number_of_the_others():
    pods = [make_pod(f"p-{n:03}", "gpu-0001", 0) for n in range(LINES_MAX + 5)]
    [_, crowded] = list_hosts(show(pods).cluster)[:2]
    assert [line.name for line in crowded.lines] == [f"p-{n:03}" for n in range(LINES_MAX)]
    assert (crowded.lines_left_out, crowded.pods) == (5, LINES_MAX + 5)
    [_, whole] = list_hosts(show(pods, whole=frozenset({"gpu-0001"})).cluster)[:2]
    assert (len(whole.lines), whole.lines_left_out) == (LINES_MAX + 5, 0)


def test_pods_of_one_group_on_a_node_are_one_line():
    owners = [OWNER, Resident("default", "llama-0-1", OWNER.workload, 0, "llama-0")]
    pods = [make_pod("llama-0", "gpu-0000", 2), make_pod("llama-0-1", "gpu-0000", 3)]
    [line] = list_hosts(show(pods, owners).cluster)[0].lines
    assert (line.workload, line.group, line.gang) == (OWNER.workload, 0, "llama-0")
    assert (line.pods, line.gpus, line.name) == (2, 5, "")


def test_a_search_finds_nodes_by_name_by_state_and_by_what_stands_there():
    pods = [make_pod("llama-0", "gpu-1777"), make_pod("alone", "gpu-1888")]
    seen = {"pods": pods, "owners": [OWNER], "cordoned": {"gpu-1999"}}
    assert list_names(show(**seen, search="GPU-1234")) == ["gpu-1234"]
    assert list_names(show(**seen, search="cordoned")) == ["gpu-1999"]
    assert list_names(show(**seen, search="llama")) == ["gpu-1777"]
    assert list_names(show(**seen, search="alone")) == ["gpu-1888"]
    nothing = show(**seen, search="nothing")
    assert (nothing.matching, nothing.shown, nothing.cluster.areas) == (0, 0, ())


def test_what_a_search_found_on_a_crowded_node_is_its_first_line():
    pods = [make_pod(f"p-{n:03}", "gpu-0001", 0) for n in range(LINES_MAX + 5)]
    pods.append(make_pod("z-sought", "gpu-0001", 0))
    [host] = list_hosts(show(pods, search="sought").cluster)
    assert host.lines[0].name == "z-sought"
