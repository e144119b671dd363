"""Workloads of all four APIs in trouble, made from pod templates that go wrong in one way each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kohort.apis.served import APIS
from kohort.cluster.objects import Object
from kohort.simulator.stages import CRASH_AFTER, NEVER_READY, PULL_ERROR

KINDS = {api.short_name: api.kind for api in APIS}
SHORT = ("lws", "ms", "rbg", "isvc")


@dataclass(frozen=True, slots=True)
class Template:
    """A pod template: one container, and what is odd about it."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    container: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pod(self) -> Object:
        container = {"name": "engine", "image": "engine:1", **self.container}
        return {
            "metadata": {"annotations": dict(self.annotations)},
            "spec": {"containers": [container], **self.spec},
        }


TAINT = {"key": "example.com/apart", "effect": "NoSchedule"}


def _stand_on(node: str) -> Object:
    """The spec of a pod on a node that others keep away from."""
    tolerations = [{"key": TAINT["key"], "operator": "Exists"}]
    return {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": tolerations}


_MISSING = {"configMapRef": {"name": "absent"}}
_VOLUME = [{"name": "data", "configMap": {"name": "absent"}}]
TEMPLATES = {
    "well": Template(),
    "pull": Template({PULL_ERROR: "manifest unknown"}),
    "crash": Template({CRASH_AFTER: "0.1s"}),
    "selector": Template(spec={"nodeSelector": {"no": "where"}}),
    "gpus": Template(container={"resources": {"limits": {"nvidia.com/gpu": "99"}}}),
    "gate": Template(spec={"schedulingGates": [{"name": "example.com/queue"}]}),
    "scheduler": Template(spec={"schedulerName": "absent-scheduler"}),
    "config": Template(container={"envFrom": [_MISSING]}),
    "volume": Template(
        container={"volumeMounts": [{"name": "data", "mountPath": "/data"}]},
        spec={"volumes": _VOLUME},
    ),
    "slow": Template({NEVER_READY: "true"}),
    # On a node that is lost, seven minutes ago or just now.
    "lost": Template(spec=_stand_on("gpu-06")),
    "away": Template(spec=_stand_on("gpu-07")),
}


def write_spec(kind: str, template: Template, count: int = 1, **rolling: Any) -> Object:
    """The spec of a workload with so many pods of that template, and how it rolls."""
    return _WRITERS[kind](template, count, rolling)


def _write_lws(template: Template, count: int, rolling: Object) -> Object:
    rules = {"rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, **rolling}}
    return {
        "replicas": count,
        "leaderWorkerTemplate": {"size": 1, "workerTemplate": template.pod},
        "rolloutStrategy": {"type": "RollingUpdate", **rules},
    }


def _write_ms(template: Template, count: int, rolling: Object) -> Object:
    role = {"name": "engine", "replicas": 1, "workerReplicas": 0, "entryTemplate": template.pod}
    # Here the workload names the scheduler of all its pods.
    scheduler = {key: value for key, value in template.spec.items() if key == "schedulerName"}
    rules = {"rollingUpdateConfiguration": rolling} if rolling else {}
    return {
        "replicas": count,
        "template": {"roles": [role]},
        "rolloutStrategy": {"type": "ServingGroupRollingUpdate", **rules},
        **scheduler,
    }


def write_role(name: str, template: Template, count: int = 1, **more: Any) -> Object:
    """A role of a RoleBasedGroup."""
    pattern = {"standalonePattern": {"template": template.pod}}
    return {"name": name, "replicas": count, **pattern, **more}


def _write_rbg(template: Template, count: int, rolling: Object) -> Object:
    rules = {"rolloutStrategy": {"rollingUpdate": rolling}} if rolling else {}
    return {"roles": [write_role("engine", template, count, **rules)]}


def _write_isvc(template: Template, count: int, rolling: Object) -> Object:
    spec = dict(template.pod["spec"])
    [runner] = spec.pop("containers")
    engine = {
        "minReplicas": count,
        "maxReplicas": count,
        "annotations": dict(template.annotations),
        "runner": runner,
        **spec,
    }
    return {"engine": engine}


_WRITERS = {"lws": _write_lws, "ms": _write_ms, "rbg": _write_rbg, "isvc": _write_isvc}


def write_object(kind: str, name: str, spec: Object, **metadata: Any) -> Object:
    """A workload."""
    found = KINDS[kind]
    head = {"apiVersion": found.api_version, "kind": found.name}
    return {**head, "metadata": {"name": name, **metadata}, "spec": spec}
