"""
The built-in kinds, as resources.

The table is made when it is asked for, since shapes and printers are read from
data files: importing costs nothing, and each server may turn on other gates.
"""

from kohort.simulator import kinds
from kohort.simulator.resources.builtin import autoscalers, events
from kohort.simulator.resources.builtin.behaviours import builtin_behaviours
from kohort.simulator.resources.builtin.conversion import (
    print_in_storage_form,
    write_in_storage_form,
)
from kohort.simulator.resources.builtin.rows import ROWS, Row
from kohort.simulator.resources.printers import COLUMNS, Printer
from kohort.simulator.resources.resource import Behaviour, Resource
from kohort.simulator.schemas.builtin import load_shape

# The kinds that are stored in another version or group, and how they get there and back.
_CONVERTED = {
    kinds.AUTOSCALER_V1: (autoscalers.to_storage, autoscalers.from_storage),
    kinds.NEW_EVENT: (events.to_storage, events.from_storage),
}


def builtin_resources(gates: frozenset[str] = frozenset()) -> tuple[Resource, ...]:
    """All built-in kinds, in the order of discovery, with these feature gates on."""
    behaviours = builtin_behaviours(gates)
    return tuple(_resource(row, behaviours) for row in ROWS)


def _resource(row: Row, behaviours: dict[str, Behaviour]) -> Resource:
    kind = row.kind
    to_storage, from_storage = _CONVERTED.get(kind, (None, None))
    printer = COLUMNS.get(kind.group_resource, Printer())
    behaviour = behaviours.get(kind.group_resource, Behaviour())
    if to_storage and from_storage and kind.group_resource == row.storage:
        behaviour = write_in_storage_form(behaviour, to_storage, from_storage)
        printer = print_in_storage_form(printer, to_storage)
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
        graceful=kind.group_resource == "pods",
        fields=row.fields,
        to_storage=to_storage,
        from_storage=from_storage,
    )
