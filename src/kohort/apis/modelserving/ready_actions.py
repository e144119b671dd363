"""
Calls of plugins for pods that have become ready.

The operator calls each plugin once each time that a pod becomes ready: one patch writes the labels
and annotations that plugins return, and the time of that readiness, so that no process calls them
again. A plugin that fails is called again in the next reconcile, and reported meanwhile. It gets
the pod as it was made, with its current labels, annotations, node and conditions, and the workload
with the roles of the pod's revision, as when the pod was made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kohort.apis.api import Reading, Snapshot
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.instance_places import find_role
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.objects.pods import PodMaker
from kohort.apis.modelserving.plugins.chain import Chain, PluginFailure
from kohort.apis.modelserving.plugins.plugin import HookRequest
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.read import Memory
from kohort.cluster.actions import Action, Patch
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Address


@dataclass(frozen=True, slots=True)
class ReadyActions:
    """The pods of one workload that became ready, and the plugins to call."""

    snapshot: Snapshot
    reading: Reading[Memory]
    chain: Chain
    find_maker: Callable[[str], PodMaker]  # by revision

    def list_patches(self) -> Iterator[Action]:
        """A patch for each pod that became ready since the plugins were last called."""
        if not self.chain.hears_ready:
            return
        for pod in self.reading.memory.pods:
            moment = find_moment(pod)
            if moment and pod.metadata.annotations.get(labels.READY_PLUGINS) != moment:
                yield from self._ask(pod, moment)

    def _ask(self, pod: ServingPod, moment: str) -> Iterator[Action]:
        request = self._make_request(pod)
        if request is None:
            return
        answer = self.chain.find_ready_patch(request)
        if isinstance(answer, PluginFailure):
            self.reading.memory.failures.append(answer)
            return
        metadata, body = pod.metadata, (answer or {}).get("metadata") or {}
        notes = {**(body.get("annotations") or {}), labels.READY_PLUGINS: moment}
        change = {**body, "annotations": notes, "uid": metadata.uid}
        address = Address(POD, metadata.namespace, metadata.name)
        yield Patch(address, {"metadata": change}, why=f"pod {metadata.name} became ready")

    def _make_request(self, pod: ServingPod) -> HookRequest | None:
        place, context = pod.place, self.reading.memory.context
        revision = pod.metadata.labels.get(labels.REVISION, "")
        role = find_role(context, revision, place.role) if place else None
        if place is None or role is None:
            return None
        where = InstancePlace(place.group, role, place.instance)
        maker = self.find_maker(revision)
        made = maker.make(where, place.index)
        if isinstance(made, PluginFailure):
            self.reading.memory.failures.append(made)
            return None
        return HookRequest(
            model_serving=maker.serving,
            serving_group=where.group_name(maker.serving),
            role_name=role.name,
            role_id=where.role_id,
            is_entry=place.index == 0,
            pod=_as_of_now(made, pod),
        )


def find_moment(pod: ServingPod) -> str:
    """When a pod became ready; empty if it is not ready, or is terminating."""
    condition = pod.ready_condition
    if pod.metadata.is_leaving or not pod.is_ready or condition is None:
        return ""
    return condition.last_transition_time or ""


def _as_of_now(made: Object, pod: ServingPod) -> Object:
    metadata = {
        **made["metadata"],
        "uid": pod.metadata.uid,
        "labels": dict(pod.metadata.labels),
        "annotations": dict(pod.metadata.annotations),
    }
    conditions = [
        {"type": c.type, "status": c.status, "lastTransitionTime": c.last_transition_time}
        for c in pod.status.conditions or ()
    ]
    return {
        **made,
        "metadata": metadata,
        "spec": {**made["spec"], "nodeName": pod.spec.node_name},
        "status": {"phase": pod.status.phase, "conditions": conditions},
    }
