"""
All built-in kinds, in the order of discovery, and the resources that are served for them.

To add a kind, write a module that ends with ``KINDS``, and name it in ``_MODULES``.

A version that is stored as another has the behaviour and columns of the storage version: an
object is brought into the stored form, treated there, and brought back. So there is one
set of rules for a kind, and every version of it is answered alike.
"""

from collections.abc import Callable
from dataclasses import replace

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
from kohort.apiserver.resources.printers import Printer
from kohort.apiserver.resources.resource import Behaviour, Resource, Scale
from kohort.apiserver.resources.workloads import kinds as workloads
from kohort.apiserver.schemas.builtin import load_shape
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Kind, Object

Convert = Callable[[Object], Object]
_Validate = Callable[[Object, Object | None], list[FieldError]]


def print_in_storage_form(printer: Printer, to_storage: Convert) -> Printer:
    """The printer of a version, from the printer of its storage version."""
    return replace(printer, cells=lambda obj, now: printer.cells(to_storage(obj), now))


def write_in_storage_form(
    behaviour: Behaviour, to_storage: Convert, from_storage: Convert
) -> Behaviour:
    """The behaviour of a version, from the behaviour of its storage version."""

    def bring_back(obj: Object, stored: Object) -> None:
        obj.clear()
        obj.update(from_storage(stored))

    def alone(act: Callable[[Object], None]) -> Callable[[Object], None]:
        def acting(obj: Object) -> None:
            stored = to_storage(obj)
            act(stored)
            bring_back(obj, stored)

        return acting

    def beside_old(act: Callable[[Object, Object], None]) -> Callable[[Object, Object], None]:
        def acting(obj: Object, old: Object) -> None:
            stored = to_storage(obj)
            act(stored, to_storage(old))
            bring_back(obj, stored)

        return acting

    def checking(check: _Validate) -> _Validate:
        return lambda obj, old: check(to_storage(obj), None if old is None else to_storage(old))

    return replace(
        behaviour,
        default=alone(behaviour.default),
        prepare_create=alone(behaviour.prepare_create),
        prepare_update=beside_old(behaviour.prepare_update),
        prepare_status=beside_old(behaviour.prepare_status),
        validate=checking(behaviour.validate),
        validate_status=checking(behaviour.validate_status),
    )


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
