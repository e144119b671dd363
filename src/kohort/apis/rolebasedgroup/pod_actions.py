"""
Pods of RoleInstances: creation, deletion, in-place updates and readiness gates.

All pods of an instance become ready together: the operator opens their readiness gates when every
pod runs with all containers ready and has the revision of the instance. The only pod of an instance
waits for no other, so its gates are open from the start, and the kubelet says at once that it is
ready. The operator writes the gates only, never the Ready condition, which belongs to the kubelet.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import orjson

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.gang_actions import GangActions
from kohort.apis.rolebasedgroup.in_place import (
    OPEN,
    InPlaceChange,
    Walk,
    apply_pending,
    find_in_place_change,
    is_grace_over,
    read_pending,
    set_gates,
)
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts, read_facts
from kohort.apis.rolebasedgroup.instances import is_current, revision_of
from kohort.apis.rolebasedgroup.lifecycle import LifecycleView
from kohort.apis.rolebasedgroup.objects.pods import (
    GATES,
    INSTANCE_POD_READY,
    list_places,
    make_pod,
)
from kohort.apis.rolebasedgroup.objects.ports import asks_for_ports
from kohort.apis.rolebasedgroup.pod_extras import PodExtras
from kohort.apis.rolebasedgroup.pod_facts import RolePod, is_update_complete, read_pod
from kohort.apis.rolebasedgroup.pod_origins import find_origin
from kohort.apis.rolebasedgroup.put_back import (
    find_foreign_images,
    find_unnamed_change,
    put_place_back,
)
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.role_facts import RoleFacts, find_component
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.cluster.actions import Action, Create, Delete
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.timestamps import write_moment
from kohort.model.plans import Plan, Step

MAKE_MAX = 1_000


@dataclass(slots=True)
class PodActions:
    """The writes of one plan to the pods of a group."""

    snapshot: Snapshot
    reading: Reading[Memory]
    plan: Plan
    gangs: GangActions
    extras: PodExtras
    _names: set[str] = field(init=False)  # of all pods of the namespace in the cache
    _now: str = field(init=False)
    _left: int = MAKE_MAX

    def __post_init__(self) -> None:
        self._names = {pod.metadata.name for pod in self.snapshot.all(POD)}
        self._now = write_moment(self.plan.now)

    def list_actions(
        self, role: RoleFacts, step: Step, leaving: frozenset[int]
    ) -> Iterator[Action]:
        """Create, update and delete pods of the role's instances that stay."""
        failed = {restart.ordinal for restart in step.restarts}
        renewed = {name for _, name in step.renew}
        views = self.reading.memory.views[role.spec.name]
        for ordinal, instance in self.reading.memory.instances[role.spec.name].items():
            pods = self.reading.memory.pods.get(instance.metadata.uid, {})
            if instance.metadata.is_leaving or ordinal in leaving:
                continue
            if ordinal in failed:
                yield from _restart(instance, pods)
            elif ordinal not in step.backing_off and not views[ordinal].is_at_rest:
                waiting = step.waiting_parts.get(ordinal, frozenset())
                work = _InstanceWork(role, ordinal, instance, pods, waiting, renewed)
                yield from self._keep(work, is_moving=ordinal in step.amend)

    def make_first(self, role: RoleFacts, ordinal: int, stored: Object) -> Iterator[Action]:
        """
        Create the pods of an instance that was stored just now.

        Ports may be lost to another group whose write the caches have not seen, and components that
        start after others need a plan: such pods are left to the next one.
        """
        if asks_for_ports(stored) or any(each.start_after for each in role.spec.components):
            return
        instance = read_facts(orjson.dumps(stored))
        yield from self._make(_InstanceWork(role, ordinal, instance, {}, frozenset(), set()))

    def _keep(self, work: "_InstanceWork", *, is_moving: bool) -> Iterator[Action]:
        wanted = {place.name for place in work.instance.places}
        kept = work.list_kept([name for name in work.pods if name not in wanted])
        for name, pod in work.pods.items():
            if name not in wanted and not pod.metadata.is_leaving and name not in kept:
                yield _delete(pod, "its instance has no such pod")
            elif name in work.renewed:
                yield _delete(pod, "it has ended")
        for place in work.instance.places:
            if place.name in work.pods:
                pod = work.pods[place.name]
                yield from put_place_back(self.snapshot, work.role, work.instance, place, pod)
        if not is_moving:  # Else the revision that the instance gets in this plan decides.
            yield from self._make(work)
            yield from self._change(work)
        yield from self._open(work)

    def _make(self, work: "_InstanceWork") -> Iterator[Action]:
        missing = [p for p in work.instance.places if p.name not in self._names]
        if not missing or self._left <= 0:
            return
        if not self.gangs.is_ready(work.role.spec, work.instance):
            return
        instance = work.instance.decode()
        short = names.short_revision(revision_of(work.instance))
        if not self.extras.are_stored(work.role, work.instance, instance):
            yield from self.extras.allot_late(work.instance, instance)
            return
        for index, place in enumerate(list_places(instance)):
            is_held = place.component_name in work.waiting
            if place.name in self._names or is_held or self._left <= 0:
                continue
            self._left -= 1
            made = self.extras.complete(
                make_pod(instance, place, short), work.role, instance, place
            )
            where = work.ordinal, index
            made = self.gangs.mark(made, work.role.spec, work.instance, where)
            why = f"pod {place.name} does not exist"
            then = partial(self._open_first, work) if work.is_alone else None
            yield Create(POD, work.instance.metadata.namespace, made, why, then)

    def _change(self, work: "_InstanceWork") -> Iterator[Action]:
        """The next write to each pod that does not have its instance's revision."""
        if all(is_current(work.role, work.instance, pod) for pod in work.pods.values()) and not any(
            labels.IN_PLACE_GRACE in pod.metadata.annotations for pod in work.pods.values()
        ):
            return
        steps = list(self._list_changes(work))
        if work.role.spec.is_instance_gang and any(isinstance(s, Delete) for s in steps):
            # A gang is all or nothing: pods that could change as they run go with the others.
            live = [pod for pod in work.pods.values() if not pod.metadata.is_leaving]
            steps = [_delete(pod, "a pod of its gang has to be made anew") for pod in live]
        yield from steps

    def _list_changes(self, work: "_InstanceWork") -> Iterator[Action]:
        for place in list_places(work.instance.decode()):
            pod = work.pods.get(place.name)
            if pod is None or pod.metadata.is_leaving or pod.has_ended:
                continue
            if not is_current(work.role, work.instance, pod):
                yield from self._follow(work, pod, place.component)
            elif is_grace_over(pod, work.grace_seconds, self.plan.now):
                yield apply_pending(pod, as_map(place.component.get("template")))

    def _follow(self, work: "_InstanceWork", pod: RolePod, component: Object) -> Iterator[Action]:
        short = names.short_revision(revision_of(work.instance))
        old = work.role.find_by_hash(pod.metadata.labels.get(labels.REVISION, ""))
        if old is None:
            before = find_origin(work.role, work.instance, pod)
        else:
            before = find_component(old, str(component.get("name")))
        found = None
        foreign = find_foreign_images(work.instance, pod)
        unnamed = find_unnamed_change(pod, as_map(component.get("template")), foreign)
        if foreign and (before is None or pod.metadata.labels.get(labels.REVISION) == short):
            found = unnamed if before is None else InPlaceChange(images=foreign)
        elif before is None:
            found = unnamed
        elif set(GATES) <= pod.gates:
            is_moved = (before.get("serviceName") or "") != (component.get("serviceName") or "")
            mine = work.mark(component, before)
            found = (
                None if is_moved else find_in_place_change(mine, as_map(component.get("template")))
            )
        if found is not None and foreign:
            found = replace(found, images={**found.images, **foreign})
        if found is None:
            yield _delete(pod, "it has an old revision, and cannot change as it runs")
            return
        found = found.follow(read_pending(pod) or InPlaceChange())
        walk = Walk(pod, short, revision_of(work.instance), found, work.grace_seconds, self._now)
        yield from walk.list_steps()

    def _open_first(self, work: "_InstanceWork", stored: Object) -> Iterator[Action]:
        """Open the gates of a pod that was stored just now."""
        pod = read_pod(orjson.dumps(stored))
        yield from self._open(replace(work, pods={pod.metadata.name: pod}))

    def _open(self, work: "_InstanceWork") -> Iterator[Action]:
        """Open the gates of all pods of an instance, or close the instance gate of each."""
        # Components that have not started wait for these pods, so they do not count.
        places = [p for p in work.instance.places if p.component not in work.waiting]
        pods = [work.pods[p.name] for p in places if p.name in work.pods]
        is_whole = len(pods) == len(places) and all(
            is_current(work.role, work.instance, pod)
            and is_update_complete(pod)
            and (pod.are_containers_ready or work.is_first(pod))
            and not pod.metadata.is_leaving
            for pod in pods
        )
        hides = LifecycleView(work.role.spec.lifecycle, work.instance.metadata).hides_pods
        for pod in pods:
            if hides:
                gate = set_gates(pod, {INSTANCE_POD_READY: False}, self._now, "InstancePrepared")
            elif is_whole:
                gate = set_gates(pod, OPEN, self._now, "InstanceReady")
            elif len(places) > 1 and self._is_left(work, pod):
                closed = {INSTANCE_POD_READY: False}
                gate = set_gates(pod, closed, self._now, "InstanceNotReady")
            else:
                gate = None
            if gate is not None and not pod.metadata.is_leaving:
                yield gate

    def _is_left(self, work: "_InstanceWork", pod: RolePod) -> bool:
        """Whether a pod's gate is still open; an in-place update closes both gates itself."""
        is_open = pod.find_condition(INSTANCE_POD_READY) == "True"
        return is_open and is_current(work.role, work.instance, pod)


@dataclass(frozen=True, slots=True)
class _InstanceWork:
    """One instance that the plan keeps, and its pods."""

    role: RoleFacts
    ordinal: int
    instance: RoleInstanceFacts
    pods: Mapping[str, RolePod]
    waiting: frozenset[str]  # components that may not start yet
    renewed: set[str]  # pods to recreate alone, without their instance

    @property
    def is_alone(self) -> bool:
        """Whether the instance has one pod, which waits for no other to become ready."""
        return len(self.instance.places) == 1

    def is_first(self, pod: RolePod) -> bool:
        """Whether the only pod of the instance has no gate set yet, open or closed."""
        return self.is_alone and not any(pod.find_condition(gate) for gate in GATES)

    def list_kept(self, surplus: list[str]) -> set[str]:
        """The surplus pods that stay until pods of other components have gone."""
        if not surplus:
            return set()
        parts = {n: self.pods[n].metadata.labels.get(labels.COMPONENT_NAME, "") for n in surplus}
        kept = self.role.spec.list_kept(set(parts.values()))
        return {name for name, part in parts.items() if part in kept}

    @property
    def grace_seconds(self) -> float:
        """How long a pod is out of the endpoints before its containers restart."""
        return float(self.role.spec.rollout.grace_seconds or 0)

    def mark(self, component: Object, before: Object) -> Object:
        """The pod's old template, with the ordinal labels of this instance."""
        template = as_map(before.get("template"))
        now = as_map(as_map(as_map(component.get("template")).get("metadata")).get("labels"))
        own = {k: now[k] for k in (labels.INSTANCE_INDEX, labels.SET_POD_NAME) if k in now}
        metadata = as_map(template.get("metadata"))
        marked = {**metadata, "labels": {**as_map(metadata.get("labels")), **own}}
        return {**template, "metadata": marked}


def _restart(instance: RoleInstanceFacts, pods: Mapping[str, RolePod]) -> Iterator[Action]:
    """
    Delete the pods of a failed instance, its first pod only when the others are being deleted.

    The record of the failure names the first pod. While that pod exists, an operator that restarts
    goes on with the deletion; the API server may get the deletes of one plan in any order.
    """
    first = next((p.name for p in instance.places if p.name in pods), "")
    live = [pod for name, pod in pods.items() if not pod.metadata.is_leaving]
    others = [pod for pod in live if pod.metadata.name != first]
    for pod in others or live:
        yield _delete(pod, "its instance is restarted")


def _delete(pod: RolePod, why: str) -> Delete:
    metadata = pod.metadata
    text = f"pod {metadata.name}: {why}"
    return Delete(POD, metadata.namespace, metadata.name, metadata.uid, why=text)
