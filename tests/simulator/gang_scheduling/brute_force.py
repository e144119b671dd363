"""Placement once more, the slow and obvious way: every way to put items on nodes."""

from collections.abc import Sequence

from kohort.placement.forest import Forest
from kohort.placement.hypernodes import HyperNode, NodesMember
from kohort.placement.nodes import PODS, NodeIndex, NodeState
from kohort.placement.raw_objects import PodAsk
from kohort.placement.rules import NodeRule

RESOURCES = ("cpu", "memory", "gpu")


def ask(cpu: int, memory: int, gpu: int, colour: str = "") -> PodAsk:
    request = {"cpu": cpu, "memory": memory, "gpu": gpu}
    rule = NodeRule({"colour": colour} if colour else {}, {}, ())
    return PodAsk({**{n: a for n, a in request.items() if a}, PODS: 1}, rule)


def make_index(rooms: Sequence[tuple[int, int, int, int]], colours: Sequence[str]) -> NodeIndex:
    index = NodeIndex()
    for at, (room, colour) in enumerate(zip(rooms, colours, strict=True)):
        amounts = dict(zip((*RESOURCES, PODS), room, strict=True))
        index.put(NodeState(f"n{at}", {"colour": colour}, (), False, amounts))
    return index


def make_hypernodes(racks: Sequence[Sequence[int]], spines: Sequence[int]) -> list[HyperNode]:
    """Racks of nodes, and the spine that each rack belongs to."""
    made = [
        HyperNode(f"rack-{at}", 1, nodes=tuple(NodesMember(f"n{node}") for node in nodes))
        for at, nodes in enumerate(racks)
    ]
    for spine in sorted(set(spines)):
        inner = tuple(f"rack-{at}" for at, known in enumerate(spines) if known == spine)
        made.append(HyperNode(f"spine-{spine}", 2, inner=inner))
    return made


def can_hold(index: NodeIndex, slots: Sequence[int], items: Sequence[PodAsk]) -> bool:
    """Whether all items can be put on some nodes, by trying everything."""
    names = (*RESOURCES, PODS)
    vectors = [tuple(item.request.get(name, 0) for name in names) for item in items]
    masks = [item.rule.allowed(index) for item in items]
    free = {slot: tuple(index.free[slot].get(name, 0) for name in names) for slot in slots}
    seen: set[object] = set()

    def go(at: int) -> bool:
        state = (at, tuple(free.items()))
        if at == len(items):
            return True
        if state in seen:
            return False
        seen.add(state)
        for slot, have in list(free.items()):
            left = tuple(a - b for a, b in zip(have, vectors[at], strict=True))
            if masks[at] >> slot & 1 and min(left) >= 0:
                free[slot] = left
                if go(at + 1):
                    return True
                free[slot] = have
        return False

    return go(0)


def domains_within(forest: Forest, tier: int) -> list[int]:
    return [domain for domain in range(len(forest.names)) if forest.tiers[domain] <= tier]
