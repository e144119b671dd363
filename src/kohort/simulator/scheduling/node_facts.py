"""Reads nodes: only what placement depends on, so that a heartbeat changes nothing."""

import msgspec

from kohort.apiserver.store.entries import StoredObject
from kohort.placement.amounts import Amounts, read_amounts
from kohort.placement.nodes import NodeState, Taint


class _Taint(msgspec.Struct, gc=False):
    key: str
    effect: str
    value: str = ""


class _Spec(msgspec.Struct):
    taints: list[_Taint] | None = None
    unschedulable: bool = False


class _Status(msgspec.Struct):
    allocatable: dict[str, str | int] | None = None
    capacity: dict[str, str | int] | None = None


class _Node(msgspec.Struct):
    spec: _Spec | None = None
    status: _Status | None = None


_decoder = msgspec.json.Decoder(_Node)


def read_node(entry: StoredObject) -> NodeState:
    """Read the fields of a node that the scheduler needs."""
    raw = _decoder.decode(entry.raw)
    spec, status = raw.spec or _Spec(), raw.status or _Status()
    taints = tuple(Taint(t.key, t.value, t.effect) for t in spec.taints or ())
    room: Amounts = read_amounts(status.allocatable or status.capacity)
    return NodeState(entry.name, entry.labels, taints, spec.unschedulable, room)
