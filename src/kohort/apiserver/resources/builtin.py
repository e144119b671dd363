"""All built-in kinds, in the order of discovery, and the resources that are served for them.

To add a kind, write a module that ends with ``KINDS``, and name it in ``_MODULES``.
"""

from kohort.apiserver.resources import (
    access,
    definitions,
    events,
    jobs,
    limits,
    namespaces,
    nodes,
    settings,
    storage,
    webhooks,
)
from kohort.apiserver.resources.autoscalers import kinds as autoscalers
from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.network import kinds as network
from kohort.apiserver.resources.pods import kind as pods
from kohort.apiserver.resources.resource import Behaviour, Resource, Scale
from kohort.apiserver.resources.storage_form import print_in_storage_form, write_in_storage_form
from kohort.apiserver.resources.workloads import kinds as workloads
from kohort.apiserver.schemas.builtin import load_shape
from kohort.cluster.objects import Kind

_MODULES = (
    *(access, autoscalers, definitions, events, jobs, limits, namespaces),
    *(network, nodes, pods, settings, storage, webhooks, workloads),
)
# Discovery lists groups in this order, and the kinds of a group by plural.
_GROUPS = (
    *("v1", "apps/v1", "events.k8s.io/v1", "authentication.k8s.io/v1", "authorization.k8s.io/v1"),
    *("autoscaling/v2", "autoscaling/v1", "batch/v1", "networking.k8s.io/v1", "policy/v1"),
    *("rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "admissionregistration.k8s.io/v1"),
    *("apiextensions.k8s.io/v1", "scheduling.k8s.io/v1", "coordination.k8s.io/v1"),
    "discovery.k8s.io/v1",
)


def _place(row: BuiltinKind) -> tuple[int, str]:
    return _GROUPS.index(row.kind.api_version), row.kind.plural


KINDS: tuple[BuiltinKind, ...] = tuple(
    sorted((row for module in _MODULES for row in module.KINDS), key=_place)
)
SCALED: dict[Kind, Scale] = {row.kind: row.scale for row in KINDS if row.scale is not None}


def builtin_resources(gates: frozenset[str] = frozenset()) -> tuple[Resource, ...]:
    """The resources of all built-in kinds, with these feature gates on.

    They are made when they are asked for, since their shapes are read from data files.
    """
    return tuple(_resource(row, gates) for row in KINDS)


def _find_behaviour(row: BuiltinKind, gates: frozenset[str]) -> Behaviour:
    return next((row.gated[gate] for gate in row.gated if gate in gates), row.behaviour)


def _resource(row: BuiltinKind, gates: frozenset[str]) -> Resource:
    kind, printer, behaviour = row.kind, row.printer, _find_behaviour(row, gates)
    if row.to_storage and row.from_storage and kind.group_resource == row.storage:
        behaviour = write_in_storage_form(behaviour, row.to_storage, row.from_storage)
        printer = print_in_storage_form(printer, row.to_storage)
    return Resource(
        kind=kind,
        shape=load_shape(kind.api_version, kind.name),
        printer=printer,
        behaviour=behaviour,
        singular=kind.name.lower(),
        list_kind=f"{kind.name}List",
        short_names=row.short_names,
        categories=row.categories,
        verbs=row.verbs,
        subresources=row.subresources,
        scale=row.scale,
        storage=row.storage,
        has_generation=row.has_generation,
        deprecation=row.deprecation,
        may_appear=row.may_appear,
        graceful=row.graceful,
        fields=row.fields,
        to_storage=row.to_storage,
        from_storage=row.from_storage,
    )
