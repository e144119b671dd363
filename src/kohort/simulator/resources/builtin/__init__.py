"""
The built-in kinds, as resources.

The table is made when it is asked for, since shapes and printers are read from
data files: importing costs nothing, and each server may turn on other gates.
"""

from kohort.simulator.resources.builtin.behaviours import builtin_behaviours
from kohort.simulator.resources.builtin.events import from_storage, to_storage
from kohort.simulator.resources.builtin.rows import ROWS, Row
from kohort.simulator.resources.printers import COLUMNS, Printer
from kohort.simulator.resources.resource import Behaviour, Resource
from kohort.simulator.schemas.builtin import load_shape


def builtin_resources(gates: frozenset[str] = frozenset()) -> tuple[Resource, ...]:
    """All built-in kinds, in the order of discovery, with these feature gates on."""
    behaviours = builtin_behaviours(gates)
    return tuple(_resource(row, behaviours) for row in ROWS)


def _resource(row: Row, behaviours: dict[str, Behaviour]) -> Resource:
    kind = row.kind
    shared = bool(row.storage)
    return Resource(
        kind=kind,
        shape=load_shape(kind.api_version, kind.name),
        printer=COLUMNS.get(kind.group_resource, Printer()),
        behaviour=behaviours.get(kind.group_resource, Behaviour()),
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
        to_storage=to_storage if shared else None,
        from_storage=from_storage if shared else None,
    )
