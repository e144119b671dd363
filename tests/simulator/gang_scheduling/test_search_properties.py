"""For any tiny cluster: what is found is allowed, and what can be found is found."""

import copy
from dataclasses import dataclass, replace

from brute_force import ask, can_hold, domains_within, make_hypernodes, make_index
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.placement.forest import build_forest
from kohort.placement.layout import Layout
from kohort.placement.packs import RoomTrial
from kohort.placement.search import find_assignments
from kohort.placement.units import Batch, Unit, Window

small = st.integers(0, 3)


@dataclass(frozen=True)
class Case:
    """A cluster, what stands on it already, and a gang."""

    rooms: list[tuple[int, int, int, int]]
    colours: list[str]
    racks: list[int]  # of each node; -1: none
    spines: list[int]  # of each rack
    shapes: list[tuple[int, int, int, str]]
    counts: list[int]
    taken: list[int]  # nodes on which one pod of the first shape stands

    def layout(self) -> Layout:
        index = make_index(self.rooms, self.colours)
        racks = [[n for n, at in enumerate(self.racks) if at == rack] for rack in range(3)]
        labels = {name: index.labels(slot) for name, slot in index.slots.items()}
        layout = Layout(build_forest(make_hypernodes(racks, self.spines), labels), index)
        first = ask(*self.shapes[0])
        for node in self.taken:
            if layout.count(first).on_node[node]:
                index.take(node, first.request)
        return layout

    def unit(self, window: Window | None) -> Unit:
        batches = tuple(
            Batch(ask(*shape), tuple(f"p{at}-{n}" for n in range(count)))
            for at, (shape, count) in enumerate(zip(self.shapes, self.counts, strict=True))
        )
        return Unit(batches, sum(self.counts), window)


@st.composite
def cases(draw, shapes_max: int = 3) -> Case:
    nodes = draw(st.integers(1, 6))
    shapes = draw(st.integers(1, shapes_max))
    many = lambda each, size: draw(st.lists(each, min_size=size, max_size=size))  # noqa: E731
    return Case(
        many(st.tuples(st.integers(0, 8), st.integers(0, 8), small, st.integers(1, 5)), nodes),
        many(st.sampled_from(["red", "blue"]), nodes),
        many(st.integers(-1, 2), nodes),
        many(st.integers(0, 1), 3),
        many(st.tuples(small, st.integers(1, 3), small, st.sampled_from(["", "red"])), shapes),
        many(st.integers(1, 3), shapes),
        draw(st.lists(st.integers(0, nodes - 1), max_size=4)),
    )


windows = st.one_of(st.none(), st.builds(Window, st.just(0), st.integers(0, 4)))


def seek(case: Case, window: Window | None) -> tuple[Layout, RoomTrial, int | None]:
    layout = case.layout()
    trial = RoomTrial(layout)
    return layout, trial, find_assignments(trial, case.unit(window))


def lowest_tier(case: Case, window: Window) -> int | None:
    """The lowest tier with a domain that can hold the gang, found by brute force."""
    layout = case.layout()
    items = [batch.ask for batch in case.unit(None).batches for _ in batch.members]
    tiers = [
        layout.forest.tiers[domain]
        for domain in domains_within(layout.forest, window.highest)
        if can_hold(layout.index, layout.slots[domain], items)
    ]
    return min(tiers, default=None)


@given(cases(), windows)
def test_a_placed_member_has_room_on_a_fitting_node_inside_the_domain(case, window):
    layout, trial, domain = seek(case, window)
    if domain is None:
        assert trial.assignments == []
        return
    assert len(trial.assignments) == sum(case.counts)
    assert window is None or layout.forest.tiers[domain] <= window.highest
    for assignment in trial.assignments:
        assert layout.masks[domain] >> assignment.slot & 1
        assert assignment.batch.ask.rule.allowed(layout.index) >> assignment.slot & 1
    assert all(amount >= 0 for free in layout.index.free for amount in free.values())


@given(cases(), windows)
def test_giving_seats_back_leaves_everything_as_it_was(case, window):
    layout = case.layout()
    before = copy.deepcopy((layout.index.free, layout.index.busy))
    trial = RoomTrial(layout)
    find_assignments(trial, case.unit(window))
    trial.undo(0)
    assert (layout.index.free, layout.index.busy) == before


@given(cases(), windows)
def test_counts_are_what_counting_again_gives(case, window):
    layout, _, _ = seek(case, window)
    again = Layout(layout.forest, layout.index)
    for batch in case.unit(None).batches:
        kept, fresh = layout.count(batch.ask), again.count(batch.ask)
        assert (kept.on_node, kept.in_domain) == (fresh.on_node, fresh.in_domain)


@settings(max_examples=300)
@given(cases(shapes_max=1), st.integers(0, 4))
def test_gangs_of_one_shape_are_placed_at_the_lowest_tier_that_can_hold_them(case, highest):
    window = Window(0, highest)
    layout, _, domain = seek(case, window)
    found = None if domain is None else layout.forest.tiers[domain]
    assert found == lowest_tier(case, window)


@settings(max_examples=300)
@given(cases(), st.integers(0, 4))
def test_mixed_gangs_on_small_domains_are_placed_at_the_lowest_tier_too(case, highest):
    window = Window(0, highest)
    layout, _, domain = seek(case, window)
    found = None if domain is None else layout.forest.tiers[domain]
    assert found == lowest_tier(case, window)


@given(cases(), st.integers(0, 3))
def test_what_fits_a_near_tier_fits_a_wider_limit_and_soft_is_hard_at_the_root(case, highest):
    hard = seek(case, Window(0, highest))[2]
    layout, _, wider = seek(case, Window(0, highest + 1))
    assert hard is None or wider is not None
    root = seek(case, Window(0, layout.forest.top))[2]
    assert seek(case, Window(0, 99))[2] == root


@given(cases(shapes_max=1), windows, st.integers(0, 3))
def test_one_more_node_or_fewer_pods_never_keep_a_gang_from_starting(case, window, rack):
    if seek(case, window)[2] is None:
        return
    more = replace(
        case,
        rooms=[*case.rooms, (1, 1, 1, 1)],
        colours=[*case.colours, "red"],
        racks=[*case.racks, min(rack, 2)],
    )
    assert seek(more, window)[2] is not None
    assert seek(replace(case, taken=case.taken[:-1]), window)[2] is not None


@given(cases(), windows, st.integers(2, 5))
def test_scaling_all_amounts_changes_nothing(case, window, factor):
    def scale(amounts):
        *rest, last = amounts
        return (*(amount * factor for amount in rest), last)

    scaled = replace(
        case, rooms=[scale(r) for r in case.rooms], shapes=[scale(s) for s in case.shapes]
    )
    (_, first, one), (_, second, two) = seek(case, window), seek(scaled, window)
    assert one == two
    assert [s.slot for s in first.assignments] == [s.slot for s in second.assignments]


@given(cases(shapes_max=1), windows, st.randoms(use_true_random=False))
def test_the_order_in_which_nodes_were_seen_does_not_matter(case, window, random):
    layout, trial, domain = seek(case, window)
    names = sorted(layout.index.slots)
    random.shuffle(names)
    index = type(layout.index)()
    for name in names:
        state = layout.index.states[layout.index.slots[name]]
        assert state is not None
        index.put(state)
    other = Layout(layout.forest, index)
    first = ask(*case.shapes[0])
    for node in case.taken:
        slot = index.slots[f"n{node}"]
        if other.count(first).on_node[slot]:
            index.take(slot, first.request)
    again = RoomTrial(other)
    assert find_assignments(again, case.unit(window)) == domain
    assignments = sorted(layout.index.name(assignment.slot) for assignment in trial.assignments)
    assert sorted(index.name(assignment.slot) for assignment in again.assignments) == assignments
