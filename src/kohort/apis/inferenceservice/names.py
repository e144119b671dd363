"""
Every name that belongs to an InferenceService, and the rules by which long names are cut.

A name that is too long is cut from the front and gets a hash of the whole before it, so that two
long names never meet. Some names upstream cuts without a hash; those stay as they are, since
renaming an object makes a second one.
"""

import re
from hashlib import sha256

from kohort.cluster.names import check_label, check_label_value

LABEL_MAX = 63
_HASH_LENGTH = 8
_TAIL_MAX = 50
_CONFIG_TAIL_MAX = 20
_MODEL_MAX = 32
_NAMESPACED_MODEL_MAX = 38
_NAMESPACE_MAX = 8
_CONFIG_KEY_MAX = 253

MAIN_CONTAINER = "ome-container"
PROBER = "multinode-prober"
MODEL_INIT = "model-init"
ADAPTER = "fine-tuned-adapter"
SIDECAR = "serving-sidecar"
EMPTY_DIR = "model-empty-dir"
CONFIGURATION = "inferenceservice-config"
CONTROLLER_NAMESPACE = "ome"


def truncate(text: str, limit: int) -> str:
    """A text of at most that length: its end, with a hash of the whole before it."""
    return _truncate(text, limit, _hash(text))


def truncate_dns(text: str, limit: int = LABEL_MAX) -> str:
    """The same, for names that must begin with a letter."""
    digest = _hash(text)
    return _truncate(text, limit, f"a{digest[1:]}" if digest[0].isdigit() else digest)


def _truncate(text: str, limit: int, digest: str) -> str:
    if len(text) <= limit:
        return text
    rest = limit - _HASH_LENGTH - 1
    return digest[:limit] if rest <= 0 else f"{digest}-{text[-rest:]}"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_HASH_LENGTH]


def component_name(service: str, component: str) -> str:
    """The Deployment, autoscaler, budget and Knative Service of a component."""
    return f"{service}-{component}"


def service_name(component: str) -> str:
    """The Service of a component, by the component's name; and the value of its label ``app``."""
    return truncate_dns(component)


def leader_worker_set_name(component: str) -> str:
    """The LeaderWorkerSet of a component."""
    return f"lws-{component[-_TAIL_MAX:]}"


def scaled_object_name(component: str) -> str:
    """The ScaledObject of a component."""
    return f"scaledobject-{component[-_TAIL_MAX:]}"


def model_config_name(service: str) -> str:
    """The ConfigMap that says where a service's model lies.

    Upstream takes the last 20 characters, so that two long names meet; those get a hash here.
    """
    return f"modelconfig-{truncate(service, _CONFIG_TAIL_MAX)}"


def ray_name(text: str) -> str:
    """A name that KubeRay takes: at most 50 characters, and a letter first."""
    tail = text[-_TAIL_MAX:]
    return tail if re.match(r"[A-Za-z]", tail) else f"r{tail[1:]}"


def model_ready_label(name: str, namespace: str = "") -> str:
    """The label of nodes that have a model; without a namespace, one of the cluster."""
    if not namespace:
        return f"models.ome.io/clusterbasemodel.{truncate(name, _MODEL_MAX)}"
    if len(namespace) + len(name) > _NAMESPACED_MODEL_MAX:
        namespace = truncate(namespace, _NAMESPACE_MAX)
        name = truncate(name, _NAMESPACED_MODEL_MAX - len(namespace))
    return f"models.ome.io/{namespace}.basemodel.{name}"


def model_status_key(name: str, namespace: str = "") -> str:
    """The key of a model in the ConfigMap that the model agent keeps for a node."""
    text = f"{namespace}.basemodel.{name}" if namespace else f"clusterbasemodel.{name}"
    return truncate(text, _CONFIG_KEY_MAX)


def volume_name(model: str) -> str:
    """The volume that holds a model: its name, where that may name a volume."""
    if not check_label(model):
        return model
    plain = re.sub(r"[^a-z0-9-]+", "-", model.lower()).strip("-") or "model"
    return truncate_dns(plain).strip("-")


def label_value(text: str) -> str:
    """A text as the value of a label: unchanged where it may be one."""
    if not check_label_value(text):
        return text
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return truncate_dns(plain).strip("-._")


def service_host(name: str, namespace: str, domain: str = "cluster.local") -> str:
    """Where a Service is found inside the cluster."""
    return f"{name}.{namespace}.svc.{domain}"


def ready_label_of(key: str) -> str:
    """The label on nodes of a model that may have gone, by the key of its entry."""
    scope, _, rest = key.partition(".")
    if scope == "clusterbasemodel":
        return model_ready_label(rest)
    return model_ready_label(rest.removeprefix("basemodel."), scope)
