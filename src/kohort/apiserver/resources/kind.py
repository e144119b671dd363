"""A built-in kind as one value: discovery data, defaults, validation and columns.

The module of a kind ends with its ``KINDS``; ``builtin`` lists those of all modules. A kind
without a behaviour is stored as it comes, and one without columns shows name and creation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.printers import Printer
from kohort.apiserver.resources.resource import ALL_VERBS, Behaviour, Scale
from kohort.apiserver.resources.validation.metadata import validate_plain_status
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Kind, Object

Validate = Callable[[Object, Object | None], list[FieldError]]
_PLAIN, _NAME_AND_CREATION = Behaviour(), Printer()
Convert = Callable[[Object], Object]


@dataclass(frozen=True, slots=True)
class BuiltinKind:
    """One built-in kind, with all that is special about it."""

    kind: Kind
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    behaviour: Behaviour = _PLAIN
    printer: Printer = _NAME_AND_CREATION
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[str, ...] = ()
    scale: Scale | None = None
    has_generation: bool = False
    fields: tuple[str, ...] = ()  # what field selectors may name, besides name and namespace
    may_appear: bool = False  # an update of a missing object creates it
    graceful: bool = False  # deletion waits for a grace period
    deprecation: str = ""
    gated: Mapping[str, Behaviour] = field(default_factory=dict)  # by the feature gate that is on
    storage: str = ""  # the group and plural that it is stored as, if they differ
    to_storage: Convert | None = None
    from_storage: Convert | None = None


def reported(
    validate: Validate,
    default: Callable[[Object], None],
    validate_status: Validate = validate_plain_status,
    **more: Any,
) -> Behaviour:
    """A kind with a status subresource: creates clear the status, and updates keep it."""
    usual = Behaviour(
        validate=validate,
        validate_status=validate_status,
        default=default,
        prepare_create=prepare.start_status(default),
        prepare_update=prepare.keep_status,
        prepare_status=prepare.keep_spec,
    )
    return replace(usual, **more)
