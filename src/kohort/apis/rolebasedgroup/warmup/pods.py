"""
The pod of one try on one node, and the outcome of a try, read from its pod.

A pod's name comes from the node and the number of the try, so an operator that restarts after any
write creates no pod twice. A container that only pulls its image succeeds even if the image has no
shell to run: that it cannot start is no failure.
"""

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha1

from kohort.apis.facts import NodeFacts, PodFacts, Restarts
from kohort.apis.ordinals import find_ordinal
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.apis.rolebasedgroup.warmup.decisions import Try, TryState
from kohort.apis.rolebasedgroup.warmup.targets import Actions
from kohort.cluster.objects import Object, name_of, namespace_of, owner_reference, uid_of

HOSTNAME = "kubernetes.io/hostname"
PRELOAD = "image-preload-"
_COMMAND = ("sh", "-c", "exit 0")
_NAME_MAX, _HASH_LENGTH, _LABEL_MAX = 40, 10, 63
_NOT_STARTED = ("StartError", "ContainerCannotRun")


def make_pod(
    warmup: Object, node: NodeFacts | None, name: str, number: int, actions: Actions
) -> Object:
    """The pod of one try on one node."""
    host = name if node is None else node.metadata.labels.get(HOSTNAME, name)
    preloads = [
        {
            "name": f"{PRELOAD}{index}",
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "command": list(_COMMAND),
        }
        for index, image in enumerate(actions.images)
    ]
    spec: Object = {
        "restartPolicy": "Never",
        "nodeSelector": {HOSTNAME: host},
        "containers": [*preloads, *actions.containers],
    }
    if actions.volumes:
        spec["volumes"] = list(actions.volumes)
    if actions.secrets:
        spec["imagePullSecrets"] = [{"name": secret} for secret in actions.secrets]
    if tolerations := as_objects(as_map(warmup.get("spec")).get("tolerations")):
        spec["tolerations"] = tolerations
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(warmup, name, number),
            "namespace": namespace_of(warmup),
            "labels": {
                labels.WARMUP_NAME: cut_label(name_of(warmup)),
                labels.WARMUP_UID: uid_of(warmup),
                labels.WARMUP_NODE: cut_label(name),
            },
            "ownerReferences": [owner_reference(warmup)],
        },
        "spec": spec,
    }


def pod_name(warmup: Object, node: str, number: int) -> str:
    """The pod name of one try; it hashes the uid, so a recreated warm-up gets other names."""
    return f"{name_of(warmup)[:_NAME_MAX]}-{_hash(f'{uid_of(warmup)}/{node}')}-{number}"


def cut_label(text: str) -> str:
    """A name as a label value; one that is too long is cut and ends with its hash."""
    if len(text) <= _LABEL_MAX:
        return text
    return f"{text[: _LABEL_MAX - _HASH_LENGTH - 1]}-{_hash(text)}"


def _hash(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()[:_HASH_LENGTH]


def read_try(pod: PodFacts) -> Try:
    """The try that a pod stands for, with its outcome."""
    found = find_ordinal(pod.metadata.name)
    number, state = found[1] if found else 0, _state_of(pod)
    return Try(number, state, 0.0 if state is TryState.ACTIVE else _find_end(pod))


def _state_of(pod: PodFacts) -> TryState:
    if pod.status.phase == "Succeeded":
        return TryState.SUCCEEDED
    if pod.status.phase == "Failed":
        return TryState.SUCCEEDED if _has_pulled_all(pod) else TryState.FAILED
    return TryState.ACTIVE


def _has_pulled_all(pod: PodFacts) -> bool:
    """Whether only containers failed whose image was pulled and could not start."""
    failed = [(c.name, end) for c, end in _list_ends(pod) if end.get("exitCode")]
    return bool(failed) and all(
        name.startswith(PRELOAD) and end.get("reason") in _NOT_STARTED for name, end in failed
    )


def _list_ends(pod: PodFacts) -> Iterator[tuple[Restarts, Object]]:
    for container in pod.status.container_statuses or ():
        yield container, as_map(container.state.get("terminated"))


def _find_end(pod: PodFacts) -> float:
    """When a pod's last container ended; without that time, when the pod was created."""
    stamps = [end.get("finishedAt") for _, end in _list_ends(pod)]
    moments = [read_moment(stamp) for stamp in (*stamps, pod.metadata.creation_timestamp)]
    return max((moment for moment in moments if moment is not None), default=0.0)


def read_moment(stamp: object) -> float | None:
    """A Kubernetes timestamp in seconds since the epoch; None if it is no text."""
    return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else None
