"""
What a fault acts on: one of the things that exist when its time has come.
"""

from kohort.cluster.objects import Kind, Object
from kohort.rehearsal.checkers.truth import is_leaving, labels_of
from kohort.rehearsal.play import NAME
from kohort.rehearsal.stage import Stage


def find_child(stage: Stage, kind: Kind, pick: int) -> Object | None:
    """One of the workload's children that is not leaving."""
    held = stage.truth.objects[kind]
    names = sorted(n for n, o in held.items() if NAME in labels_of(o).values())
    staying = [name for name in names if not is_leaving(held[name])]
    return held[staying[pick % len(staying)]] if staying else None


def pick_node(stage: Stage, pick: int) -> str:
    """One of the nodes."""
    names = [name for _, name in stage.api.store.bucket("nodes").keys]
    return names[pick % len(names)]
