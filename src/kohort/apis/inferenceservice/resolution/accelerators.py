"""
The accelerator of a component: the one that the user names, or the best of its runtime's.

Scores are compared exactly, as fractions; among equal candidates, the one that the runtime lists
first wins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kohort.apis.inferenceservice import reasons
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.runtimes import AcceleratorClass, ServingRuntime
from kohort.apis.inferenceservice.spec import (
    AcceleratorConstraints,
    ComponentSpec,
    InferenceService,
)

BEST_FIT, CHEAPEST, MOST_CAPABLE = "BestFit", "Cheapest", "MostCapable"
FIRST_AVAILABLE = "FirstAvailable"
_PRECISIONS = {"fp32": "fp32", "fp16": "fp16", "int8": "int8", "fp8": "int8", "int4": "int4"}
_TIERS = {"low": 1, "medium": 2, "high": 3}


@dataclass(frozen=True, slots=True)
class SelectedAccelerator:
    """The accelerator of a component, and the reason for the choice."""

    accelerator: AcceleratorClass
    reason: str


def select_accelerator(
    service: InferenceService,
    component: ComponentSpec,
    runtime: ServingRuntime,
    known: Mapping[str, AcceleratorClass],
) -> SelectedAccelerator | None:
    """The accelerator of a component; raises ServiceError if the named one does not exist."""
    if not runtime.accelerators:
        return None
    own, shared = component.accelerator, service.accelerator
    name = (own.name if own else "") or (shared.name if shared else "")
    if name:
        if name not in known:
            raise ServiceError(
                reasons.ACCELERATOR,
                f"there is no AcceleratorClass {name}: create it, or name another",
            )
        return SelectedAccelerator(known[name], "named by the service")
    policy = (own.policy if own else "") or (shared.policy if shared else "")
    names = dict.fromkeys(runtime.accelerators)
    if not policy or not all(name in known for name in names):
        return None
    limits = shared.constraints if shared else AcceleratorConstraints()
    candidates = [known[name] for name in names if not find_exclusion(known[name], limits)]
    found = _choose(policy, candidates, limits)
    return None if found is None else SelectedAccelerator(found, f"policy {policy}")


def find_exclusion(found: AcceleratorClass, limits: AcceleratorConstraints) -> str:
    """Why constraints exclude an accelerator; empty if they do not."""
    features = {feature.lower() for feature in found.features}
    memory = found.memory_gib
    checks = (
        (found.name in limits.excluded, "it is excluded"),
        (bool(limits.families) and not _is_of(found, limits.families), "its family is another"),
        (limits.min_memory is not None and (memory or 0) < limits.min_memory, "too little memory"),
        (
            limits.max_memory is not None and (memory is None or memory > limits.max_memory),
            "too much memory",
        ),
        (not {f.lower() for f in limits.required_features} <= features, "a feature is missing"),
        (
            # Upstream compares these as strings; we do the same, to choose the same accelerator.
            bool(limits.min_architecture) and found.compute_capability < limits.min_architecture,
            "its architecture is too old",
        ),
    )
    return next((why for is_out, why in checks if is_out), "")


def _is_of(found: AcceleratorClass, families: Sequence[str]) -> bool:
    whole, family = f"{found.vendor}-{found.family}".lower(), found.family.lower()
    return any((whole if "-" in each else family) == each.lower() for each in families)


def _choose(
    policy: str, candidates: Sequence[AcceleratorClass], limits: AcceleratorConstraints
) -> AcceleratorClass | None:
    if len(candidates) <= 1 or policy == FIRST_AVAILABLE:
        return candidates[0] if candidates else None
    if policy == BEST_FIT:
        return _best(candidates, lambda each: _fit(each, limits))
    if policy == MOST_CAPABLE:
        return _choose_most_capable(candidates, limits)
    return _choose_cheapest(candidates) if policy == CHEAPEST else None


def _best(
    candidates: Sequence[AcceleratorClass], score: Callable[[AcceleratorClass], Fraction]
) -> AcceleratorClass:
    return max(candidates, key=score)  # the first of equals


def _fit(found: AcceleratorClass, limits: AcceleratorConstraints) -> Fraction:
    memory = Fraction(1)
    if limits.min_memory and found.memory_gib:
        memory = Fraction(limits.min_memory, found.memory_gib)
    return Fraction(7, 10) * memory + Fraction(3, 10) * _score_compute(found, limits)


def _score_compute(found: AcceleratorClass, limits: AcceleratorConstraints) -> Fraction:
    required = limits.min_tflops or 0
    if not limits.precisions:
        return _score_speed(max(found.performance.values(), default=0), required)
    penalty = Fraction(1)
    for precision in limits.precisions:
        speed = _speed_of(found, precision)
        if speed > 0:
            return penalty * _score_speed(speed, required)
        penalty /= 2
    return penalty * _score_speed(_speed_of(found, "fp16"), required)


def _score_speed(speed: int, required: int) -> Fraction:
    if speed == 0:
        return Fraction(0)
    return Fraction(1) if required == 0 or speed >= required else Fraction(speed, required)


def _speed_of(found: AcceleratorClass, precision: str) -> int:
    return found.performance.get(_PRECISIONS.get(precision.lower(), ""), 0)


def _choose_most_capable(
    candidates: Sequence[AcceleratorClass], limits: AcceleratorConstraints
) -> AcceleratorClass:
    precisions = limits.precisions or ("fp16",)

    def speed(found: AcceleratorClass) -> int:
        return next((s for each in precisions if (s := _speed_of(found, each)) > 0), 0)

    memory_max = max(each.memory_gib or 0 for each in candidates) or 1
    bandwidth_max = max(each.bandwidth for each in candidates) or 1
    speed_max = max(speed(each) for each in candidates) or 1
    return _best(
        candidates,
        lambda each: (
            Fraction(5, 10) * Fraction(each.memory_gib or 0, memory_max)
            + Fraction(3, 10) * Fraction(each.bandwidth, bandwidth_max)
            + Fraction(2, 10) * Fraction(speed(each), speed_max)
        ),
    )


def _choose_cheapest(candidates: Sequence[AcceleratorClass]) -> AcceleratorClass | None:
    """The cheapest candidate: by price per hour, else per tokens, else by cost tier."""
    prices: tuple[Callable[[AcceleratorClass], int | None], ...] = (
        lambda each: each.per_hour,
        lambda each: each.per_million_tokens,
        lambda each: _TIERS.get(each.tier, 2) if each.tier else None,
    )
    for price in prices:
        priced = [
            (cost, place)
            for place, each in enumerate(candidates)
            if (cost := price(each)) is not None
        ]
        if priced:
            return candidates[min(priced)[1]]
    return None
