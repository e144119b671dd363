"""
The kinds of gang schedulers, from models of ours: for a cluster that has none of them.

``kohort up --gang NAME`` installs them. A cluster with the scheduler itself has them
already, and the install does not overwrite them.
"""

from kohort.apis.definitions import write_definition
from kohort.apis.gangs.definitions import coscheduling, kai, koordinator, volcano
from kohort.apis.gangs.definitions.kubernetes import define_stand_ins
from kohort.cluster.objects import Object

_DEFINED = {
    "volcano": (volcano.POD_GROUPS, volcano.QUEUES, volcano.HYPER_NODES),
    "coscheduling": (coscheduling.POD_GROUPS,),
    "koordinator": (koordinator.POD_GROUPS, koordinator.NETWORK_TOPOLOGIES),
    "kai": (kai.POD_GROUPS, kai.TOPOLOGIES),
}


def definitions_of(dialect_name: str) -> tuple[Object, ...]:
    """The CustomResourceDefinitions that a dialect needs, made afresh; none if it needs none."""
    if dialect_name == "kubernetes":
        return define_stand_ins()
    return tuple(write_definition(each) for each in _DEFINED.get(dialect_name, ()))
