"""The inputs that all components of one service share: its model, its runtime, its weights."""

from dataclasses import dataclass

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.models import BaseModel, FineTunedWeight
from kohort.apis.inferenceservice.resolution.accelerators import SelectedAccelerator
from kohort.apis.inferenceservice.runtimes import (
    AcceleratorConfig,
    ServingRuntime,
    SupportedFormat,
)
from kohort.apis.inferenceservice.spec import ComponentSpec, ComponentType, InferenceService


@dataclass(frozen=True, slots=True)
class ComponentContext:
    """One component of a service, and all inputs of its pods."""

    service: InferenceService
    component: ComponentType
    spec: ComponentSpec  # the service's fields merged over the runtime's
    model: BaseModel | None = None
    runtime: ServingRuntime | None = None
    weight: FineTunedWeight | None = None  # None for a router
    selected: SelectedAccelerator | None = None
    format: SupportedFormat | None = None

    @property
    def own(self) -> ComponentSpec | None:
        """The component as the user wrote it."""
        return self.service.find(self.component)

    @property
    def is_merged(self) -> bool:
        """Whether the fine-tuned weights are a whole model that replaces the base model."""
        return self.weight is not None and self.weight.is_merged

    @property
    def is_initialised(self) -> bool:
        """Whether an init container provides the model, instead of a mount from the node."""
        if self.is_merged:
            return False
        notes = {**self.service.annotations, **self.spec.extension.annotations}
        return notes.get(labels.INJECT_MODEL_INIT) == "true"

    @property
    def mounts_model(self) -> bool:
        """Whether the runner mounts the node's copy of the model."""
        has_path = self.model is not None and bool(self.model.storage.path)
        return has_path and not self.is_initialised and not self.is_merged

    @property
    def uses_cohere_tfew(self) -> bool:
        """Whether the pod uses T-Few weights of a Cohere model beside the base model."""
        vendor = self.model.vendor if self.model else ""
        is_tfew = self.weight is not None and self.weight.strategy == "tfew"
        return is_tfew and vendor == "cohere" and not self.is_merged

    @property
    def accelerator_config(self) -> AcceleratorConfig:
        """The settings of the runtime's format for the selected accelerator."""
        if self.selected is None or self.format is None:
            return AcceleratorConfig()
        name = self.selected.accelerator.name
        return self.format.accelerators.get(name, AcceleratorConfig())
