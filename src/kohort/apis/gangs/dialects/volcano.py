"""
Gangs for Volcano: a PodGroup for each, HyperNodes that define the tiers, and its queues.

Tiers are numbers that the author of the HyperNodes has chosen. Volcano does not refuse a tier
that no HyperNode has, but treats it in different ways: below the lowest tier nothing matches,
above the highest everything does, and an unknown name is dropped. So we report each as a loss.
Volcano reads a policy for subgroups only with a label that tells them apart, so we always set
one; pods without the label belong to no subgroup.

PodGroups have no status subresource: we patch the spec alone.

Volcano looks for room only for groups that their queue has let in: a queue must exist, be
open, and have enough of its capability left, and the cluster must have what the group asks for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kohort.apis.gangs.dialect import Dialect, Survey
from kohort.apis.gangs.dialects.objects import find_objections, mark_pod, write_group
from kohort.apis.gangs.intent import Intent, Membership, SubgroupKind, Tier, Tiers
from kohort.cluster.objects import Kind, Object
from kohort.model.placement import Pack, Strength
from kohort.placement.amounts import Amounts, read_amounts
from kohort.placement.forest import build_forest
from kohort.placement.hypernodes import read_hypernode
from kohort.placement.sentences import write_amount

# As Volcano says it.
_OVER_QUOTA = "queue resource quota insufficient"
_OVERUSED = "resource in cluster is overused"


def judge_queue(
    obj: Object, queues: Mapping[str, Object], nodes: Sequence[Object]
) -> Iterator[str]:
    """What keeps a PodGroup in its queue, as sentences with a remedy."""
    spec = obj.get("spec") or {}
    name = spec.get("queue") or "default"
    queue = queues.get(name)
    if queue is None:
        yield f"queue {name} does not exist: make it, or name another"
        return
    state = (queue.get("status") or {}).get("state") or "Open"
    if state != "Open":
        yield f"queue {name} is {state} and admits no gang: open it, or name another"
    asked = read_amounts(spec.get("minResources"))
    cap = read_amounts((queue.get("spec") or {}).get("capability"))
    over = {r: amount for r, amount in asked.items() if r in cap and amount > cap[r]}
    if over:
        # A queue may be narrowed when the gang is in it: then it waits there for ever.
        yield (
            f"minResources asks for {_write(over)}, more than queue {name} may have: "
            "raise its capability, or name another"
        )
        return
    if any(_OVER_QUOTA in text for text in find_objections(obj)):
        # Pods may ask for more than minResources says, and others may be in the queue.
        yield (
            f"queue {name} may not have so much more: raise its capability, name another, "
            "or wait for those in it"
        )
        return
    if (obj.get("status") or {}).get("phase") != "Pending":
        return
    total = _sum_rooms(nodes)
    short = {r: amount for r, amount in asked.items() if amount > total.get(r, 0)}
    if short and nodes:
        yield f"minResources asks for {_write(short)}, more than the cluster has"
    elif any(_OVERUSED in text for text in find_objections(obj)):
        # Volcano promises some more than the cluster has, and what runs counts, too.
        yield (
            f"queue {name} has not let it in: what is left of the cluster is promised to groups "
            "that were let in before, so it waits until they run, or go"
        )


def _sum_rooms(nodes: Sequence[Object]) -> Amounts:
    total: Amounts = {}
    for node in nodes:
        room = read_amounts((node.get("status") or {}).get("allocatable"))
        for name, amount in room.items():
            total[name] = total.get(name, 0) + amount
    return total


def _write(amounts: Amounts) -> str:
    return ", ".join(f"{write_amount(name, amount)} {name}" for name, amount in amounts.items())


POD_GROUP = Kind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
QUEUE = Kind("scheduling.volcano.sh", "v1beta1", "Queue", "queues", namespaced=False)
HYPER_NODE = Kind("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", namespaced=False)
GROUP_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
_COPIED = "volcano.sh/"


def _mark(pod: Object, membership: Membership, tiers: Tiers) -> Object:
    task = {TASK_SPEC: membership.task} if membership.task else {}
    return mark_pod(pod, annotations={GROUP_NAME: membership.gang, **task})


def _render(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
    copied = {k: v for k, v in intent.annotations.items() if k.startswith(_COPIED)}
    spec = {"minMember": intent.gang.minimum, **_write_clauses(intent)}
    return (write_group(POD_GROUP, intent, spec, {**copied, **intent.notes}),)


def _write_clauses(intent: Intent) -> Object:
    pack = intent.gang.pack
    clauses: Object = {"minResources": dict(intent.requests)}
    if intent.queue:
        clauses["queue"] = intent.queue
    if intent.priority:
        clauses["priorityClassName"] = intent.priority
    if pack is not None:
        clauses["networkTopology"] = _write_pack(pack)
    # A policy is for subgroups of which all members come at once.
    parts = [_write_part(part) for part in intent.parts if part.is_whole]
    if parts:
        clauses["subGroupPolicy"] = parts
    return clauses


def _write_pack(pack: Pack) -> Object:
    written: Object = {"mode": pack.strength.value}
    if pack.tier is not None:
        written["highestTierAllowed"] = pack.tier
    if pack.tier_name:
        written["highestTierName"] = pack.tier_name
    return written


def _write_part(part: SubgroupKind) -> Object:
    selector: Object = {}
    if not part.is_everywhere:
        selector["matchExpressions"] = [{"key": part.key, "operator": "Exists"}]
    if part.selector:
        selector["matchLabels"] = dict(part.selector)
    written: Object = {
        "name": part.name,
        "labelSelector": selector,
        "matchLabelKeys": [part.key],
        "subGroupSize": part.size,
        "minSubGroups": part.count,
    }
    if part.pack is not None:
        written["networkTopology"] = _write_pack(part.pack)
    return written


def _find_losses(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    packs = [intent.gang.pack, *(part.pack for part in intent.parts)]
    asked = [pack for pack in packs if pack is not None]
    return tuple(dict.fromkeys(loss for pack in asked for loss in _judge(pack, tiers)))


def _judge(pack: Pack, tiers: Tiers) -> Iterator[str]:
    is_hard = pack.strength is Strength.HARD
    if pack.tier is None and not pack.tier_name:
        if is_hard:
            yield "hard without a tier is not enforced by Volcano: say highestTierAllowed"
    elif tiers.are_known and tiers.find(pack) is None:
        yield _name_missing(pack, tiers, is_hard)


def _name_missing(pack: Pack, tiers: Tiers, is_hard: bool) -> str:
    known = _list_tiers(tiers)
    if pack.tier_name:
        effect = "Volcano places the pods without it" if is_hard else "it means nothing"
        return f"no HyperNode has the tier name {pack.tier_name} ({known}): {effect}"
    what = f"no HyperNode has tier {pack.tier} ({known})"
    if not is_hard:
        return f"{what}: it means nothing"
    lowest = min((tier.number for tier in tiers.all), default=1)
    assert pack.tier is not None
    if pack.tier < lowest:
        return f"{what}: nothing can match, so the pods stay pending"
    highest = max((tier.number for tier in tiers.all), default=0)
    if pack.tier > highest:
        return f"{what}: the whole cluster is allowed"
    return f"{what}: the next lower tier holds"


def _list_tiers(tiers: Tiers) -> str:
    if not tiers.all:
        return "there are no HyperNodes"
    shown = (f"{t.number} {t.name}" if t.name else str(t.number) for t in tiers.all)
    return f"there are tiers {', '.join(shown)}"


def _read_tiers(hyper_nodes: tuple[Object, ...]) -> Tiers:
    found: dict[int, set[str]] = {}
    for node in hyper_nodes:
        spec = node.get("spec") or {}
        tier = spec.get("tier")
        if isinstance(tier, int):
            found.setdefault(tier, set()).update(filter(None, [spec.get("tierName")]))
    numbered = ((number, sorted(names) or [""]) for number, names in sorted(found.items()))
    return Tiers(tuple(Tier(number, name) for number, names in numbered for name in names), True)


def _survey(hyper_nodes: tuple[Object, ...], nodes: Mapping[str, Mapping[str, str]]) -> Survey:
    forest = build_forest(map(read_hypernode, hyper_nodes), nodes)

    def measure(names: Iterable[str]) -> int | None:
        common = forest.find_common(names)
        return None if common is None else forest.tiers[common]

    return measure


VOLCANO = Dialect(
    name="volcano",
    scheduler="volcano",
    mark=_mark,
    membership=GROUP_NAME,
    kinds=(POD_GROUP,),
    reads=(HYPER_NODE,),
    remedy="install Volcano, or run the operator without gang scheduling",
    render=_render,
    find_losses=_find_losses,
    read_tiers=_read_tiers,
    survey=_survey,
    queue=QUEUE_NAME,
    queues=QUEUE,
    judge_queue=judge_queue,
    clauses=("networkTopology", "subGroupPolicy", "queue", "priorityClassName"),
    skips_best_effort=True,
)
