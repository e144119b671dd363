"""
The scale target of an autoscaler (any object with a scale subresource), and its pods.

For built-in kinds the table of kinds says where counts are, for custom kinds their
definition. Objects are read as they are stored, so the paths are those of the stored version.

An autoscaler counts pods as ready, starting or ignored, and sums their requests. A pod that
leaves or has failed is left out. One that is pending does not work yet, and the processor time of
one that has just started says nothing about load.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kohort.apiserver.resources.builtin import SCALED
from kohort.apiserver.resources.resource import Scale
from kohort.apiserver.resources.scales import Counts, read_counts, read_scale_paths
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind, Object, find_condition
from kohort.cluster.quantities import milli_units
from kohort.simulator.builtins.readiness import seconds_since
from kohort.simulator.component import Moment, View


class NoTarget(Exception):
    """The object that an autoscaler refers to is missing or has no scale."""


@dataclass(frozen=True, slots=True)
class Target:
    """An object that can be scaled, and its scale."""

    kind: Kind
    entry: StoredObject
    counts: Counts


def split_group(reference: Object) -> tuple[str, str]:
    """The group and kind that a reference names; versions do not matter."""
    return (reference.get("apiVersion") or "").rpartition("/")[0], reference.get("kind", "")


def find_target(reference: Object, namespace: str, known: Iterable[Kind], view: View) -> Target:
    """The object that a reference of an autoscaler names."""
    group, name = split_group(reference)
    kind = next((k for k in known if (k.group, k.name) == (group, name)), None)
    if kind is None:
        raise NoTarget(f'no matches for kind "{name}" in group "{group}"')
    paths = SCALED.get(kind) or _find_paths(kind, view)
    if paths is None or not kind.namespaced:
        raise NoTarget("the server could not find the requested resource")
    entry = view.find(kind, namespace, reference["name"])
    if entry is None:
        raise NoTarget(f'{kind.group_resource} "{reference["name"]}" not found')
    counts = read_counts(paths, entry.decode())
    if not isinstance(counts.wanted or 0, int) or not isinstance(counts.found, int):
        raise NoTarget(f'the counts of {kind.group_resource} "{entry.name}" are no numbers')
    return Target(kind, entry, counts)


def _find_paths(kind: Kind, view: View) -> Scale | None:
    entry = view.find(DEFINITION, "", kind.group_resource)
    if entry is None:
        return None
    versions: list[Object] = entry.decode()["spec"].get("versions") or []
    stored = next((version for version in versions if version.get("storage")), None)
    return None if stored is None else read_scale_paths(stored)


# What the controller manager has by default: how long a start may distort processor time,
# and how long after its start a pod that is not ready has never been so.
STARTING_SECONDS = 300.0
FIRST_READY_SECONDS = 30.0


class MissingRequest(Exception):
    """A utilization target needs a request, and a container has none."""


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod."""

    name: str
    is_ignored: bool = False  # terminating or failed
    is_pending: bool = False
    is_ready: bool = True
    is_starting: bool = False  # its processor time is not counted yet
    requests: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by container
    annotations: Mapping[str, str] = field(default_factory=dict)

    def find_request(self, resource: str, container: str = "") -> int:
        """The pod's request, in thousandths; of one container, or of all."""
        if container and container not in self.requests:
            raise MissingRequest(f"container {container} not found in Pod {self.name}")
        total = 0
        for name, requests in self.requests.items():
            if container in ("", name):
                if resource not in requests:
                    raise MissingRequest(
                        f"missing request for {resource} in container {name} of Pod {self.name}"
                    )
                total += requests[resource]
        return total


def read_pod(pod: Object, moment: Moment) -> Pod:
    """Read the fields of a pod that an autoscaler needs."""
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    phase = status.get("phase") or "Pending"
    condition = find_condition(pod, "Ready")
    is_ready = condition is not None and condition.get("status") == "True"
    containers = [
        *(spec.get("containers") or ()),
        *(c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"),
    ]
    return Pod(
        metadata["name"],
        is_ignored=metadata.get("deletionTimestamp") is not None or phase == "Failed",
        is_pending=phase == "Pending",
        is_ready=is_ready and phase == "Running",
        is_starting=_is_starting(status.get("startTime"), condition, moment),
        requests={container["name"]: _read_requests(container) for container in containers},
        annotations=metadata.get("annotations") or {},
    )


def _is_starting(start: str | None, ready: Object | None, moment: Moment) -> bool:
    if start is None or ready is None:
        return True
    if ready.get("status") != "False":
        return False
    if seconds_since(start, moment) < STARTING_SECONDS:
        return True
    changed = ready.get("lastTransitionTime") or start
    since = datetime.fromisoformat(changed) - datetime.fromisoformat(start)
    return since.total_seconds() < FIRST_READY_SECONDS


def _read_requests(container: Object) -> dict[str, int]:
    requests = (container.get("resources") or {}).get("requests") or {}
    return {name: milli_units(amount) for name, amount in requests.items()}
