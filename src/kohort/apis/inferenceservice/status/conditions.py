"""
Conditions of a service, and how Ready follows from the others.

A service is ready when its ingress and all its components are ready. Upstream ignores decoder and
router; ``is_lenient`` does the same. A condition keeps its time while nothing else in it changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kohort.apis.inferenceservice.spec import ComponentType
from kohort.cluster.objects import Object

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
READY, INGRESS_READY = "Ready", "IngressReady"
ROUTES_READY, LATEST_READY = "RoutesReady", "LatestDeploymentReady"


@dataclass(frozen=True, slots=True)
class Claim:
    """Status, reason and message of a condition."""

    status: str
    reason: str = ""
    message: str = ""

    @property
    def is_true(self) -> bool:
        """Whether the condition is True."""
        return self.status == TRUE


def ready_type(component: ComponentType) -> str:
    """The type of the condition that a component is ready."""
    return f"{component.value.capitalize()}Ready"


def route_type(component: ComponentType) -> str:
    """The type of the condition that a component's Knative route is ready."""
    return f"{component.value.capitalize()}RouteReady"


def configuration_type(component: ComponentType) -> str:
    """The type of the condition that a component's Knative configuration is ready."""
    return f"{component.value.capitalize()}ConfigurationReady"


def list_dependents(components: Iterable[ComponentType], is_lenient: bool) -> tuple[str, ...]:
    """The types of the conditions that Ready depends on."""
    counted = [ComponentType.ENGINE] if is_lenient else list(components)
    return (INGRESS_READY, *(ready_type(each) for each in counted))


def write_conditions(
    claims: Mapping[str, Claim], dependents: Sequence[str], before: Iterable[Object], now: str
) -> list[Object]:
    """All conditions, sorted by type, with Ready computed from those it depends on."""
    held = {each["type"]: each for each in before if "type" in each}
    written = {
        name: _write(name, claim, name in dependents, held.get(name), now)
        for name, claim in claims.items()
    }
    ready = claims.get(READY) or _sum_up(written, dependents)
    written[READY] = _write(READY, ready, True, held.get(READY), now)
    return [written[name] for name in sorted(written)]


def _sum_up(written: Mapping[str, Object], dependents: Sequence[str]) -> Claim:
    """Ready: False like the newest False condition, else Unknown like the newest, else True."""
    present = [written[name] for name in dependents if name in written]
    for status in (FALSE, UNKNOWN):
        found = [each for each in present if each["status"] == status]
        if found:
            newest = max(found, key=lambda each: str(each["lastTransitionTime"]))
            return Claim(status, newest.get("reason", ""), newest.get("message", ""))
    return Claim(TRUE) if len(present) == len(dependents) else Claim(UNKNOWN)


def _write(name: str, claim: Claim, is_dependent: bool, before: Object | None, now: str) -> Object:
    said: Object = {"type": name, "status": claim.status}
    if claim.reason:
        said["reason"] = claim.reason
    if claim.message:
        said["message"] = claim.message
    if not is_dependent and name != READY:
        said["severity"] = "Info"
    old = {key: value for key, value in (before or {}).items() if key != "lastTransitionTime"}
    kept = (before or {}).get("lastTransitionTime") if old == said else None
    return {**said, "lastTransitionTime": kept or now}
