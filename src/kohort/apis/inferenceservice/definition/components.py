"""
The schema of a component, which services and runtimes share.

Pod and container are inline: their fields stand beside the component's own. Names, defaults and
limits equal upstream's, except that a runner needs no name: it inherits the runtime's.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from kohort.apis.definitions.embedded_types import POD_SPEC
from kohort.apis.definitions.fields import Int64, Model, about

CONTAINER = "io.k8s.api.core.v1.Container"
AFFINITY = "io.k8s.api.core.v1.Affinity"
NODE_AFFINITY = "io.k8s.api.core.v1.NodeAffinity"
INLINE = "inlines"  # schema key that names the built-in type whose fields are inlined

INLINE_POD = Meta(extra_json_schema={INLINE: POD_SPEC})
INLINE_CONTAINER = Meta(extra_json_schema={INLINE: CONTAINER})
ATOMIC = Meta(extra_json_schema={"x-kubernetes-list-type": "atomic"})
Texts = Annotated[list[str], ATOMIC]
Amount = int | str


class Runner(Model):
    """The container that serves, merged over the runtime's."""


class AuthenticationRef(Model):
    """How KEDA proves itself to Prometheus."""

    name: Annotated[str, about("Its name.", min_length=1)]
    kind: Annotated[
        Literal["TriggerAuthentication", "ClusterTriggerAuthentication"], about("Its kind.")
    ] = "TriggerAuthentication"


class KedaConfig(Model):
    """What KEDA asks Prometheus."""

    auth_modes: Annotated[
        str | None, about("Modes of authentication, with commas: basic, tls, bearer, custom.")
    ] = None
    authentication_ref: Annotated[AuthenticationRef | None, about("How KEDA proves itself.")] = None
    custom_prom_query: Annotated[
        str | None, about("The query; %s in it becomes the component's name.")
    ] = None
    enable_keda: Annotated[bool | None, about("Not read: the annotation decides.")] = None
    prom_server_address: Annotated[str | None, about("Where Prometheus is.")] = None
    scaling_operator: Annotated[str | None, about("How result and threshold compare.")] = None
    scaling_threshold: Annotated[str | None, about("The number that is aimed at.")] = None


class RollingUpdate(Model):
    """How far a rollout may go at once."""

    max_surge: Annotated[Amount | None, about("Pods that may be added.")] = None
    max_unavailable: Annotated[Amount | None, about("Pods that may be missing.")] = None


class DeploymentStrategy(Model):
    """How a Deployment, or a role, is rolled."""

    rolling_update: Annotated[RollingUpdate | None, about("How far a rollout may go.")] = None
    type: Annotated[str | None, about("RollingUpdate or Recreate.")] = None


class Constraints(Model):
    """What an accelerator must have."""

    architecture_families: Annotated[
        Texts | None, about("Families that are allowed: hopper, or nvidia-hopper.")
    ] = None
    excluded_classes: Annotated[Texts | None, about("Classes that are not used.")] = None
    max_memory: Annotated[Int64 | None, about("At most so many gibibytes.")] = None
    min_architecture_version: Annotated[str | None, about("The oldest architecture.")] = None
    min_compute_performance_tflops: Annotated[
        Int64 | None, about("The least teraflops that are needed.")
    ] = field(default=None, name="minComputePerformanceTFLOPS")
    min_memory: Annotated[Int64 | None, about("At least so many gibibytes.")] = None
    preferred_precisions: Annotated[Texts | None, about("Precisions, the best first.")] = None
    required_features: Annotated[Texts | None, about("Features that it must have.")] = None


class AcceleratorSelector(Model):
    """Which accelerator is wanted."""

    accelerator_class: Annotated[str | None, about("By name.")] = None
    constraints: Annotated[Constraints | None, about("What a policy may choose from.")] = None
    policy: Annotated[
        Literal["BestFit", "Cheapest", "MostCapable", "FirstAvailable"] | None,
        about("How one of several is chosen."),
    ] = None


class Leader(Model):
    """The first pod of a multi-node instance."""

    runner: Annotated[Runner | None, INLINE_CONTAINER, about("Its container.")] = None


class Worker(Model):
    """The other pods of a multi-node instance."""

    runner: Annotated[Runner | None, INLINE_CONTAINER, about("Its container.")] = None
    size: Annotated[int | None, about("Workers beside the leader.")] = None


class Extension(Model):
    """What every component says about its copies."""

    annotations: Annotated[dict[str, str] | None, about("Annotations of its objects and pods.")] = (
        None
    )
    canary_traffic_percent: Annotated[
        Int64 | None, about("Share of the newest revision; Serverless only.")
    ] = None
    container_concurrency: Annotated[Int64 | None, about("Requests at once; Serverless only.")] = (
        None
    )
    deployment_strategy: Annotated[
        DeploymentStrategy | None, about("How a Deployment, or a role, is rolled.")
    ] = None
    keda_config: Annotated[
        KedaConfig | None, about("What KEDA asks for this component; before the service's.")
    ] = None
    labels: Annotated[dict[str, str] | None, about("Labels of its objects and pods.")] = None
    max_replicas: Annotated[int | None, about("The most copies.")] = None
    max_unavailable: Annotated[Amount | None, about("Pods that may be evicted at once.")] = None
    min_available: Annotated[Amount | None, about("Pods that evictions leave.")] = None
    min_replicas: Annotated[
        int | None, about("The fewest copies; 0 makes the component Serverless.")
    ] = None
    scale_metric: Annotated[
        Literal["cpu", "memory", "concurrency", "rps"] | None,
        about("The metric by which copies are scaled."),
    ] = None
    scale_target: Annotated[int | None, about("The target value of the metric.")] = None
    timeout_seconds: Annotated[Int64 | None, about("How long a request may take.")] = None


class Serving(Extension):
    """An engine or a decoder."""

    accelerator_override: Annotated[
        AcceleratorSelector | None, about("Its accelerator, before the service's.")
    ] = None
    leader: Annotated[Leader | None, INLINE_POD, about("The first pod of an instance.")] = None
    runner: Annotated[Runner | None, INLINE_CONTAINER, about("The container that serves.")] = None
    worker: Annotated[Worker | None, INLINE_POD, about("The other pods of an instance.")] = None


class Router(Extension):
    """What stands in front of engine and decoder."""

    config: Annotated[
        dict[str, str] | None, about("Variables of its container, in the order of names.")
    ] = None
    runner: Annotated[Runner | None, INLINE_CONTAINER, about("The container that serves.")] = None


Engine = Annotated[Serving | None, INLINE_POD, about("The component that every service has.")]
Decoder = Annotated[Serving | None, INLINE_POD, about("Decodes what the engine prefilled.")]
RouterPart = Annotated[Router | None, INLINE_POD, about("Routes to engine and decoder.")]
Anything = Annotated[
    Any,
    Meta(extra_json_schema={"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
]
