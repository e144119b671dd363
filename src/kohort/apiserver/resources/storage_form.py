"""
Behaviour and columns of a version that is stored as another: those of the storage version.

An object is brought into the stored form, treated there, and brought back. So there is one
set of rules for a kind, and every version of it is answered alike.
"""

from collections.abc import Callable
from dataclasses import replace

from kohort.apiserver.resources.printers.tables import Printer
from kohort.apiserver.resources.resource import Behaviour
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object

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
