"""
Validation of an InferenceService: all errors at once.

References to models and runtimes are checked only if the caller passes the existing objects.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import urlparse

from kohort.apis.inferenceservice import labels, reasons
from kohort.apis.inferenceservice.misspelt import warn_keys
from kohort.apis.inferenceservice.models import BaseModel
from kohort.apis.inferenceservice.names import LABEL_MAX
from kohort.apis.inferenceservice.objects.autoscalers import CLASSES, HPA, KEDA
from kohort.apis.inferenceservice.objects.group_annotations import find_faults, read_ratio
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.modes import find_mode, warn_mode
from kohort.apis.inferenceservice.resolution.resolution import (
    ReferencedObjects,
    find_model,
    has_full_runner,
)
from kohort.apis.inferenceservice.resolution.selection import select_runtime
from kohort.apis.inferenceservice.spec import (
    ComponentType,
    DeploymentMode,
    InferenceService,
    KedaConfig,
    read_service,
)
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Object

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_OPERATORS = ("GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")
_AUTH_MODES = ("basic", "tls", "bearer", "custom")
_METRICS = ("cpu", "memory")
_NOTES = "metadata.annotations"
_KEDA_NOTES = {
    "promServerAddress": labels.KEDA_SERVER,
    "scalingThreshold": labels.KEDA_THRESHOLD,
    "scalingOperator": labels.KEDA_OPERATOR,
}


def validate_service(
    obj: Object, known: ReferencedObjects | None = None, *, is_new: bool = True
) -> tuple[list[FieldError], list[str]]:
    """Errors of a service, and warnings for its user."""
    service = read_service(obj)
    errors = [*_check_name(service), *_check_autoscaler(service), *_check_parts(service)]
    if is_new:
        errors += _check_length(service)
    for key, why in find_faults(service.annotations):
        errors.append(_invalid(f"{_NOTES}[{key}]", service.annotations[key], why))
    errors += _check_ratio(service)
    warnings = [*_warn_keda(service), *warn_mode(service), *warn_keys(service)]
    if known is not None:
        missing = list(_check_model(service, known))
        more, told = ([], []) if missing else _check_runtime(service, known)
        errors, warnings = [*errors, *missing, *more], [*warnings, *told]
    return errors, warnings


def _invalid(path: str, value: object, detail: str) -> FieldError:
    return FieldError(FieldErrorType.INVALID, path, detail, value)


def _check_name(service: InferenceService) -> Iterator[FieldError]:
    if service.name and not _NAME.fullmatch(service.name):
        why = "must start with a letter and have lower case letters, digits and '-' only"
        yield _invalid("metadata.name", service.name, why)


def _check_length(service: InferenceService) -> Iterator[FieldError]:
    """Refuse a name that no object of the service could have; a stored one can be changed still."""
    mode = find_mode(service.annotations.get(labels.DEPLOYMENT_MODE))
    if mode is DeploymentMode.VIRTUAL or len(service.name) <= LABEL_MAX:
        return
    why = (
        f"has {len(service.name)} characters, and at most {LABEL_MAX} are possible: it is the name "
        "of a Service and a label of all objects of the service"
    )
    yield _invalid("metadata.name", service.name, why)


def _check_ratio(service: InferenceService) -> Iterator[FieldError]:
    """Refuse a ratio of other components than those of the service, if it is to have one group."""
    text = service.annotations.get(labels.COORDINATION_RATIO, "")
    mode = find_mode(service.annotations.get(labels.DEPLOYMENT_MODE))
    if mode is not DeploymentMode.ROLE_BASED_GROUP:
        return
    try:
        read_ratio(text, [each.value for each in service.components])
    except ServiceError as error:
        yield _invalid(f"{_NOTES}[{labels.COORDINATION_RATIO}]", text, str(error))


def _check_parts(service: InferenceService) -> Iterator[FieldError]:
    decoder, engine = ComponentType.DECODER, ComponentType.ENGINE
    if decoder in service.components and engine not in service.components:
        why = "a decoder needs an engine: write spec.engine, even an empty one"
        yield FieldError(FieldErrorType.REQUIRED, "spec.engine", why)
    weights = () if service.model is None else service.model.fine_tuned_weights
    if len(weights) > 1:
        why = "one fine-tuned weight can be served"
        yield _invalid("spec.model.fineTunedWeights", list(weights), why)


def _check_autoscaler(service: InferenceService) -> Iterator[FieldError]:
    notes = service.annotations
    found = notes.get(labels.AUTOSCALER_CLASS, HPA)
    if found not in CLASSES:
        why = f"must be one of {', '.join(CLASSES)}"
        yield _invalid(f"{_NOTES}[{labels.AUTOSCALER_CLASS}]", found, why)
    metric = notes.get(labels.METRICS)
    if found == HPA and metric is not None and metric not in _METRICS:
        why = f"must be one of {', '.join(_METRICS)}"
        yield _invalid(f"{_NOTES}[{labels.METRICS}]", metric, why)
    target = notes.get(labels.TARGET_UTILIZATION)
    if target is not None and not 1 <= (find_whole(target) or 0) <= 100:
        why = "must be a number from 1 to 100"
        yield _invalid(f"{_NOTES}[{labels.TARGET_UTILIZATION}]", target, why)
    if found == KEDA:
        yield from _check_keda(service)


def _check_keda(service: InferenceService) -> Iterator[FieldError]:
    notes = service.annotations
    held = {"spec.kedaConfig": service.keda or KedaConfig()}
    for component, spec in service.components.items():
        if spec.extension.keda is not None:
            held[f"spec.{component}.kedaConfig"] = spec.extension.keda
    noted = KedaConfig(
        server=notes.get(labels.KEDA_SERVER, ""),
        threshold=notes.get(labels.KEDA_THRESHOLD, ""),
        operator=notes.get(labels.KEDA_OPERATOR, ""),
    )
    yield from _check_keda_config(noted, lambda field: f"{_NOTES}[{_KEDA_NOTES[field]}]")
    for path, keda in held.items():
        yield from _check_keda_config(keda, partial("{}.{}".format, path))


def _check_keda_config(keda: KedaConfig, path_of: Callable[[str], str]) -> Iterator[FieldError]:
    if keda.operator and keda.operator not in _OPERATORS:
        why = f"must be one of {', '.join(_OPERATORS)}"
        yield _invalid(path_of("scalingOperator"), keda.operator, why)
    if keda.threshold and not _NUMBER.fullmatch(keda.threshold):
        yield _invalid(path_of("scalingThreshold"), keda.threshold, "must be a number")
    if keda.server and not _is_url(keda.server):
        why = "must be an http or https URL with a host"
        yield _invalid(path_of("promServerAddress"), keda.server, why)
    modes = [mode.strip() for mode in keda.auth_modes.split(",") if mode.strip()]
    if any(mode not in _AUTH_MODES for mode in modes):
        why = f"must be a list of {', '.join(_AUTH_MODES)}"
        yield _invalid(path_of("authModes"), keda.auth_modes, why)


def _is_url(text: str) -> bool:
    try:
        found = urlparse(text)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and bool(found.hostname)


def _warn_keda(service: InferenceService) -> Iterator[str]:
    keda = service.keda
    if keda is not None and keda.auth_modes and keda.authentication is None:
        yield "spec.kedaConfig.authModes has no effect without authenticationRef"


def _check_model(service: InferenceService, known: ReferencedObjects) -> Iterator[FieldError]:
    if service.model is None or not service.model.name:
        return
    names = {each.name for each in known.models if each.namespace in ("", service.namespace)}
    names |= {each.name for each in known.weights}
    if service.model.name not in names:
        why = (
            f"there is no BaseModel of that name in namespace {service.namespace}, and no "
            "ClusterBaseModel: create one, or name another"
        )
        yield FieldError(FieldErrorType.NOT_FOUND, "spec.model.name", why, service.model.name)


def _check_runtime(
    service: InferenceService, known: ReferencedObjects
) -> tuple[list[FieldError], list[str]]:
    """A service that names no runtime and has no containers of its own needs one that fits.

    While the model agent has not read the model's files, none can be selected: we only warn.
    """
    if not _is_selected(service):
        return [], []
    try:
        model = find_model(service, known)
        assert model is not None
        if model.format is None:
            return [], [_tell_unread(model)]
        select_runtime(known.runtimes, model, service)
    except ServiceError as error:
        return [_blame(service, error)], []
    return [], []


def _blame(service: InferenceService, error: ServiceError) -> FieldError:
    """The field that makes it impossible to select a runtime."""
    if error.reason != reasons.MODEL:
        return FieldError(FieldErrorType.INVALID, "spec.runtime", str(error), None)
    if service.model is None or not service.model.name:
        return FieldError(FieldErrorType.REQUIRED, "spec.model.name", str(error))
    return _invalid("spec.model.name", service.model.name, str(error))


def tell_selection(obj: Object, known: ReferencedObjects | None) -> tuple[str, ...]:
    """Which runtime a service without errors gets, if it names none: a fact, and no fault."""
    service = read_service(obj)
    if known is None or not _is_selected(service):
        return ()
    model = find_model(service, known)
    if model is None or model.format is None:
        return ()
    chosen = select_runtime(known.runtimes, model, service).chosen
    return (f"runtime {chosen.name} was selected for model {model.name}",)


def _is_selected(service: InferenceService) -> bool:
    """Whether a runtime is selected for a service: it names none, and needs one."""
    is_named = service.runtime is not None and bool(service.runtime.name)
    has_engine = ComponentType.ENGINE in service.components
    return has_engine and not is_named and not has_full_runner(service)


def _tell_unread(model: BaseModel) -> str:
    return (
        f"{model.kind} {model.name} has no modelFormat yet: a runtime is selected when the model "
        "agent has read its files"
    )
