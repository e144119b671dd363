"""
What OME's controller leaves of an InferenceService at rest, written by hand from its behaviour.

Nothing here calls our own rendering. ``list_raw`` is a service whose engine and router are
Deployments; ``list_multi_node`` has engine and decoder as LeaderWorkerSets, and a router. Names,
labels, annotations, order of variables, defaults of pods, selectors and status are upstream's, with
its defects; every object is signed by upstream's field manager.
"""

from copy import deepcopy
from typing import Any

from kohort.cluster.objects import Object
from upstream_models import (
    AGENT,
    API,
    CONFIG,
    ENGINE,
    MODEL,
    PATH,
    PORT,
    ROUTER,
    RUNTIME,
    SINCE,
    VENDOR,
    model,
    runtime,
)

LWS = "leaderworkerset.x-k8s.io/v1"

POD_DEFAULTS = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
CONTAINER_DEFAULTS = {
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
VOLUME = {"name": MODEL, "hostPath": {"path": PATH, "type": ""}}
SET_SPEC = {
    "replicas": 1,
    "startupPolicy": "LeaderCreated",
    "networkConfig": {"subdomainPolicy": "Shared"},
    "rolloutStrategy": {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1, "partition": 0},
    },
}
NODES = {f"models.ome.io/clusterbasemodel.{MODEL}": "Ready"}


def fields_of(value: Any) -> Object:
    """The managed fields of a value, items of lists by name where they have one."""
    if isinstance(value, dict):
        return {f"f:{key}": fields_of(each) for key, each in value.items()}
    if (
        isinstance(value, list)
        and value
        and all(isinstance(v, dict) and "name" in v for v in value)
    ):
        return {f'k:{{"name":"{v["name"]}"}}': {".": {}, **fields_of(v)} for v in value}
    return {}


class Service:
    """One service: its name, which is also its namespace, and the objects around it."""

    def __init__(self, name: str, mode: str, components: tuple[str, ...], **notes: str) -> None:
        self.name = name
        self.components = components
        self.notes = {"ome.io/deploymentMode": mode, **notes}

    def make(
        self, kind: str, name: str, api: str, owner: Object | None = None, **more: Any
    ) -> Object:
        """An object as upstream's controller made it."""
        metadata = {"name": name, "namespace": self.name, **more}
        if owner is None:
            link = {"apiVersion": API, "kind": "InferenceService", "name": self.name}
            owner = {**link, "uid": f"uid of {self.name}"}
        reference = {**owner, "controller": True, "blockOwnerDeletion": True}
        given = {"uid": f"uid of {kind}/{name}", "creationTimestamp": SINCE, "generation": 1}
        metadata = {**metadata, **given, "resourceVersion": "7", "ownerReferences": [reference]}
        return {"apiVersion": api, "kind": kind, "metadata": metadata}

    def sign(self, obj: Object, status: Object | None = None) -> Object:
        """The object with the fields that upstream's controller manages, and a status."""
        written = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind", "metadata")}
        about = {k: obj["metadata"].get(k) or {} for k in ("annotations", "labels")}
        entry = {
            "manager": "manager",
            "operation": "Update",
            "apiVersion": obj["apiVersion"],
            "time": SINCE,
            "fieldsType": "FieldsV1",
            "fieldsV1": {**fields_of(written), "f:metadata": fields_of(about)},
        }
        signed = {**obj, "metadata": {**obj["metadata"], "managedFields": [entry]}}
        return signed if status is None else {**signed, "status": status}

    def labels(self, component: str, *, is_raw: bool) -> dict[str, str]:
        app = {"app": f"{self.name}-{component}"} if is_raw else {}
        return {
            "ome.io/inferenceservice": self.name,
            "component": component,
            "serving-runtime": RUNTIME,
            "fine-tuned-serving": "false",
            "base-model-name": MODEL,
            "base-model-size": "SMALL",
            "base-model-type": "Serving",
            "base-model-vendor": VENDOR,
            **app,
        }

    def annotations(self) -> dict[str, str]:
        return {
            **self.notes,
            "ome.io/base-model-name": MODEL,
            "ome.io/base-model-vendor": VENDOR,
            "ome.io/base-model-format": "safetensors",
            "ome.io/base-model-format-version": "1.0.0",
            "ome.io/serving-runtime": RUNTIME,
        }

    def root(self, **status: Any) -> Object:
        sizes = {"engine": 3, "decoder": 3, "router": 2}
        parts = {each: {"minReplicas": 1, "maxReplicas": sizes[each]} for each in self.components}
        named = {"name": MODEL, "kind": "ClusterBaseModel", "apiGroup": "ome.io"}
        metadata = {
            "name": self.name,
            "namespace": self.name,
            "uid": f"uid of {self.name}",
            "creationTimestamp": SINCE,
            "generation": 1,
            "resourceVersion": "9",
            "finalizers": ["inferenceservice.finalizers"],
            "annotations": {
                **self.notes,
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
            },
        }
        kind = {"apiVersion": API, "kind": "InferenceService"}
        spec = {"predictor": {}, "model": named, **parts}
        return {**kind, "metadata": metadata, "spec": spec, "status": status}

    def model_config(self) -> Object:
        marks = {"ome.io/inferenceservice": self.name}
        made = self.make("ConfigMap", f"modelconfig-{self.name[-20:]}", "v1", labels=marks)
        text = (
            '[{"modelName":"llama","modelSpec":{"storageUri":"hf://meta/llama",'
            '"path":"/mnt/models/llama","modelFormatName":"safetensors","modelFormatVersion":'
            '"1.0.0","modelFrameworkName":"transformers","modelFrameworkVersion":"4.43.0"}}]'
        )
        return self.sign({**made, "data": {"models.json": text}})

    # The objects of one component.

    def serving_pod(self, runner: Object, gpus: str, *, has_probe: bool) -> Object:
        """The pod of an engine or decoder: the runner with its variables, mounts and defaults."""
        env = [
            *runner["env"],
            {"name": "MODEL_PATH", "value": PATH},
            {"name": "PARALLELISM_SIZE", "value": gpus},
        ]
        mounts = [{"name": MODEL, "mountPath": PATH, "readOnly": True}]
        probe = {
            "tcpSocket": {"port": 8000},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        }
        container = {**runner, **CONTAINER_DEFAULTS, "env": env, "volumeMounts": mounts}
        container |= {"readinessProbe": probe} if has_probe else {}
        more = {"volumes": [VOLUME], "nodeSelector": NODES}
        return {**POD_DEFAULTS, "containers": [container], **more}

    def router_pod(self) -> Object:
        account = {
            "serviceAccountName": f"{self.name}-router",
            "serviceAccount": f"{self.name}-router",
        }
        container = {**ROUTER, **CONTAINER_DEFAULTS}
        return {**POD_DEFAULTS, "containers": [container], "volumes": [VOLUME], **account}

    def raw(self, component: str, pod: Object, ports: list[Object]) -> list[Object]:
        """Deployment, Service, autoscaler and budget of a component, and one pod."""
        name, marks = f"{self.name}-{component}", self.labels(component, is_raw=True)
        more = {"labels": marks, "annotations": self.annotations()}
        template = {"metadata": {"name": name, "namespace": self.name, **more}, "spec": pod}
        chosen = {"matchLabels": {"app": name}}
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
        spec = {"replicas": 1, "selector": chosen, "template": template, "strategy": rolling}
        spec |= {"revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
        made = self.make("Deployment", name, "apps/v1", **deepcopy(more))
        deployment = self.sign({**made, "spec": spec}, _serving(1))
        deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "1"
        budget = self.make("PodDisruptionBudget", name, "policy/v1", **more)
        return [
            deployment,
            self.service(name, marks, {"app": name}, ports),
            self.autoscaler(name, more, 2 if component == "router" else 3),
            self.sign({**budget, "spec": {"maxUnavailable": 1, "selector": chosen}}),
            *self.replica_set(deployment),
        ]

    def service(
        self, name: str, marks: dict[str, str], selector: dict[str, str], ports: list[Object]
    ) -> Object:
        made = self.make("Service", name, "v1", labels=marks, annotations=self.annotations())
        address = {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}
        # The API server counts its defaults among the fields of the client that creates.
        given = {"type": "ClusterIP", "internalTrafficPolicy": "Cluster", "sessionAffinity": "None"}
        spec = {**given, "selector": selector, "ports": ports}
        return {**self.sign({**made, "spec": spec}), "spec": {**spec, **address}}

    def autoscaler(self, name: str, more: Object, most: int) -> Object:
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        used = {"type": "Utilization", "averageUtilization": 80}
        metric = {"type": "Resource", "resource": {"name": "cpu", "target": used}}
        rules = {"policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
        spec = {
            "scaleTargetRef": target,
            "minReplicas": 1,
            "maxReplicas": most,
            "metrics": [metric],
            "behavior": {"scaleDown": {**rules, "selectPolicy": "Max"}},
        }
        made = self.make("HorizontalPodAutoscaler", name, "autoscaling/v2", **more)
        return self.sign({**made, "spec": spec})

    def replica_set(self, deployment: Object) -> list[Object]:
        name = f"{deployment['metadata']['name']}-6d4cf56db6"
        template = deployment["spec"]["template"]
        marks = {**template["metadata"]["labels"], "pod-template-hash": "6d4cf56db6"}
        owner = _refer(deployment)
        made = self.make("ReplicaSet", name, "apps/v1", owner, labels=marks)
        spec = {"replicas": 1, "selector": {"matchLabels": marks}, "template": template}
        found = {**made, "spec": spec, "status": {"replicas": 1, "readyReplicas": 1}}
        return [found, self.pod(f"{name}-x7k2p", template, marks, _refer(found))]

    def pod(self, name: str, template: Object, marks: dict[str, str], owner: Object) -> Object:
        notes = template["metadata"].get("annotations") or {}
        made = self.make("Pod", name, "v1", owner, labels=marks, annotations=notes)
        ready = [{"type": t, "status": "True"} for t in ("ContainersReady", "Ready")]
        container = template["spec"]["containers"][0]
        told = {"name": container["name"], "image": container["image"], "ready": True}
        since = {"running": {"startedAt": SINCE}}
        status = {
            "phase": "Running",
            "conditions": ready,
            "containerStatuses": [{**told, "imageID": "x", "restartCount": 0, "state": since}],
        }
        return {**made, "spec": {**template["spec"], "nodeName": "node-0"}, "status": status}

    def access(self) -> list[Object]:
        """ServiceAccount, Role and RoleBinding of the router."""
        name, rbac = f"{self.name}-router", "rbac.authorization.k8s.io"
        more = {"labels": self.labels("router", is_raw=False)}
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
        subject = {"kind": "ServiceAccount", "name": name, "namespace": self.name}
        role = {"apiGroup": rbac, "kind": "Role", "name": name}
        binding = self.make("RoleBinding", name, f"{rbac}/v1", **more)
        return [
            self.sign(self.make("ServiceAccount", name, "v1", **more)),
            self.sign({**self.make("Role", name, f"{rbac}/v1", **more), "rules": [rule]}),
            self.sign({**binding, "subjects": [subject], "roleRef": role}),
        ]

    def external(self, front: str, port: int) -> Object:
        """The Service with the name of the InferenceService; it selects workers, too."""
        marks = {"ome.io/inferenceservice": self.name, "component": "external-service"}
        chosen = {"ome.io/inferenceservice": self.name, "component": front}
        ports = [{"name": "http", "port": port, "targetPort": port, "protocol": "TCP"}]
        made = self.service(self.name, marks, chosen, ports)
        del made["metadata"]["annotations"]
        return made

    def multi_node(self, component: str) -> list[Object]:
        """LeaderWorkerSet and Service of a component, and a group of two pods."""
        name, marks = f"{self.name}-{component}", self.labels(component, is_raw=False)
        more = {"labels": marks, "annotations": self.annotations()}
        pod = self.serving_pod(ENGINE, "16", has_probe=False)
        head = {**marks, "app": name, "ray.io/node-type": "head"}
        leader = {"metadata": {**more, "labels": head}, "spec": pod}
        template = {
            "size": 2,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": leader,
            "workerTemplate": {"metadata": more, "spec": pod},
        }
        spec = {**SET_SPEC, "leaderWorkerTemplate": template}
        made = self.make("LeaderWorkerSet", f"lws-{name}", LWS, **deepcopy(more))
        carrier = self.sign({**made, "spec": spec}, _serving(1))
        ports = [{"name": "ome-container", "port": 8080, "targetPort": 8080, "protocol": "TCP"}]
        return [
            carrier,
            self.service(name, marks, {"ray.io/node-type": "head"}, ports),
            self.pod(f"lws-{name}-0", leader, head, _refer(carrier)),
            self.pod(f"lws-{name}-0-1", {"metadata": more, "spec": pod}, marks, _refer(carrier)),
        ]


def _refer(obj: Object) -> Object:
    metadata = obj["metadata"]
    about = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    return {**about, "name": metadata["name"], "uid": metadata["uid"]}


def _serving(count: int) -> Object:
    available = {"type": "Available", "status": "True", "reason": "AllReady", "message": "ready"}
    told = {"replicas": count, "readyReplicas": count, "updatedReplicas": count}
    since = {"lastTransitionTime": SINCE}
    return {"observedGeneration": 1, **told, "conditions": [{**available, **since}]}


def condition(kind: str, reason: str = "", *, is_info: bool = False) -> Object:
    """A condition as Knative's library writes it: Info unless Ready depends on it."""
    said = {"type": kind, "status": "True", "lastTransitionTime": SINCE}
    return {
        **said,
        **({"reason": reason} if reason else {}),
        **({"severity": "Info"} if is_info else {}),
    }


def _loaded(state: str, active: str, copies: int) -> Object:
    return {
        "transitionStatus": "UpToDate" if active else "InProgress",
        "modelRevisionStates": {"activeModelState": active, "targetModelState": state},
        "modelCopies": {"failedCopies": 0, "totalCopies": copies},
    }


def _components(name: str, parts: dict[str, str]) -> Object:
    host = f"{name}.svc.cluster.local"
    return {
        part: {"url": f"http://{name}-{part}.{host}", **({"latestCreatedRevision": r} if r else {})}
        for part, r in parts.items()
    }


def list_raw(**notes: str) -> list[Object]:
    """A service with engine and router, each a Deployment of one pod; ``notes`` are annotations."""
    chat = Service("chat", "RawDeployment", ("engine", "router"), **notes)
    url = "http://chat.chat.svc.cluster.local:8080"
    ready = [condition("EngineReady"), condition("IngressReady", "IngressDisabled")]
    root = chat.root(
        observedGeneration=1,
        conditions=[*ready, condition("Ready"), condition("RouterReady", is_info=True)],
        components=_components("chat", {"engine": "1", "router": "1"}),
        modelStatus=_loaded("Loaded", "Loaded", 1),
        url=url,
        address={"url": url},
    )
    pod = chat.serving_pod({**ENGINE, "ports": [PORT]}, "8", has_probe=True)
    ports = [{"name": "http1", "port": 8000, "targetPort": 8000, "protocol": "TCP"}]
    front = [{"name": "http", "port": 8080, "targetPort": 8080, "protocol": "TCP"}]
    own = [*chat.raw("engine", pod, ports), *chat.raw("router", chat.router_pod(), front)]
    rest = [chat.model_config(), *chat.access(), chat.external("router", 8080)]
    return deepcopy([root, CONFIG, AGENT, model(), runtime(False), *rest, *own])


def list_multi_node() -> list[Object]:
    """A service with engine and decoder on two nodes each, and a router."""
    pd = Service("pd", "PDDisaggregated", ("engine", "decoder", "router"))
    url = "http://pd.pd.svc.cluster.local:8080"
    root = pd.root(
        observedGeneration=1,
        conditions=[
            condition("DecoderReady", is_info=True),
            condition("EngineReady"),
            condition("IngressReady", "IngressDisabled"),
            condition("Ready"),
            condition("RouterReady", is_info=True),
        ],
        components=_components("pd", {"engine": "", "decoder": "", "router": "1"}),
        modelStatus=_loaded("Loaded", "Loaded", 1),
        url=url,
        address={"url": url},
    )
    front = [{"name": "http", "port": 8080, "targetPort": 8080, "protocol": "TCP"}]
    many = [*pd.multi_node("engine"), *pd.multi_node("decoder")]
    own = [*many, *pd.raw("router", pd.router_pod(), front)]
    rest = [pd.model_config(), *pd.access(), pd.external("router", 8080)]
    return deepcopy([root, CONFIG, AGENT, model(), runtime(True), *rest, *own])
