"""
Gangs for Koordinator: its PodGroup, with annotations for topology.

Its kind and its label are those of the scheduler plugins before they changed their
API group. Releases differ in whether they look for the label or the annotation
first, so pods have both. Layers of the network have names and an order, from nodes
upwards, and no numbers: nodes are tier 0 here, and each layer above is one more.
"""

import json
from collections.abc import Iterable, Iterator

from kohort.apis.gangs.definitions.koordinator import NETWORK_TOPOLOGY, POD_GROUP
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.objects import fits_label, mark_pod, write_group
from kohort.apis.gangs.dialects.sentences import (
    describe_pack,
    describe_tiers,
    has_no_tier,
    lose_limit,
    lose_long_name,
    lose_parts,
    lose_queue,
)
from kohort.apis.gangs.intent import Intent, Membership, Tier, Tiers
from kohort.cluster.node_labels import HOST
from kohort.cluster.objects import Object, name_of
from kohort.model.placement import Pack, Strength

PREFIX = "gang.scheduling.koordinator.sh/"
GANG_NAME = PREFIX + "name"
TOPOLOGY_SPEC = PREFIX + "network-topology-spec"
TOPOLOGY_INDEX = PREFIX + "network-topology-index"
POD_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io"
NODE_LAYER = "NodeTopologyLayer"
_IN_USE = "default"  # the one topology that its scheduler looks at
_NAME = "koordinator"


def _mark(pod: Object, membership: Membership, tiers: Tiers) -> Object:
    if not fits_label(membership.gang):
        return pod
    annotations = {GANG_NAME: membership.gang, TOPOLOGY_INDEX: str(membership.index)}
    return mark_pod(pod, labels={POD_GROUP_LABEL: membership.gang}, annotations=annotations)


def _render(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
    spec: Object = {"minMember": intent.gang.minimum}
    if intent.requests:
        spec["minResources"] = dict(intent.requests)
    annotations = {k: v for k, v in intent.annotations.items() if k.startswith(PREFIX)}
    gathering = _write_pack(intent.gang.pack, tiers)
    if gathering:
        told = json.dumps({"gatherStrategy": gathering}, separators=(",", ":"))
        annotations[TOPOLOGY_SPEC] = told
    return (write_group(POD_GROUP, intent, spec, annotations),)


def _write_pack(pack: Pack | None, tiers: Tiers) -> list[Object]:
    if pack is None:
        return []
    is_limit = pack.strength is Strength.HARD and not has_no_tier(pack)
    strategy = "MustGather" if is_limit else "PreferGather"
    return [{"layer": layer, "strategy": strategy} for layer in _find_layers(pack, tiers)]


def _find_layers(pack: Pack, tiers: Tiers) -> tuple[str, ...]:
    """The layer that a pack names, or all layers, the widest first."""
    if has_no_tier(pack):
        return tuple(tier.name for tier in reversed(tiers.all) if tier.name)
    tier = tiers.find(pack)
    if tier is not None and tier.name:
        return (tier.name,)
    # Where the tiers of the cluster are unknown, the name is passed on unchecked.
    return () if tiers.are_known or not pack.tier_name else (pack.tier_name,)


def _find_losses(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return tuple(_lose(intent, tiers))


def _lose(intent: Intent, tiers: Tiers) -> Iterator[str]:
    pack = intent.gang.pack
    if pack is not None:
        yield from lose_limit(pack, _NAME)
        if not _find_layers(pack, tiers):
            yield (
                f"{describe_pack(pack)} cannot be given to {_NAME} without a layer for it (there "
                f"are {describe_tiers(tiers)}): declare one in a ClusterNetworkTopology"
            )
    yield from lose_parts(intent, _NAME)
    yield from lose_queue(intent, _NAME)
    yield from lose_long_name(intent, _NAME)


def read_layers(topologies: Iterable[Object]) -> Tiers:
    """The layers of the topology in use, from nodes upwards.

    A layer that is its own parent ends the chain. The layer of nodes needs no label.
    """
    chosen = min(
        topologies, key=lambda found: (name_of(found) != _IN_USE, name_of(found)), default={}
    )
    declared: list[Object] = (chosen.get("spec") or {}).get("networkTopologySpec") or []
    left = {entry.get("topologyLayer"): entry for entry in declared}
    found: list[Tier] = []
    name = NODE_LAYER
    while name in left:
        layer = left.pop(name)
        usual = HOST if name == NODE_LAYER else ""
        found.append(Tier(len(found), name, next(iter(layer.get("labelKey") or ()), usual)))
        name = layer.get("parentTopologyLayer") or ""
    return Tiers(tuple(found), are_known=True)


KOORDINATOR = Dialect(
    name=_NAME,
    scheduler="koord-scheduler",
    mark=_mark,
    membership=GANG_NAME,
    kinds=(POD_GROUP,),
    reads=(NETWORK_TOPOLOGY,),
    remedy="install Koordinator, or run the operator without gang scheduling",
    render=_render,
    find_losses=_find_losses,
    read_tiers=read_layers,
)
