"""
Amounts of resources, as integers: CPU in thousandths, everything else in whole units.

What a pod requests is the larger of what its containers need together and what
starting it needs at the peak, plus overhead. Sidecars (init containers that
restart always) run beside the containers and beside every later init container.
Requests that the spec makes for the pod as a whole replace that sum. All this holds in
any unit, so a caller that wants a finer one passes its own reader.
Fractions round up, so that a sum of rounded requests never passes a node's limit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kohort.cluster.quantities import milli_units, whole_units

Amounts = dict[str, int]
Reader = Callable[[Mapping[str, Any] | None], Amounts]

# The resources that a pod can request as a whole.
_POD_LEVEL = ("cpu", "memory", "hugepages-")


def read_amount(resource: str, value: str | int | float) -> int:
    """A quantity in the scheduler's unit for the resource; 0 if it is invalid."""
    try:
        return milli_units(value) if resource == "cpu" else whole_units(value)
    except ValueError:
        return 0


def read_amounts(raw: Mapping[str, Any] | None) -> Amounts:
    """A resource list in integers."""
    return {name: read_amount(name, value) for name, value in (raw or {}).items()}


def sum_pod(spec: Mapping[str, Any], read: Reader = read_amounts) -> Amounts:
    """The requests of a pod with this spec."""

    def requests(holder: Mapping[str, Any]) -> Amounts:
        return read((holder.get("resources") or {}).get("requests"))

    return sum_requests(
        [requests(container) for container in spec.get("containers") or ()],
        [
            (requests(container), container.get("restartPolicy") == "Always")
            for container in spec.get("initContainers") or ()
        ],
        requests(spec),
        read(spec.get("overhead")),
    )


def sum_requests(
    containers: Sequence[Amounts],
    starters: Sequence[tuple[Amounts, bool]],
    pod_level: Amounts,
    overhead: Amounts,
) -> Amounts:
    """The requests of a pod; each init container comes with whether it is a sidecar."""
    running: Amounts = {}
    peak: Amounts = {}
    for amounts, is_sidecar in starters:
        moment = dict(running)
        _add(moment, amounts)
        _raise_to(peak, moment)
        if is_sidecar:
            _add(running, amounts)
    for amounts in containers:
        _add(running, amounts)
    _raise_to(running, peak)
    running.update({k: v for k, v in pod_level.items() if k.startswith(_POD_LEVEL)})
    _add(running, overhead)
    return running


def _add(total: Amounts, amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Amounts, floor: Amounts) -> None:
    for name, amount in floor.items():
        total[name] = max(total.get(name, 0), amount)
