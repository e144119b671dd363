"""The pods of a Job, as its controller makes them."""

from kohort.apiserver.resources.jobs import COMPLETION_INDEX
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import JOB
from kohort.cluster.objects import Object
from kohort.simulator.builtins.jobs.spec import TRACKING
from kohort.simulator.builtins.names import make_suffix
from kohort.simulator.builtins.ownership import reference
from kohort.simulator.builtins.templates import pod_from_template


def make_pod(job: StoredObject, template: Object, serial: int, index: int | None) -> Object:
    """A new pod of a Job; its name is a hash of the Job's uid and the serial number."""
    about = reference(JOB, job)
    owner = {
        "apiVersion": about["apiVersion"],
        "kind": about["kind"],
        "name": job.name,
        "uid": job.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    pod = pod_from_template(template, job, owner)
    metadata = pod["metadata"]
    metadata.pop("generateName")
    middle = "" if index is None else f"-{index}"
    metadata["name"] = f"{job.name}{middle}-{make_suffix(job.uid, serial)}"
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is not None:
        _mark_index(pod, job.name, index)
    return pod


def _mark_index(pod: Object, job: str, index: int) -> None:
    """Set the completion index of a pod, as annotation, label and variable."""
    metadata = pod["metadata"]
    metadata["labels"][COMPLETION_INDEX] = str(index)
    metadata.setdefault("annotations", {})[COMPLETION_INDEX] = str(index)
    path = {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": path}}
    spec = {**pod["spec"], "hostname": f"{job}-{index}"}
    spec["containers"] = [
        {**container, "env": [*(container.get("env") or ()), variable]}
        for container in spec["containers"]
    ]
    pod["spec"] = spec
