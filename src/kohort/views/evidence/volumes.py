"""
Pods that cannot start: a volume cannot be mounted, or a ConfigMap or Secret is missing.

The status of a pod does not show volumes. Only Warning events do, and they stay after the volume
was mounted. So they count while the pod has no sandbox: a node makes one when all are mounted.
"""

import re
from dataclasses import dataclass

from kohort.apis.details import list_outer_volumes
from kohort.cluster.objects import Object, find_condition, metadata_of
from kohort.views.evidence.cluster import ClusterFacts, find_text

FAILED_MOUNT, CONFIG_ERROR = "FailedMount", "CreateContainerConfigError"
INVALID_IMAGE = "InvalidImageName"
CREATING = ("ContainerCreating", "PodInitializing")
# How the kubelet begins the message of a failed try; other messages say that it waited long.
_TRY = "MountVolume."
_MISSING = re.compile(r'(configmap|secret) "([^"]+)" not found')
_NO_KEY = re.compile(r"couldn't find key (\S+) in (ConfigMap|Secret) [^/ ]+/(\S+)")
_WORDS = {"configmap": "ConfigMap", "secret": "Secret"}


@dataclass(frozen=True, slots=True)
class MissingObject:
    """A ConfigMap or Secret, or a key of one, that a pod refers to and that does not exist."""

    kind: str
    name: str
    key: str = ""  # nothing: the object itself is missing


def find_missing(text: str) -> MissingObject | None:
    """The ConfigMap or Secret that the words of a kubelet say is missing."""
    if found := _MISSING.search(text):
        return MissingObject(_WORDS[found[1]], found[2])
    if found := _NO_KEY.search(text):
        return MissingObject(found[2], found[3], found[1])
    return None


def awaits_volumes(pod: Object) -> bool:
    """Whether a pod has a node, and volumes that may be what keeps its containers from starting."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if not spec.get("nodeName") or metadata_of(pod).get("deletionTimestamp"):
        return False
    if not list_outer_volumes(spec):
        return False
    if (find_condition(pod, "PodReadyToStartContainers") or {}).get("status") == "True":
        return False
    seen = (
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    )
    states = [(found.get("state") or {}).get("waiting") or {} for found in seen]
    return all(state.get("reason") in CREATING for state in states)


def find_mount_warning(pod: Object, facts: ClusterFacts) -> Object | None:
    """The last warning about volumes of a pod that waits for them."""
    if not facts.warnings or not awaits_volumes(pod):
        return None
    told = facts.find_warnings(metadata_of(pod).get("uid", ""), FAILED_MOUNT)
    tries = [event for event in told if find_text(event).startswith(_TRY)]
    return next(iter(tries or told), None)
