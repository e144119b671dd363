"""LeaderWorkerSets to convert: those of upstream's documents, and a few written by hand."""

from typing import Any

from kohort.cluster.objects import Object


def container(name: str = "engine", **fields: Any) -> Object:
    """A container."""
    return {"name": name, "image": "engine:1", **fields}


def pod_template(image: str = "engine:1", **spec: Any) -> Object:
    """A pod template of one container; further arguments are fields of its spec."""
    return {"spec": {"containers": [container(image=image)], **spec}}


def lws(annotations: dict[str, str] | None = None, group: Any = None, **spec: Any) -> Object:
    """A LeaderWorkerSet as a user writes it; `group` goes into its leaderWorkerTemplate."""
    metadata: Object = {"name": "llama", "namespace": "ml"}
    if annotations:
        metadata["annotations"] = annotations
    template = {"size": 3, "workerTemplate": pod_template(), **(group or {})}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": metadata,
        "spec": {"replicas": 2, "leaderWorkerTemplate": template, **spec},
    }


PREFIX = "leaderworkerset.sigs.k8s.io/"
TPU = {"resources": {"limits": {"google.com/tpu": "4"}}}
BY_HAND = [
    ("one pod in a group", lws(group={"size": 1})),
    ("two templates", lws(group={"leaderTemplate": pod_template("leader:1")})),
    ("a subdomain for each group", lws(networkConfig={"subdomainPolicy": "UniquePerReplica"})),
    (
        "an init container",
        lws(group={"workerTemplate": pod_template(initContainers=[container()])}),
    ),
    (
        "subgroups that keep to themselves",
        lws(
            annotations={
                PREFIX + "exclusive-topology": "rack",
                PREFIX + "subgroup-exclusive-topology": "host",
            },
            group={"size": 4, "subGroupPolicy": {"subGroupSize": 2}},
        ),
    ),
    (
        "subgroups without the leader",
        lws(
            group={
                "size": 5,
                "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"},
            }
        ),
    ),
    (
        "TPUs in leader and workers",
        lws(group={"workerTemplate": {"spec": {"containers": [container(**TPU)]}}}),
    ),
    (
        "TPUs in workers alone",
        lws(
            group={
                "leaderTemplate": pod_template(),
                "workerTemplate": {"spec": {"containers": [container(**TPU)]}},
            }
        ),
    ),
]
