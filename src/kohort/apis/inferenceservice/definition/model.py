"""The schema of InferenceService: spec and status."""

from typing import Annotated, Literal

from msgspec import field

from kohort.apis.definitions.fields import Int32, Int64, Model, Time, about
from kohort.apis.inferenceservice.definition.components import (
    ATOMIC,
    INLINE_CONTAINER,
    INLINE_POD,
    AcceleratorSelector,
    Decoder,
    Engine,
    Extension,
    KedaConfig,
    RouterPart,
    Texts,
    Worker,
)

ModelState = Literal["", "Pending", "Standby", "Loading", "Loaded", "FailedToLoad"]


class PredictorModel(Model):
    """The model of the former form."""

    base_model: Annotated[str | None, about("The model.")] = None
    fine_tuned_weights: Annotated[Texts | None, about("Weights that were tuned.")] = None
    protocol_version: Annotated[str | None, about("The protocol that is spoken.")] = None
    runtime: Annotated[str | None, about("The runtime.")] = None
    runtime_version: Annotated[str | None, about("Not read.")] = None
    storage_uri: Annotated[str | None, about("Where the model lies.")] = None


class Predictor(Extension):
    """The former form of a service, turned into engine, model and runtime."""

    model: Annotated[PredictorModel | None, INLINE_CONTAINER, about("The model.")] = None
    worker_spec: Annotated[Worker | None, INLINE_POD, about("Workers.")] = None


class ModelRef(Model):
    """The model that is served."""

    name: Annotated[str, about("Its name.")]
    api_group: Annotated[str, about("Its group.")] = "ome.io"
    fine_tuned_weights: Annotated[Texts | None, about("Weights that were tuned; one.")] = None
    kind: Annotated[str, about("BaseModel, ClusterBaseModel or FineTunedWeight.")] = (
        "ClusterBaseModel"
    )


class RuntimeRef(Model):
    """The runtime that serves."""

    name: Annotated[str, about("Its name.")]
    api_group: Annotated[str, about("Its group.")] = "ome.io"
    kind: Annotated[str, about("ServingRuntime or ClusterServingRuntime.")] = (
        "ClusterServingRuntime"
    )


class InferenceServiceSpec(Model):
    """The desired state of an InferenceService."""

    accelerator_selector: Annotated[
        AcceleratorSelector | None, about("Which accelerator all components run on.")
    ] = None
    decoder: Decoder = None
    engine: Engine = None
    keda_config: Annotated[KedaConfig | None, about("What KEDA asks for all components.")] = None
    model: Annotated[ModelRef | None, about("The model that is served.")] = None
    predictor: Annotated[Predictor | None, INLINE_POD, about("The former form: use engine.")] = None
    router: RouterPart = None
    runtime: Annotated[
        RuntimeRef | None, about("The runtime that serves; chosen by the model without it.")
    ] = None


class Addressable(Model):
    """The address at which clients reach a service."""

    ca_certs: Annotated[str | None, about("Certificates to trust.")] = field(
        default=None, name="CACerts"
    )
    audience: Annotated[str | None, about("For tokens.")] = None
    name: Annotated[str | None, about("Its name.")] = None
    url: Annotated[str | None, about("Where it is.")] = None


class TrafficTarget(Model):
    """A share of the traffic."""

    configuration_name: Annotated[str | None, about("A configuration of Knative.")] = None
    latest_revision: Annotated[bool | None, about("Whether it is the newest.")] = None
    percent: Annotated[Int64 | None, about("Its share.")] = None
    revision_name: Annotated[str | None, about("A revision of Knative.")] = None
    tag: Annotated[str | None, about("A name of its own.")] = None
    url: Annotated[str | None, about("Where it is.")] = None


class SelectedAccelerator(Model):
    """The accelerator of a component."""

    accelerator_class: Annotated[str, about("Its name.")]
    node_selector: Annotated[dict[str, str] | None, about("How its nodes are found.")] = None
    reason: Annotated[str | None, about("Why it was taken.")] = None
    resource_requests: Annotated[
        dict[str, str] | None, about("The resources that pods request.")
    ] = None


class ComponentStatus(Model):
    """The observed state of a component."""

    address: Annotated[Addressable | None, about("Where it is inside of the cluster.")] = None
    latest_created_revision: Annotated[str | None, about("The newest revision.")] = None
    latest_ready_revision: Annotated[str | None, about("The newest that was ready.")] = None
    latest_rolledout_revision: Annotated[str | None, about("The last with all traffic.")] = None
    previous_rolledout_revision: Annotated[str | None, about("The one before it.")] = None
    rest_url: Annotated[str | None, about("Where REST is spoken.")] = field(
        default=None, name="restURL"
    )
    selected_accelerator: Annotated[SelectedAccelerator | None, about("Its accelerator.")] = None
    traffic: Annotated[list[TrafficTarget] | None, ATOMIC, about("Shares of traffic.")] = None
    url: Annotated[str | None, about("Where it is.")] = None


class ServiceCondition(Model):
    """A condition, which is true, false or unknown."""

    status: Annotated[str, about("True, False or Unknown.")]
    type: Annotated[str, about("The name of the condition.")]
    last_transition_time: Annotated[str | None, about("When it last changed.")] = None
    message: Annotated[str | None, about("The reason in a sentence.")] = None
    reason: Annotated[str | None, about("The reason in one word.")] = None
    severity: Annotated[str | None, about("Info, where readiness does not depend on it.")] = None


class FailureInfo(Model):
    """The last failure of the model."""

    exit_code: Annotated[Int32 | None, about("With which its container ended.")] = None
    location: Annotated[str | None, about("The pod.")] = None
    message: Annotated[str | None, about("In a sentence.")] = None
    model_revision_name: Annotated[str | None, about("Which revision.")] = None
    reason: Annotated[
        Literal[
            "BaseModelNotReady",
            "BaseModelNotFound",
            "ModelLoadFailed",
            "RuntimeUnhealthy",
            "RuntimeDisabled",
            "NoSupportingRuntime",
            "RuntimeNotRecognized",
            "InvalidPredictorSpec",
        ]
        | None,
        about("In one word."),
    ] = None
    time: Annotated[Time | None, about("When.")] = None


class ModelCopies(Model):
    """Pods that hold the model."""

    failed_copies: Annotated[int, about("Pods that failed to load it.")] = 0
    total_copies: Annotated[int | None, about("All of them.")] = None


class ModelRevisionStates(Model):
    """The states of the serving model and of the model in the spec."""

    active_model_state: Annotated[ModelState, about("The state of the model that serves.")] = (
        "Pending"
    )
    target_model_state: Annotated[ModelState, about("The state of the model in the spec.")] = ""


class ModelStatus(Model):
    """The state of the model, and its last failure."""

    last_failure_info: Annotated[FailureInfo | None, about("The last failure.")] = None
    model_copies: Annotated[ModelCopies | None, about("Pods that hold the model.")] = None
    model_revision_states: Annotated[ModelRevisionStates | None, about("How far it is.")] = None
    transition_status: Annotated[
        Literal["", "UpToDate", "InProgress", "BlockedByFailedLoad", "InvalidSpec"],
        about("Whether the serving model is the one in the spec."),
    ] = "UpToDate"


class InferenceServiceStatus(Model):
    """The observed state of an InferenceService."""

    address: Annotated[Addressable | None, about("Where it is inside of the cluster.")] = None
    annotations: Annotated[dict[str, str] | None, about("Notes of the operator.")] = None
    components: Annotated[dict[str, ComponentStatus] | None, about("By component.")] = None
    conditions: Annotated[
        list[ServiceCondition] | None, about("The conditions, sorted by type.")
    ] = None
    model_status: Annotated[ModelStatus | None, about("How far the model is.")] = None
    observed_generation: Annotated[
        Int64 | None, about("The generation of the spec that this status is of.")
    ] = None
    url: Annotated[str | None, about("Where it is.")] = None
