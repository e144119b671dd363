"""
The resource requests of a group's pods, counted as a scheduler counts them.

Amounts are counted in billionths, so that nothing is rounded before it is added up. A sum
is written in powers of 1024 if one of its parts is. An unreadable amount is not counted:
the API server refuses pods with it, and says why.
"""

from collections.abc import Mapping
from typing import Any

from kohort.apis.leaderworkerset.spec import size_of, template_of
from kohort.apis.requests import find_nanos, is_binary
from kohort.cluster.objects import Object
from kohort.cluster.quantities import write_quantity
from kohort.placement.amounts import Amounts, sum_pod


def requests_nothing(spec: Object) -> bool:
    """Whether a pod has neither requests nor limits."""
    resources = [holder.get("resources") or {} for holder in _list_holders(spec)]
    return not any(found.get("requests") or found.get("limits") for found in resources)


def group_requests(lws: Object) -> dict[str, str]:
    """The requests of all pods of a group together."""
    template = template_of(lws)
    worker: Object = (template.get("workerTemplate") or {}).get("spec") or {}
    chosen = template.get("leaderTemplate")
    leader: Object = worker if chosen is None else chosen.get("spec") or {}
    total = sum_pod(leader, _read)
    for name, nanos in sum_pod(worker, _read).items():
        total[name] = total.get(name, 0) + (size_of(lws) - 1) * nanos
    binary = {*_find_binary(leader), *_find_binary(worker)}
    return {name: write_quantity(nanos, is_binary=name in binary) for name, nanos in total.items()}


def _list_holders(spec: Object) -> list[Object]:
    """The pod spec and its containers: all that may have resources."""
    return [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _read(amounts: Mapping[str, Any] | None) -> Amounts:
    return {name: find_nanos(value) for name, value in (amounts or {}).items()}


def _find_binary(spec: Object) -> list[str]:
    """The resources whose requests are written in powers of 1024."""
    asked = [(holder.get("resources") or {}).get("requests") for holder in _list_holders(spec)]
    lists = [amounts or {} for amounts in (*asked, spec.get("overhead"))]
    return [name for held in lists for name, value in held.items() if is_binary(value)]
