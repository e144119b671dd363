"""
What the pods of a group ask for, counted as a scheduler counts it.

Containers that run side by side are added up, those that run before them need only
fit. What is asked for the pod as a whole takes the place of its containers' sum.
"""

from collections.abc import Iterable

from kohort.apis.leaderworkerset.spec import size_of, template_of
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity, write_quantity

_POD_LEVEL = ("cpu", "memory", "hugepages-")

# Amounts in billionths, and whether they are written in powers of 1024.
Amounts = dict[str, tuple[int, bool]]


def requests_nothing(spec: Object) -> bool:
    """Whether a pod asks for no room at all; a limit asks for as much."""
    holders = [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    resources = [holder.get("resources") or {} for holder in holders]
    return not any(found.get("requests") or found.get("limits") for found in resources)


def group_requests(lws: Object) -> dict[str, str]:
    """What all pods of a group ask for together."""
    template = template_of(lws)
    worker = _pod_requests((template.get("workerTemplate") or {}).get("spec") or {})
    chosen = template.get("leaderTemplate")
    leader = worker if chosen is None else _pod_requests(chosen.get("spec") or {})
    others = {name: (n * (size_of(lws) - 1), binary) for name, (n, binary) in worker.items()}
    total = _sum([leader, others])
    return {name: write_quantity(n, is_binary=binary) for name, (n, binary) in total.items()}


def _pod_requests(spec: Object) -> Amounts:
    containers = [_requests(container) for container in spec.get("containers") or ()]
    beside: list[Amounts] = []
    needed: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = _requests(container)
        needed = _larger(needed, _sum([*beside, own]))
        if container.get("restartPolicy") == "Always":
            beside.append(own)
    needed = _larger(_sum([*containers, *beside]), needed)
    whole = {k: v for k, v in _requests(spec).items() if k.startswith(_POD_LEVEL)}
    return _sum([{**needed, **whole}, _read(spec.get("overhead"))])


def _requests(holder: Object) -> Amounts:
    return _read((holder.get("resources") or {}).get("requests"))


def _read(amounts: Object | None) -> Amounts:
    return {
        name: (parse_quantity(value), str(value).endswith("i"))
        for name, value in (amounts or {}).items()
    }


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, (nanos, is_binary) in part.items():
            # The first amount that is not zero decides how the sum is written.
            before, was_binary = total.get(name, (0, is_binary))
            total[name] = (before + nanos, was_binary if before else is_binary)
    return total


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return {**one, **{k: v for k, v in other.items() if v[0] > one.get(k, (-1, False))[0]}}
