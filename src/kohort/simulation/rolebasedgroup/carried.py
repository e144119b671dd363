"""
The units of roles whose pods another controller makes, and what the operator has written for them.

A pod belongs to the carrier that controls it over any number of owners. Neither StatefulSets nor
Deployments replace a pod that another client gives a foreign image, on a real cluster either, so
such a pod counts by the image that it was made with. A Deployment has no partition: with the new
template its controller updates every pod, so all that the operator decides is when to give it one.
"""

import re

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, annotations_of, is_leaving
from kohort.simulation.checkers.truth import Group, Truth, controller_of, is_ready
from kohort.simulation.leaderworkerset.labels import SIZE
from kohort.simulation.rolebasedgroup.labels import LABELS, LEADERS
from kohort.simulation.rolebasedgroup.wishes import (
    carrier_of,
    differs,
    find_role,
    read_contents,
    roles_of,
    size_of,
    template_of,
)
from kohort.simulation.scenario import NAME
from kohort.simulation.simulated_api import Carried

# The kinds of owners between a pod and the carrier of its role.
_OWNERS = (kinds.POD, kinds.STATEFUL_SET, kinds.REPLICA_SET)
_PLACE = re.compile(rf"{NAME}-[a-z]-(\d+)(-\d+)?")


class CarriedUnit(Group):
    """One unit of a role that another controller makes: a pod, or a group of a LeaderWorkerSet."""

    __slots__ = ("is_relabelled", "kind", "made", "pods", "role")

    def __init__(self, role: str, kind: Kind, ordinal: int, pods: list[Object], truth: Truth):
        self.role, self.kind, self.ordinal = role, kind, ordinal
        self.pods = [pod for pod in pods if not is_leaving(pod)]
        self.leader, self.workers, self.staying = self.pods[0], self.pods[1:], self.pods[1:]
        self.uid = self.leader["metadata"]["uid"]
        # Pods of a LeaderWorkerSet say how many there are in their group.
        self.size = int(annotations_of(self.leader).get(SIZE, "1")) if kind == LEADERS else 1
        marks = truth.marks
        uids = {pod["metadata"]["uid"] for pod in self.pods}
        self.revision = marks.origin_of(self.leader)
        self.revisions = {marks.origin_of(pod) for pod in self.pods} - {""}
        self.is_relabelled = bool(uids & marks.relabelled)
        self.is_edited = bool(uids & (marks.relabelled | marks.replaced))
        # Groups of a LeaderWorkerSet with a foreign image are made anew.
        self.made = self.pods if kind == LEADERS else [_as_made(pod, truth) for pod in self.pods]
        self.is_ready = len(self.pods) == self.size and all(map(is_ready, self.pods))

    @property
    def members(self) -> list[Object]:
        """All pods that stay."""
        return self.pods

    def is_old(self, spec: Object) -> bool:
        """Whether the unit was not made from what its role asks for in a spec."""
        role = find_role(spec, self.role)
        if role is None or self.size != size_of(role):
            return True
        is_set = self.kind == kinds.STATEFUL_SET
        if is_set and self.is_relabelled and LABELS.revision_of(self.leader) != self.revision:
            return True  # its controller goes by that label
        return any(differs(pod, template_of(role)) for pod in self.made)


def _as_made(pod: Object, truth: Truth) -> Object:
    """A pod with the image that it was made with."""
    if pod["metadata"]["uid"] not in truth.marks.replaced:
        return pod
    first, *others = pod["spec"]["containers"]
    image = truth.marks.images[pod["metadata"]["uid"]]
    return {**pod, "spec": {**pod["spec"], "containers": [{**first, "image": image}, *others]}}


def find_carrier(truth: Truth, role: Object) -> Object | None:
    """The object that carries a role, if the group controls it."""
    kind, workload = carrier_of(role), truth.workload
    found = truth.objects.get(kind, {}).get(f"{NAME}-{role['name']}") if kind else None
    is_ours = found and workload and controller_of(found) == workload["metadata"]["uid"]
    return found if is_ours else None


def list_carried(truth: Truth, role: Object) -> list[CarriedUnit]:
    """The units of a carried role that are not leaving, lowest first."""
    kind = carrier_of(role)
    assert kind is not None
    carrier = truth.objects.get(kind, {}).get(f"{NAME}-{role['name']}")
    if carrier is None or not truth.is_named(carrier):
        return []
    owners = {
        obj["metadata"]["uid"]: controller_of(obj)
        for each in _OWNERS
        for obj in truth.list_all(each)
    }
    by_place: dict[str, list[Object]] = {}
    for pod in sorted(truth.pods(), key=lambda pod: str(pod["metadata"]["name"])):
        if not is_leaving(pod) and _belongs(pod, carrier["metadata"]["uid"], owners):
            place = _PLACE.fullmatch(pod["metadata"]["name"])
            # Pods of a Deployment have no ordinals: they are numbered in the order of their names.
            number = place.group(1) if place else str(len(by_place))
            by_place.setdefault(number, []).append(pod)
    units = [
        CarriedUnit(role["name"], kind, int(number), pods, truth)
        for number, pods in by_place.items()
    ]
    return sorted(units, key=lambda unit: unit.ordinal)


def _belongs(pod: Object, uid: str, owners: dict[str, str]) -> bool:
    held = controller_of(pod)
    while held and held != uid:
        held = owners.get(held, "")
    return bool(held)


def read_carried(truth: Truth, role: Object) -> Carried:
    """What the operator has written for a carried role."""
    carrier = find_carrier(truth, role)
    contents = read_contents(template_of(role)), template_of(role)["metadata"].get("annotations")
    if carrier is None:
        return Carried(contents=contents)
    asked = int(carrier["spec"].get("replicas", 1))
    told = range(read_partition(carrier), asked) if has_template(carrier, role) else range(0)
    if carrier_of(role) == kinds.DEPLOYMENT:
        told = told[:1]  # its controller updates the others without asking
    return Carried(carrier["metadata"]["uid"], asked, frozenset(told), contents)


def has_template(carrier: Object, role: Object) -> bool:
    """Whether a carrier has the template that its role asks for."""
    pair = carrier["spec"].get("leaderWorkerTemplate")
    if pair and pair.get("size", 1) != size_of(role):
        return False
    return not any(differs(held, template_of(role)) for held in templates_of(carrier))


def templates_of(carrier: Object) -> list[Object]:
    """The templates of the pods of a carrier."""
    spec = carrier["spec"]
    if "template" in spec:
        return [spec["template"]]
    pair = spec["leaderWorkerTemplate"]
    return [pair[key] for key in ("leaderTemplate", "workerTemplate") if pair.get(key)]


def read_partition(carrier: Object) -> int:
    """The partition that a carrier has; 0 where its kind has none."""
    return int(_rolling_of(carrier).get("partition") or 0)


def _rolling_of(carrier: Object) -> Object:
    """How a carrier's controller brings its pods to a new template."""
    spec = carrier["spec"]
    if carrier["kind"] == LEADERS.name:
        found: Object = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
        return found
    field = "updateStrategy" if carrier["kind"] == kinds.STATEFUL_SET.name else "strategy"
    rolling: Object = (spec.get(field) or {}).get("rollingUpdate") or {}
    return rolling


def amounts_of(carrier: Object) -> Object:
    """The units that a carrier's rollout may take down and add; StatefulSets have no such field."""
    rolling = _rolling_of(carrier)
    return {key: rolling[key] for key in ("maxUnavailable", "maxSurge") if key in rolling}


def list_carriers(truth: Truth) -> set[tuple[str, str]]:
    """The carriers that a group should have, by kind and name."""
    spec = (truth.workload or {})["spec"]
    wanted = ((carrier_of(role), role["name"]) for role in roles_of(spec))
    return {(kind.name, f"{NAME}-{name}") for kind, name in wanted if kind is not None}
