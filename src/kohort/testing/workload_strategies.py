"""
The rules that every workload strategy of InferenceService must keep, as a check for authors.

    from kohort.testing import check_workload_strategy

    def test_my_strategy():
        assert check_workload_strategy(MyStrategy(), {"example.com/workload": "mine"}) == []

The annotations are those by which a service chooses the strategy. The check renders services of an
engine alone, with a router, and with a decoder and a router, on one node and on several; services
of a mode that it refuses are left out. It must render the same objects each time, whether they
exist or not, and only objects that the operator may own for the service.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kohort.apis.inferenceservice.assembly import OWNED, plan_service
from kohort.apis.inferenceservice.configuration import Configuration, IngressConfig
from kohort.apis.inferenceservice.models import read_model
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution import ReferencedObjects, resolve
from kohort.apis.inferenceservice.runtimes import read_runtime
from kohort.apis.inferenceservice.spec import InferenceService, read_service
from kohort.apis.inferenceservice.strategies.registry import WorkloadStrategyManager
from kohort.apis.inferenceservice.strategies.strategy import (
    BUILT_IN,
    WorkloadObjects,
    WorkloadReconcileRequest,
    WorkloadStrategy,
    make_request,
)
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, owner_reference
from kohort.testing.samples import copy_json, describe_error, is_json, list_faults

_API = "ome.io/v1beta1"
_COMPONENTS = (("engine",), ("engine", "router"), ("engine", "decoder", "router"))
_SETTINGS = Configuration(ingress=IngressConfig(domain="svc.cluster.local", is_disabled=True))


@dataclass(frozen=True, slots=True)
class _Case:
    """One service to deploy by a strategy, and the objects that it refers to."""

    service: Object
    known: ReferencedObjects
    words: str

    def __str__(self) -> str:
        return self.words

    def read(self) -> InferenceService:
        return read_service(copy_json(self.service))

    def request(self, existing: WorkloadObjects | None = None) -> WorkloadReconcileRequest:
        held: dict[Kind, dict[str, Object]] = {}
        for kind, obj in existing.objects if existing else ():
            held.setdefault(kind, {})[name_of(obj)] = _store(obj)
        return make_request(resolve(self.read(), self.known), _SETTINGS, held)


def check_workload_strategy(
    strategy: WorkloadStrategy, annotations: Mapping[str, str]
) -> list[str]:
    """The rules that a strategy breaks, each with the service for which it does; empty: none."""
    if not isinstance(strategy, WorkloadStrategy):
        return [f"{type(strategy).__name__} lacks a method of WorkloadStrategy"]
    faults: list[tuple[str, object]] = [(fault, "") for fault in _check_name(strategy)]
    refusals: list[str] = []
    cases = list(_list_cases(annotations))
    for case in cases:
        try:
            faults += [(fault, case) for fault in _check_case(strategy, case)]
        except ServiceError as error:
            refusals.append(f"{error}: {case}")
        except Exception as error:
            faults.append((f"it raised {describe_error(error)}", case))
    if len(refusals) == len(cases):
        faults.append((f"it can deploy no service: {refusals[0]}", ""))
    return list_faults(faults)


def _check_name(strategy: WorkloadStrategy) -> Iterator[str]:
    name = strategy.get_strategy_name()
    if not name:
        yield "it has no name: get_strategy_name must return one"
    elif name in BUILT_IN and not type(strategy).__module__.startswith("kohort.apis."):
        yield f"Kohort has a strategy called {name}: choose another name"
    elif strategy.get_strategy_name() != name:
        yield "it has another name each time that it is asked"


def _check_case(strategy: WorkloadStrategy, case: _Case) -> Iterator[str]:
    service = case.read()
    if strategy.is_applicable(service, service.annotations) is not True:
        yield "it does not apply to a service with the annotations that check was given"
        return
    manager = WorkloadStrategyManager()
    manager.register_strategy(strategy)
    plan_service(service, case.known, _SETTINGS, manager)
    request = case.request()
    made = strategy.reconcile_workload(request)
    yield from _check_objects(made, case)
    if made.strategy != strategy.get_strategy_name():
        yield f"its objects name strategy {made.strategy!r}, and it calls itself otherwise"
    if strategy.reconcile_workload(case.request()).objects != made.objects:
        yield "it renders other objects for the same request"
    if request != case.request():
        yield "it changed the request that it was given"
    existing = case.request(made)
    later = strategy.reconcile_workload(existing)
    if _name_all(later) != _name_all(made):
        yield "it renders objects of other names once its objects exist"
    if existing.existing != case.request(made).existing:
        yield "it changed existing objects that it was given"


def _check_objects(made: WorkloadObjects, case: _Case) -> Iterator[str]:
    names = _name_all(made)
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"it renders {name} twice"
    for kind, obj in made.objects:
        for fault in _check_object(kind, obj, case):
            yield f"{kind.name} {name_of(obj)} {fault}"
    for component in () if made.strategy in BUILT_IN else made.configs:
        if made.find_carrier(component) is None:
            yield f"no workload has the label of component {component}: it is never ready"


def _check_object(kind: Kind, obj: Object, case: _Case) -> Iterator[str]:
    if (obj.get("apiVersion"), obj.get("kind")) != (kind.api_version, kind.name):
        yield "has another apiVersion or kind than it is listed under"
    if kind not in OWNED:
        yield "is of a kind that no service owns"
    if namespace_of(obj) != namespace_of(case.service):
        yield "is in another namespace than its service"
    if owner_reference(case.service) not in (obj["metadata"].get("ownerReferences") or ()):
        yield "is not owned by the service: use objects.owned.make_object"
    if not is_json(obj):
        yield "is no JSON, so that no API server takes it"


def _name_all(made: WorkloadObjects) -> list[str]:
    return [f"{kind.name} {name_of(obj)}" for kind, obj in made.objects]


def _store(obj: Object) -> Object:
    """An object as the API server returns it."""
    stored = copy_json(obj)
    stored["metadata"] |= {"uid": f"uid-{name_of(obj)}", "resourceVersion": "1", "generation": 1}
    return stored


def _list_cases(annotations: Mapping[str, str]) -> Iterator[_Case]:
    for components in _COMPONENTS:
        for has_workers in (False, True):
            places = "several nodes" if has_workers else "one node"
            words = f"a service of {' and '.join(components)}, with engines on {places}"
            metadata = {"name": "chat", "namespace": "ml", "uid": "isvc-uid", "generation": 1}
            spec = {"model": {"name": "llama"}, **{name: {} for name in components}}
            head = {"apiVersion": _API, "kind": "InferenceService"}
            service = {**head, "metadata": {**metadata, "annotations": dict(annotations)}}
            yield _Case({**service, "spec": spec}, _make_known(has_workers), words)


def _make_known(has_workers: bool) -> ReferencedObjects:
    facts: Object = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.43.0"},
        "modelArchitecture": "LlamaForCausalLM",
    }
    storage = {"storageUri": "hf://example/llama", "path": "/mnt/models/llama"}
    model = {"kind": "ClusterBaseModel", "metadata": {"name": "llama"}}
    runner = {"runner": {"name": "ome-container", "image": "engine:1"}}
    engine = {"leader": runner, "worker": {"size": 1, **runner}} if has_workers else runner
    runtime = {"kind": "ClusterServingRuntime", "metadata": {"name": "engine"}}
    spec = {
        "supportedModelFormats": [{**facts, "autoSelect": True, "priority": 1}],
        "engineConfig": engine,
        "decoderConfig": engine,
        "routerConfig": {"runner": {"name": "router", "image": "router:1"}},
    }
    held = read_model({**model, "spec": {**facts, "storage": storage}})
    return ReferencedObjects((held,), (read_runtime({**runtime, "spec": spec}),))
