"""HorizontalPodAutoscalers, as a built-in kind: version 2, and version 1, which is stored as 2."""

from kohort.apiserver.resources.autoscalers.columns import AUTOSCALERS
from kohort.apiserver.resources.autoscalers.defaults import default_autoscaler
from kohort.apiserver.resources.autoscalers.validation import (
    validate_autoscaler,
    validate_autoscaler_status,
)
from kohort.apiserver.resources.autoscalers.versions import from_storage, to_storage
from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.cluster import kinds

_BEHAVIOUR = reported(validate_autoscaler, default_autoscaler, validate_autoscaler_status)
KINDS = (
    BuiltinKind(
        kinds.AUTOSCALER, ("hpa",), ("all",), _BEHAVIOUR, AUTOSCALERS, subresources=("status",)
    ),
    BuiltinKind(
        kinds.AUTOSCALER_V1,
        ("hpa",),
        ("all",),
        _BEHAVIOUR,
        AUTOSCALERS,
        subresources=("status",),
        storage=kinds.AUTOSCALER.group_resource,
        to_storage=to_storage,
        from_storage=from_storage,
    ),
)
