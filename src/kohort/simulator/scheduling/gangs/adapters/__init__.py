"""
Adapters: each reads one scheduler's PodGroups into a common GangSpec.

Kinds are known by group and name, not by version: what a cluster serves is asked.
"""

from collections.abc import Callable

from kohort.cluster.objects import Kind, Object
from kohort.simulator.scheduling.gangs.adapters.kai import read_kai
from kohort.simulator.scheduling.gangs.adapters.kubernetes import read_native
from kohort.simulator.scheduling.gangs.adapters.simple_gangs import (
    read_coscheduling,
    read_koordinator,
)
from kohort.simulator.scheduling.gangs.adapters.volcano import read_volcano
from kohort.simulator.scheduling.gangs.membership import (
    COSCHEDULING,
    KAI,
    KOORDINATOR,
    KUBERNETES,
    VOLCANO,
)
from kohort.simulator.scheduling.gangs.requests import GangSpec

GroupName = tuple[str, str]

# The kind behind the gangs of each dialect, and how it is read.
GROUPS: dict[GroupName, tuple[str, Callable[[Object, Kind], GangSpec]]] = {
    ("scheduling.volcano.sh", "PodGroup"): (VOLCANO, read_volcano),
    ("scheduling.x-k8s.io", "PodGroup"): (COSCHEDULING, read_coscheduling),
    ("scheduling.sigs.k8s.io", "PodGroup"): (KOORDINATOR, read_koordinator),
    ("scheduling.run.ai", "PodGroup"): (KAI, read_kai),
    ("scheduling.k8s.io", "PodGroup"): (KUBERNETES, read_native),
}
# Other kinds that define where gangs may go.
SURROUNDINGS: frozenset[GroupName] = frozenset(
    {
        ("scheduling.volcano.sh", "Queue"),
        ("topology.volcano.sh", "HyperNode"),
        ("kai.scheduler", "Topology"),
        ("scheduling.koordinator.sh", "ClusterNetworkTopology"),
    }
)


def is_watched(kind: Kind) -> bool:
    """Whether objects of a kind matter to gangs."""
    name = (kind.group, kind.name)
    return name in GROUPS or name in SURROUNDINGS
