"""
The target of a fault: one of the objects that exist when the fault happens.
"""

from kohort.cluster.objects import Kind, Object, is_leaving, labels_of
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import NAME


def find_child(harness: Harness, kind: Kind, pick: int) -> Object | None:
    """One of the workload's children that is not leaving."""
    held = harness.truth.objects[kind]
    # What only one API makes may have no labels, and the name of its workload.
    names = sorted(
        name
        for name, obj in held.items()
        if NAME in labels_of(obj).values() or (kind in harness.simulated.children and name == NAME)
    )
    staying = [name for name in names if not is_leaving(held[name])]
    return held[staying[pick % len(staying)]] if staying else None


def pick_node(harness: Harness, pick: int) -> str:
    """One of the nodes."""
    names = [name for _, name in harness.api.store.bucket("nodes").keys]
    return names[pick % len(names)]
