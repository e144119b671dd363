"""
The names of all objects of an InferenceService, and the rules that shorten long names.

A name that is too long loses its beginning and gets a hash of the whole name in front, so that two
long names never become equal. Upstream cuts some names without a hash; we keep those, since a new
name would create a second object.
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
    """A text of at most that length: a hash of the whole, then the end of the text."""
    return _truncate(text, limit, _hash(text))


def truncate_dns(text: str, limit: int = LABEL_MAX) -> str:
    """As ``truncate``, for names that must begin with a letter."""
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
    """The Service of a component, from the component's name; also its pods' ``app`` label."""
    return truncate_dns(component)


def leader_worker_set_name(component: str) -> str:
    """The LeaderWorkerSet of a component."""
    return f"lws-{component[-_TAIL_MAX:]}"


def scaled_object_name(component: str) -> str:
    """The ScaledObject of a component."""
    return f"scaledobject-{component[-_TAIL_MAX:]}"


def model_config_name(service: str) -> str:
    """The ConfigMap with the location of a service's model.

    Upstream takes the last 20 characters, so that long names may collide; we add a hash to those.
    """
    return f"modelconfig-{truncate(service, _CONFIG_TAIL_MAX)}"


def ray_name(text: str) -> str:
    """A name that KubeRay accepts: at most 50 characters, and a letter first."""
    tail = text[-_TAIL_MAX:]
    return tail if re.match(r"[A-Za-z]", tail) else f"r{tail[1:]}"


def model_ready_label(name: str, namespace: str = "") -> str:
    """The label on nodes that have a model; an empty namespace means a ClusterBaseModel."""
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
    """The name of a model's volume: the model's name, if it is a valid volume name."""
    if not check_label(model):
        return model
    plain = re.sub(r"[^a-z0-9-]+", "-", model.lower()).strip("-") or "model"
    return truncate_dns(plain).strip("-")


def label_value(text: str) -> str:
    """A text as a label value; unchanged if it is a valid one."""
    if not check_label_value(text):
        return text
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return truncate_dns(plain).strip("-._")


def service_host(name: str, namespace: str, domain: str = "cluster.local") -> str:
    """The DNS name of a Service inside the cluster."""
    return f"{name}.{namespace}.svc.{domain}"


def ready_label_of(key: str) -> str:
    """The node label of a model that may be deleted already, from its key in the ConfigMaps."""
    scope, _, rest = key.partition(".")
    if scope == "clusterbasemodel":
        return model_ready_label(rest)
    return model_ready_label(rest.removeprefix("basemodel."), scope)
