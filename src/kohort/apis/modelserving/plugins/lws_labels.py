"""
Plugin `lws-standard-labels`: LeaderWorkerSet's four labels, if a LeaderWorkerSet owns the workload.

Like upstream's, it does nothing to other workloads. Upstream's controller of LeaderWorkerSets
lists it on every ModelServing that it makes.
"""

from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.plugins.configs import read_config
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin
from kohort.apis.modelserving.spec import PluginSpec
from kohort.cluster.objects import Object, labels_of, metadata_of, name_of


class LwsStandardLabels(Plugin):
    """Writes the labels that select LeaderWorkerSet's pods."""

    def __init__(self, spec: PluginSpec) -> None:
        super().__init__(spec)
        read_config(spec.config, {})

    def on_pod_create(self, request: HookRequest) -> Object:
        """The pod with four labels, if a LeaderWorkerSet owns its workload."""
        owner = find_lws_owner(request.model_serving)
        if not owner:
            return request.pod
        group = read_group(request)
        index = 0 if request.is_entry else names.read_ordinal(name_of(request.pod))
        marks = {
            labels.LWS_NAME: owner,
            labels.LWS_WORKER_INDEX: str(index),
            labels.LWS_GROUP_INDEX: str(group),
            labels.LWS_GROUP_KEY: names.hash_text(names.group_name(owner, group)),
        }
        return with_labels(request.pod, marks)


def find_lws_owner(serving: Object) -> str:
    """The LeaderWorkerSet that owns a ModelServing; empty if none does."""
    for owner in metadata_of(serving).get("ownerReferences") or ():
        if owner.get("kind") == labels.LWS_KIND:
            return str(owner.get("name") or "")
    return ""


def read_group(request: HookRequest) -> int:
    """The ordinal of the pod's group; raises ValueError if its name has none."""
    group = names.read_ordinal(request.serving_group)
    if group == names.NO_ORDINAL:
        raise ValueError(f"group {request.serving_group} has no ordinal at the end of its name")
    return group


def with_labels(pod: Object, marks: dict[str, str]) -> Object:
    """The pod with more labels."""
    return {**pod, "metadata": {**pod["metadata"], "labels": {**labels_of(pod), **marks}}}
