"""
Settings about gangs: the operator's flags, and the user's fields in the workload.

A simulation with gangs names dialects as the flag ``--gang`` does. A cluster for it
serves all of them, so that flags and annotations can change while it runs.
"""

from dataclasses import replace

from kohort.apis.api import Settings
from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.kubernetes import V1ALPHA2
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Object

DIALECTS: dict[str, Dialect] = {d.name: d for d in (VOLCANO, COSCHEDULING, V1ALPHA2)}
TIERS = Tiers((Tier(0, "host", HOST), Tier(1, "rack", RACK), Tier(2, "spine", SPINE)), True)
GPU = "nvidia.com/gpu"


def set_gang_flag(settings: Settings, text: str) -> Settings:
    """The settings of an operator that was started with ``--gang`` and these names."""
    if not text:
        return settings
    names = list(dict.fromkeys(text.split(",")))
    gangs = tuple(DIALECTS[name] for name in names if name != NONE)
    return replace(settings, gangs=gangs, tiers=TIERS, has_usual=names[0] != NONE)


def find_scheduler(text: str) -> str:
    """The scheduler that a user would name for the first of these dialects."""
    first = text.split(",", maxsplit=1)[0]
    return DIALECTS[first].scheduler if first in DIALECTS else ""


def write_topology(text: str) -> Object | None:
    """The field of a workload, from a text such as ``hard 1`` or ``soft``."""
    mode, _, tier = text.partition(" ")
    if not mode:
        return None
    return {"mode": mode, "highestTierAllowed": int(tier)} if tier else {"mode": mode}


def write_requests(gpus: int) -> Object:
    """The resources of a container that requests so many GPUs."""
    if not gpus:
        return {}
    amounts = {GPU: str(gpus)}
    return {"resources": {"requests": amounts, "limits": dict(amounts)}}
