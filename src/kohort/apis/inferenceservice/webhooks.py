"""
The webhooks of OME's API group, with upstream's names and paths, and the objects that each reads.

The webhook checks a service's references when the user sets them, not on later writes: a deleted
model must not block scaling or deletion of the service. It does not check an object that is being
deleted. It refuses an object that does not fit its schema before any other check.
"""

from collections.abc import Callable

from kohort.apis.api import AdmissionResult, Settings, Webhook
from kohort.apis.conversion import Define
from kohort.apis.definitions.shapes import find_pod_misfit, shape_of
from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.admission.defaults import default_service
from kohort.apis.inferenceservice.admission.pods import mutate_pod
from kohort.apis.inferenceservice.admission.runtimes import validate_runtime
from kohort.apis.inferenceservice.admission.validation import tell_selection, validate_service
from kohort.apis.inferenceservice.configuration import (
    Configuration,
    read_configuration,
    read_pod_configuration,
)
from kohort.apis.inferenceservice.definition import (
    define_cluster_serving_runtime,
    define_inference_service,
    define_serving_runtime,
)
from kohort.apis.inferenceservice.fields import read_object, read_text
from kohort.apis.inferenceservice.models import read_model, read_weight
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution import ReferencedObjects
from kohort.apis.inferenceservice.resolution.resolution import has_full_runner
from kohort.apis.inferenceservice.runtimes import read_runtime
from kohort.apis.inferenceservice.spec import read_service
from kohort.cluster.kinds import CONFIG_MAP, POD
from kohort.cluster.objects import Kind, Object, annotations_of, is_leaving, name_of, namespace_of
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address

Handle = Callable[[Object, Object | None, Settings], AdmissionResult]
Look = Callable[[Object, Settings], tuple[Address, ...]]

_CREATE, _BOTH = ("CREATE",), ("CREATE", "UPDATE")
_CONFIGURATION = Address(CONFIG_MAP, names.CONTROLLER_NAMESPACE, names.CONFIGURATION)

# Permissions for the objects that the webhooks read.
READS = (
    Grant(CONFIG_MAP, ("get",)),
    Grant(kinds.FINE_TUNED_WEIGHT, ("get",)),
    Grant(kinds.ACCELERATOR_CLASS, ("get",)),
    Grant(kinds.BASE_MODEL, ("get", "list")),
    Grant(kinds.CLUSTER_BASE_MODEL, ("get", "list")),
    Grant(kinds.SERVING_RUNTIME, ("list",)),
    Grant(kinds.CLUSTER_SERVING_RUNTIME, ("list",)),
)


def _checked(kind: Kind, define: Define, handle: Handle) -> Handle:
    """A handler that refuses objects not fitting their schema and admits those in deletion."""

    def judge(obj: Object, old: Object | None, settings: Settings) -> AdmissionResult:
        misfit = shape_of(define, kind.version).find_misfit(obj)
        if misfit:
            return AdmissionResult(refusal=misfit)
        if is_leaving(obj):
            return AdmissionResult()
        try:
            return handle(obj, old, settings)
        except ServiceError as error:
            return AdmissionResult(refusal=str(error))

    return judge


def _guarded(kind: Kind, define: Define, look: Look) -> Look:
    """Look up the objects that a check needs, only if the object fits its schema and stays."""

    def find(obj: Object, settings: Settings) -> tuple[Address, ...]:
        if shape_of(define, kind.version).find_misfit(obj) or is_leaving(obj):
            return ()
        return look(obj, settings)

    return find


def _read_configuration(settings: Settings) -> Configuration:
    """The configuration, or defaults if the ConfigMap does not exist yet."""
    found = settings.list_beside(CONFIG_MAP)
    return read_configuration(found[0]) if found else Configuration()


def _former_model(service: Object) -> str:
    predictor = read_object(read_object(service, "spec"), "predictor")
    return read_text(read_object(predictor, "model"), "baseModel")


def _look_for_defaults(service: Object, settings: Settings) -> tuple[Address, ...]:
    former = _former_model(service)
    model = (Address(kinds.CLUSTER_BASE_MODEL, "", former),) if former else ()
    return (_CONFIGURATION, *model)


def _default(service: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    usual = _read_configuration(settings).default_mode
    clusters = {name_of(found) for found in settings.list_beside(kinds.CLUSTER_BASE_MODEL)}
    return AdmissionResult(default_service(service, usual, lambda name: name in clusters))


def _look_for_references(service: Object, settings: Settings) -> tuple[Address, ...]:
    space, spec = namespace_of(service), read_object(service, "spec")
    model = read_object(spec, "model")
    name, kind = read_text(model, "name"), read_text(model, "kind")
    is_weight = kind == kinds.FINE_TUNED_WEIGHT.name
    found = [Address(kinds.FINE_TUNED_WEIGHT, "", name)] if name and is_weight else []
    if name:
        # Only the weight itself names its base model, so we list all models.
        named = "" if is_weight else name
        found.append(Address(kinds.BASE_MODEL, space, named))
        found.append(Address(kinds.CLUSTER_BASE_MODEL, "", named))
    if not read_text(read_object(spec, "runtime"), "name"):
        found.append(Address(kinds.SERVING_RUNTIME, space, ""))
        found.append(Address(kinds.CLUSTER_SERVING_RUNTIME, "", ""))
    return tuple(found)


def _validate(service: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    known = None if _names_the_same(service, old) else _read_references(settings)
    errors, warnings = validate_service(service, known, is_new=old is None)
    notes = () if errors else tell_selection(service, known)
    return AdmissionResult(errors=tuple(errors), warnings=tuple(warnings), notes=notes)


def _names_the_same(service: Object, old: Object | None) -> bool:
    return old is not None and _list_names(service) == _list_names(old)


def _list_names(service: Object) -> list[object]:
    """The fields of a service that decide its model and its runtime."""
    spec = read_object(service, "spec")
    parts = [read_object(spec, name) for name in ("engine", "decoder")]
    return [
        *(spec.get(name) for name in ("model", "runtime", "acceleratorSelector")),
        *("engine" in spec, has_full_runner(read_service(service))),
        *(part.get("acceleratorOverride") for part in parts),
    ]


def _read_references(settings: Settings) -> ReferencedObjects:
    models = [
        *settings.list_beside(kinds.BASE_MODEL),
        *settings.list_beside(kinds.CLUSTER_BASE_MODEL),
    ]
    runtimes = [
        *settings.list_beside(kinds.SERVING_RUNTIME),
        *settings.list_beside(kinds.CLUSTER_SERVING_RUNTIME),
    ]
    return ReferencedObjects(
        models=tuple(map(read_model, models)),
        runtimes=tuple(map(read_runtime, runtimes)),
        weights=tuple(map(read_weight, settings.list_beside(kinds.FINE_TUNED_WEIGHT))),
    )


def _look_for_rivals(runtime: Object, settings: Settings) -> tuple[Address, ...]:
    """The other runtimes in a runtime's scope, and the accelerators that it names."""
    space = namespace_of(runtime)
    kind = kinds.SERVING_RUNTIME if space else kinds.CLUSTER_SERVING_RUNTIME
    classes = read_runtime(runtime).accelerators
    return (
        Address(kind, space, ""),
        *(Address(kinds.ACCELERATOR_CLASS, "", name) for name in classes if name),
    )


def _judge_runtime(runtime: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    if old is not None and old.get("spec") == runtime.get("spec"):
        return AdmissionResult()
    kind = kinds.SERVING_RUNTIME if namespace_of(runtime) else kinds.CLUSTER_SERVING_RUNTIME
    errors, warnings = validate_runtime(
        read_runtime({**runtime, "kind": kind.name}),
        map(read_runtime, settings.list_beside(kind)),
        [name_of(found) for found in settings.list_beside(kinds.ACCELERATOR_CLASS)],
    )
    return AdmissionResult(errors=tuple(errors), warnings=tuple(warnings))


def _look_for_pod(pod: Object, settings: Settings) -> tuple[Address, ...]:
    if find_pod_misfit(pod):
        return ()
    weight = annotations_of(pod).get(labels.INJECT_ADAPTER)
    found = (Address(kinds.FINE_TUNED_WEIGHT, "", weight),) if weight else ()
    return (_CONFIGURATION, *found)


def _mutate_pod(pod: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    if misfit := find_pod_misfit(pod):
        return AdmissionResult(refusal=misfit)
    if not read_object(pod, "spec"):
        return AdmissionResult()  # The API server refuses it.
    weights = map(read_weight, settings.list_beside(kinds.FINE_TUNED_WEIGHT))
    by_name = {weight.name: weight for weight in weights}
    try:
        held = next(iter(settings.list_beside(CONFIG_MAP)), None)
        usual = read_pod_configuration(held, annotations_of(pod))
        return AdmissionResult(mutate_pod(pod, usual, by_name.get))
    except ServiceError as error:
        return AdmissionResult(refusal=str(error))


def _make(kind: Kind, define: Define, handle: Handle, look: Look, *, mutates: bool) -> Webhook:
    name = kind.name.lower()
    verb, role = ("mutate", "defaulter") if mutates else ("validate", "validator")
    # Each runtime kind has a webhook configuration of its own.
    is_service = kind == kinds.INFERENCE_SERVICE
    return Webhook(
        f"{name}.ome-webhook-server.{role}",
        f"/{verb}-ome-io-{kind.version}-{name}",
        kind,
        _BOTH,
        _checked(kind, define, handle),
        mutates=mutates,
        find_beside=_guarded(kind, define, look),
        configuration="" if is_service else f"{name}.{kinds.GROUP}",
    )


_SERVICE = (kinds.INFERENCE_SERVICE, define_inference_service)
_RUNTIME = (kinds.SERVING_RUNTIME, define_serving_runtime)
_CLUSTER_RUNTIME = (kinds.CLUSTER_SERVING_RUNTIME, define_cluster_serving_runtime)

WEBHOOKS = (
    _make(*_SERVICE, _default, _look_for_defaults, mutates=True),
    Webhook(
        "inferenceservice.ome-webhook-server.pod-mutator",
        "/mutate-pods",
        POD,
        _CREATE,
        _mutate_pod,
        {"matchExpressions": [{"key": labels.SERVICE_NAME, "operator": "Exists"}]},
        mutates=True,
        find_beside=_look_for_pod,
        namespaces={"matchExpressions": [{"key": "control-plane", "operator": "DoesNotExist"}]},
        reinvocation="IfNeeded",
    ),
    _make(*_SERVICE, _validate, _look_for_references, mutates=False),
    _make(*_RUNTIME, _judge_runtime, _look_for_rivals, mutates=False),
    _make(*_CLUSTER_RUNTIME, _judge_runtime, _look_for_rivals, mutates=False),
)
