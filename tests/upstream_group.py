"""
What upstream's controller leaves of one small group, written by hand from the worked example.

Group m1 in ns1 with one standalone role and two instances, all ready: the objects, names, labels
and variables of the worked example, in upstream's style. Hashes of revisions are made up, since
revisions are compared by their data; that of the role is FNV-1a over its JSON as Go writes it.
"""

from copy import deepcopy
from typing import Any

from kohort.cluster.objects import Object

P = "rbg.workloads.x-k8s.io/"
API = "workloads.x-k8s.io/v1alpha2"
SHA1 = "54ac907422ef10124dda56f8a34a7f84a8c5925d"  # of ns1/m1
SINCE = "2026-01-01T00:00:00Z"
COMMON = {P + "group-name": "m1", P + "role-name": "decoder", P + "group-uid": SHA1}
GROUP_HASH, SET_HASH, POD_HASH = "548cfc967f", "69f85b5477", "7c6d8f9b44"
REVISION = f"m1-decoder-{SET_HASH}"
# The role as Go writes a map: keys in order, no replicas, the resources that every container has.
ROLE_JSON = (
    '{"name":"decoder","replicas":null,"standalonePattern":{"template":{"metadata":'
    '{"labels":{"app":"m1"}},"spec":{"containers":[{"image":"engine:1","name":"engine",'
    '"resources":{}}]}}}}'
)
SAFE = "bcdfghjklmnpqrstvwxz2456789"  # the characters into which Kubernetes encodes hashes
ROLE = {
    "name": "decoder",
    "replicas": 2,
    "standalonePattern": {
        "template": {
            "metadata": {"labels": {"app": "m1"}},
            "spec": {"containers": [{"name": "engine", "image": "engine:1", "resources": {}}]},
        }
    },
}
CONFIG = """group:
  name: m1
  roles:
  - decoder
  size: 1
roles:
  decoder:
    instances:
    - address: m1-decoder-0.s-m1-decoder
    - address: m1-decoder-1.s-m1-decoder
    size: 2
"""


def hash_text(text: str) -> str:
    """FNV-1a with 32 bits in decimal, each digit as a safe character."""
    found = 2_166_136_261
    for byte in text.encode():
        found = (found ^ byte) * 16_777_619 % 2**32
    return "".join(SAFE[ord(digit) % len(SAFE)] for digit in str(found))


def make(kind: str, name: str, owner: str = "", api: str = API, **more: Any) -> Object:
    """An object of this kind and name; ``more`` are metadata."""
    metadata = {"name": name, "namespace": "ns1", "uid": f"uid of {kind}/{name}", "generation": 1}
    if owner:
        of_kind, _, of_name = owner.partition("/")
        link = {"apiVersion": API, "kind": of_kind, "name": of_name, "uid": f"uid of {owner}"}
        metadata["ownerReferences"] = [{**link, "controller": True, "blockOwnerDeletion": True}]
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"creationTimestamp": SINCE, **metadata, **more},
    }


def claim(kind: str, reason: str, **more: Any) -> Object:
    return {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": SINCE, **more}


def field_of(label: str) -> Object:
    return {"fieldRef": {"fieldPath": f"metadata.labels['{P}{label}']"}}


VARIABLES = [
    {"name": "RBG_COMPONENT_INDEX", "valueFrom": field_of("component-id")},
    {"name": "RBG_COMPONENT_NAME", "valueFrom": field_of("component-name")},
    {"name": "RBG_GROUP_NAME", "value": "m1"},
    {"name": "RBG_ROLE_INDEX", "valueFrom": field_of("role-instance-index")},
    {"name": "RBG_ROLE_INSTANCE_NAME", "valueFrom": field_of("role-instance-name")},
    {"name": "RBG_ROLE_NAME", "value": "decoder"},
]
SOURCE = {"name": "m1", "items": [{"key": "config.yaml", "path": "config.yaml"}]}
MOUNT = {"name": "rbg-cluster-config", "mountPath": "/etc/rbg", "readOnly": True}
POD_SPEC = {
    "volumes": [{"name": "rbg-cluster-config", "configMap": SOURCE}],
    "containers": [
        {
            "name": "engine",
            "image": "engine:1",
            "env": VARIABLES,
            "resources": {},
            "volumeMounts": [MOUNT],
        }
    ],
}
POD_LABELS = {"app": "m1", **COMMON, P + "component-size": "1"}


def template(**marks: str) -> Object:
    """What instances are made from; ``marks`` are labels of one instance."""
    inner = {"metadata": {"labels": {**POD_LABELS, **marks}}, "spec": POD_SPEC}
    component = {"name": "decoder", "size": 1, "serviceName": "s-m1-decoder", "template": inner}
    restart = {"type": "None", "baseDelaySeconds": 30, "maxDelaySeconds": 600}
    return {"components": [component], "restartPolicyConfig": restart}


def group() -> Object:
    made = make("RoleBasedGroup", "m1", annotations={P + "discovery-config-mode": "refine"})
    ready = claim("Ready", "AllRolesReady", message="All roles are ready", observedGeneration=1)
    counts = {"name": "decoder", "replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}
    status = {"observedGeneration": 1, "conditions": [ready], "roleStatuses": [counts]}
    return {**made, "spec": {"roles": [ROLE]}, "status": status}


def group_revision() -> Object:
    marks = {P + "group-name": "m1", P + "group-revision": GROUP_HASH}
    name = f"m1-{GROUP_HASH}-1"
    made = make("ControllerRevision", name, "RoleBasedGroup/m1", "apps/v1", labels=marks)
    held = {**ROLE, "replicas": None}
    replaced = {"$patch": "replace"}
    data = {"spec": {"roles": [replaced, held], "roleTemplates": [replaced]}}
    return {**made, "revision": 1, "data": data}


def config_map() -> Object:
    made = make("ConfigMap", "m1", "RoleBasedGroup/m1", "v1")
    return {**made, "data": {"config.yaml": CONFIG}}


def instance_set() -> Object:
    marks = {
        **COMMON,
        P + "role-revision-decoder": hash_text(ROLE_JSON),
        P + "role-type": "PodTemplate",
    }
    notes = {P + "role-size": "2", P + "role-instance-pattern": "Stateful"}
    owner = "RoleBasedGroup/m1"
    made = make("RoleInstanceSet", "m1-decoder", owner, labels=marks, annotations=notes)
    update = {"type": "InPlaceIfPossible", "partition": 0, "maxUnavailable": 1, "maxSurge": 0}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": COMMON},
        "minReadySeconds": 0,
        "podManagementPolicy": "Parallel",
        "revisionHistoryLimit": 10,
        "roleInstanceTemplate": template(),
        "updateStrategy": {**update, "paused": False},
    }
    counts = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas")
    more = ("updatedReplicas", "updatedReadyReplicas", "expectedUpdatedReplicas")
    revisions = dict.fromkeys(("currentRevision", "updateRevision"), REVISION)
    selector = ",".join(f"{key}={COMMON[key]}" for key in sorted(COMMON))
    rest = {"observedGeneration": 1, "collisionCount": 0, "labelSelector": selector}
    return {
        **made,
        "spec": spec,
        "status": {**dict.fromkeys((*counts, *more), 2), **revisions, **rest},
    }


def set_revision() -> Object:
    marks = {**COMMON, "controller.kubernetes.io/hash": SET_HASH}
    owner = "RoleInstanceSet/m1-decoder"
    made = make("ControllerRevision", REVISION, owner, "apps/v1", labels=marks)
    data = {"spec": {"roleInstanceTemplate": {"$patch": "replace", **template()}}}
    return {**made, "revision": 1, "data": data}


def service() -> Object:
    notes = {P + "role-size": "2"}
    made = make("Service", "s-m1-decoder", api="v1", labels=COMMON, annotations=notes)
    owner = {"apiVersion": API, "kind": "RoleInstanceSet", "name": "m1-decoder"}
    link = {**owner, "uid": "uid of RoleInstanceSet/m1-decoder", "blockOwnerDeletion": True}
    made["metadata"]["ownerReferences"] = [link]
    selector = {key: COMMON[key] for key in (P + "group-name", P + "role-name")}
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    return {**made, "spec": spec}


def instance(ordinal: int) -> Object:
    name = f"m1-decoder-{ordinal}"
    own = {P + "role-instance-index": str(ordinal), "statefulset.kubernetes.io/pod-name": name}
    marks = {**instance_set()["metadata"]["labels"], **own, "controller-revision-hash": REVISION}
    made = make("RoleInstance", name, "RoleInstanceSet/m1-decoder", labels=marks)
    counts = ("size", "readyReplicas", "updatedReplicas", "scheduledReplicas")
    more = ("availableReplicas", "updatedReadyReplicas")
    revision = f"{name}-{POD_HASH}"
    status = {
        "observedGeneration": 1,
        "collisionCount": 0,
        "componentStatuses": [{"name": "decoder", **dict.fromkeys((*counts, *more), 1)}],
        "conditions": [
            claim("RoleInstanceReady", "Ready"),
            claim("RoleInstanceAllPodsReady", "PodsReady", message="Ready"),
        ],
        "currentRevision": revision,
        "updateRevision": revision,
    }
    spec = {"readyPolicy": "AllPodReady", **template(**own)}
    return {**made, "spec": spec, "status": status}


def pod(ordinal: int) -> Object:
    name = f"m1-decoder-{ordinal}"
    marks = {
        **POD_LABELS,
        P + "role-instance-index": str(ordinal),
        "statefulset.kubernetes.io/pod-name": name,
        P + "role-instance-name": name,
        P + "component-name": "decoder",
        P + "component-id": "0",
        "controller-revision-hash": POD_HASH,
    }
    made = make("Pod", name, f"RoleInstance/{name}", "v1", labels=marks)
    gates = ("InPlaceUpdateReady", "InstancePodReady")
    spec = {
        **POD_SPEC,
        "hostname": name,
        "subdomain": "s-m1-decoder",
        "nodeName": "node-0",
        "readinessGates": [{"conditionType": gate} for gate in gates],
    }
    running = {"name": "engine", "image": "engine:1", "imageID": "sha256:1", "restartCount": 0}
    since = {"running": {"startedAt": SINCE}}
    status = {
        "phase": "Running",
        "conditions": [claim(each, "") for each in (*gates, "ContainersReady", "Ready")],
        "containerStatuses": [{**running, "ready": True, "state": since}],
    }
    return {**made, "spec": spec, "status": status}


def list_objects() -> list[Object]:
    """All objects of the group, at rest; a test that changes them changes no other's."""
    each = [found for ordinal in range(2) for found in (instance(ordinal), pod(ordinal))]
    above = [group_revision(), config_map(), instance_set(), set_revision(), service()]
    return deepcopy([group(), *above, *each])
