"""
Objects that services reference and do not own: models, weights, runtimes, accelerators, settings.

The operator chooses a runtime among all that a service can use, so every service references all of
them; models and weights it references by name. When the spec or the metadata of a referenced object
changes, the operator reconciles the services that reference it; a new status reconciles none.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.api import Key, Snapshot
from kohort.apis.inferenceservice import kinds, labels, names, reasons
from kohort.apis.inferenceservice.configuration import (
    Configuration,
    IngressConfig,
    read_configuration,
)
from kohort.apis.inferenceservice.models import read_model, read_weight
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution import ReferencedObjects
from kohort.apis.inferenceservice.resolution.migration import migrate
from kohort.apis.inferenceservice.runtimes import read_accelerator, read_runtime
from kohort.apis.inferenceservice.spec import InferenceService, read_service
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.apis.references import Reference
from kohort.cluster.kinds import CONFIG_MAP, INGRESS
from kohort.cluster.objects import Kind, Object

_ALL = "*"  # no object has this name
_MADE_FROM_IT = (INGRESS, kinds.HTTP_ROUTE, kinds.VIRTUAL_SERVICE)
# Without a ConfigMap of the administrator, we expose services by their external Service only.
USUAL = Configuration(ingress=IngressConfig(is_disabled=True))


def read_root(root: Object) -> InferenceService:
    """Read a service; one with the former ``spec.predictor`` is migrated first."""
    return read_service(migrate(root))


def _name_all(found: Any) -> tuple[Key, ...]:
    return ((found.metadata.namespace, _ALL),)


def _name_model(found: Any) -> tuple[Key, ...]:
    space = found.metadata.namespace
    return ((space, found.metadata.name), (space, _ALL))


def _read_wish(found: Any) -> object:
    """All of an object but its status and the API server's notes on it."""
    obj, held = found.decode(), found.metadata
    return obj.get("spec"), held.uid, held.labels, held.annotations, held.deletion_timestamp


def _models(root: Object, namespace: str) -> tuple[Key, ...]:
    """The model of a service; all models for a service with weights, which name others."""
    model = read_root(root).model
    if model is None:
        return ()
    has_weights = model.kind == kinds.FINE_TUNED_WEIGHT.name or model.fine_tuned_weights
    return ((namespace, _ALL if has_weights else model.name),)


def _own_models(root: Object) -> tuple[Key, ...]:
    return _models(root, read_root(root).namespace)


def _cluster_models(root: Object) -> tuple[Key, ...]:
    return _models(root, "")


def _of_cluster(root: Object) -> tuple[Key, ...]:
    return (("", _ALL),)


def _of_namespace(root: Object) -> tuple[Key, ...]:
    return ((read_root(root).namespace, _ALL),)


def _weights(root: Object) -> tuple[Key, ...]:
    model = read_root(root).model
    if model is None:
        return ()
    own = (model.name,) if model.kind == kinds.FINE_TUNED_WEIGHT.name else ()
    return tuple(("", name) for name in (*own, *model.fine_tuned_weights))


def _configuration(root: Object) -> tuple[Key, ...]:
    return ((names.CONTROLLER_NAMESPACE, names.CONFIGURATION),)


REFERENCES = (
    Reference(kinds.BASE_MODEL, _own_models, names_of=_name_model, reads=_read_wish),
    Reference(kinds.CLUSTER_BASE_MODEL, _cluster_models, names_of=_name_model, reads=_read_wish),
    Reference(kinds.FINE_TUNED_WEIGHT, _weights, reads=_read_wish),
    Reference(kinds.SERVING_RUNTIME, _of_namespace, names_of=_name_all, reads=_read_wish),
    Reference(kinds.CLUSTER_SERVING_RUNTIME, _of_cluster, names_of=_name_all, reads=_read_wish),
    Reference(kinds.ACCELERATOR_CLASS, _of_cluster, names_of=_name_all, reads=_read_wish),
    Reference(
        CONFIG_MAP,
        _configuration,
        only=names.CONFIGURATION,
        namespace=names.CONTROLLER_NAMESPACE,
    ),
)


def find_known(snapshot: Snapshot) -> ReferencedObjects:
    """All existing objects that a service may reference."""
    models = (*_list(snapshot, kinds.BASE_MODEL), *_list(snapshot, kinds.CLUSTER_BASE_MODEL))
    runtimes = (
        *_list(snapshot, kinds.SERVING_RUNTIME),
        *_list(snapshot, kinds.CLUSTER_SERVING_RUNTIME),
    )
    accelerators = map(read_accelerator, _list(snapshot, kinds.ACCELERATOR_CLASS))
    return ReferencedObjects(
        models=tuple(map(read_model, models)),
        runtimes=tuple(map(read_runtime, runtimes)),
        weights=tuple(map(read_weight, _list(snapshot, kinds.FINE_TUNED_WEIGHT))),
        accelerators={each.name: each for each in accelerators},
    )


def find_configuration(snapshot: Snapshot) -> Configuration:
    """The administrator's settings, or the defaults; raises ServiceError if they are invalid."""
    found = next(_list(snapshot, CONFIG_MAP), None)
    return USUAL if found is None else read_configuration(found)


def check_configuration(snapshot: Snapshot, service: InferenceService, existing: Existing) -> None:
    """
    Raises ServiceError if a service has objects that were made from a ConfigMap which has gone.

    Without one no Ingress is made. A ConfigMap that is deleted by mistake, or with the project that
    brought it, would take the hosts of all services with it.
    """
    is_told = labels.INGRESS_DISABLE_CREATION in service.annotations
    if is_told or next(_list(snapshot, CONFIG_MAP), None) is not None:
        return
    held = [f"{kind.name} {name}" for kind in _MADE_FROM_IT for name in existing.get(kind) or ()]
    if held:
        raise ServiceError(
            reasons.INTERNAL,
            f"ConfigMap {names.CONFIGURATION} is missing in namespace "
            f"{names.CONTROLLER_NAMESPACE}, and {', '.join(sorted(held))} came of it: create it "
            f"again, or set annotation {labels.INGRESS_DISABLE_CREATION} on the service",
        )


def _list(snapshot: Snapshot, kind: Kind) -> Iterator[Object]:
    return (found.decode() for found in snapshot.references.get(kind, ()))
