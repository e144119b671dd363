"""
The error for a service that cannot be deployed: a reason for events, one for the status, a text.

Reasons of events equal upstream's. Reasons of the status are those that upstream's definition
allows; the API server refuses a status with any other.
"""

from kohort.apis.api import InvalidWorkload

# Reasons of events.
READY, NOT_READY = "InferenceServiceReady", "InferenceServiceNotReady"
MODEL = "ModelReconcileError"
RUNTIME_INVALID, RUNTIME_FETCH = "RuntimeValidationError", "RuntimeFetchError"
RUNTIME_SELECTION, MERGE = "RuntimeSelectionError", "MergeSpecsError"
MODE, ACCELERATOR = "DeploymentModeError", "AcceleratorClassError"
INTERNAL, SERVERLESS_REJECTED = "InternalError", "ServerlessModeRejected"
STRATEGY, INVALID_MODE = "StrategySelectionFailed", "InvalidDeploymentMode"
WORKLOAD = "WorkloadReconcileFailed"
RENEWED = "RayClusterRenewed"  # our own: upstream has no event for it

# Reasons of ``status.modelStatus.lastFailureInfo``.
MODEL_NOT_FOUND, MODEL_NOT_READY = "BaseModelNotFound", "BaseModelNotReady"
LOAD_FAILED = "ModelLoadFailed"
RUNTIME_DISABLED, NO_RUNTIME = "RuntimeDisabled", "NoSupportingRuntime"
RUNTIME_UNKNOWN, INVALID_SPEC = "RuntimeNotRecognized", "InvalidPredictorSpec"


class ServiceError(InvalidWorkload):
    """A service that cannot be turned into workloads: becomes a condition and an event."""

    def __init__(self, reason: str, message: str, failure: str = INVALID_SPEC) -> None:
        super().__init__(reason, message)
        self.failure = failure
