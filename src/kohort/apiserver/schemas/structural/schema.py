"""
The compiled schema of one version of a custom kind: defaulting, pruning and validation.

The order is the server's: decode, ``prune``, ``default``, admission, and then
``validate``. Rules written in CEL come last. They are not run on an object that lacks a required
field, or has a value of a wrong type, outside of an enum, or longer than its limit; a number
beyond ``minimum`` or ``maximum`` keeps no rule from running.

Errors are ratcheted: an update is not refused for errors in fields that it did not change.
A problem is dropped when the value that has it, or anything that holds that
value, equals what stood there before. Values correspond by the names of fields,
the keys of maps and the keys of keyed lists; entries of other lists correspond
to nothing. The names of kind and version are never ratcheted.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from kohort.apiserver.schemas.cel import Rules, find_rules
from kohort.apiserver.schemas.cel.rules import find_entry
from kohort.apiserver.schemas.result_cache import ResultCache, hash_schema
from kohort.apiserver.schemas.shapes import Shape
from kohort.apiserver.schemas.structural.checks import compile_check
from kohort.apiserver.schemas.structural.checks.problems import NOWHERE, Check, Problem, Segment
from kohort.apiserver.schemas.structural.defaults import fill
from kohort.apiserver.schemas.structural.node import Node, Schema
from kohort.apiserver.schemas.structural.prune import prune
from kohort.apiserver.schemas.structural.shape import shape_of
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object

_TYPE_FIELDS = ("apiVersion", "kind")


def drop_unchanged(problems: list[Problem], value: Any, old: Any, node: Node) -> list[Problem]:
    """The problems in fields that this update changed."""
    return [
        problem
        for problem in problems
        if problem.is_late
        or not _is_unchanged(problem.segments[problem.sheltered :], value, old, node)
    ]


def drop_duplicates(problems: list[Problem]) -> list[Problem]:
    """The problems without those of duplicates, for an object that already had some."""
    return [problem for problem in problems if not is_duplicate(problem)]


def is_duplicate(problem: Problem) -> bool:
    """Whether the problem is a duplicate in a list of type set or map."""
    return problem.is_late and problem.fault is not FieldErrorType.REQUIRED


def _is_unchanged(segments: list[Segment], value: Any, old: Any, node: Node) -> bool:
    if value == old:
        return True
    place: Node | None = node
    for depth, segment in enumerate(reversed(segments)):
        if place is None or (depth == 0 and segment in _TYPE_FIELDS):
            return False
        step = _step(place, segment, value, old)
        if step is None:
            return False
        value, old, place = step
        if value == old:
            return True
    return False


def _step(
    node: Node, segment: Segment, value: Any, old: Any
) -> tuple[Any, Any, Node | None] | None:
    if isinstance(segment, int):
        keys = node.list_keys if node.list_type == "map" else None
        previous = find_entry(keys, value[segment], old)
        return None if previous is None else (value[segment], previous, node.find_items())
    if type(old) is not dict or segment not in old:
        return None
    return value[segment], old[segment], node.find(segment)


_BLOCKING = {
    FieldErrorType.NOT_SUPPORTED,
    FieldErrorType.REQUIRED,
    FieldErrorType.TOO_LONG,
    FieldErrorType.TOO_MANY,
    FieldErrorType.TYPE_INVALID,
}
_NOT_CHECKED = FieldError(
    FieldErrorType.INVALID,
    NOWHERE,
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


class Structural:
    """A compiled schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._node = Node(schema, embedded=True)
        self._check: Check = compile_check(schema, root=True)

    @cached_property
    def shape(self) -> Shape:
        """The shape of objects, for patches and managedFields."""
        return shape_of(self.schema, root=True)

    @cached_property
    def rules(self) -> Rules | None:
        """The rules written in CEL, if there are any."""
        return find_rules(self.schema)

    @cached_property
    def _status_check(self) -> Check | None:
        status = (self.schema.get("properties") or {}).get("status")
        return compile_check(status) if status else None

    def default(self, obj: Object) -> None:
        """Set the defaults in place; drops nulls that are not allowed."""
        fill(obj, self._node)

    def prune(self, obj: Object) -> list[str]:
        """Remove unknown fields in place; returns their sorted paths, such as ``spec.foo``."""
        found = prune(obj, self._node)
        return sorted(path.removeprefix(".") for path in found) if found else []

    def validate(
        self, obj: Object, old: Object | None = None, more: Sequence[FieldError] = ()
    ) -> list[FieldError]:
        """The errors in an object; with an old one, only the errors that the update causes.

        ``more`` are the errors of other checks, which come before those of the rules.
        """
        problems = self._check(obj)
        errors = self._render(problems, obj, old) if problems else []
        return self._with_rules([*errors, *more], obj, old)

    def validate_status(
        self, obj: Object, old: Object, more: Sequence[FieldError] = ()
    ) -> list[FieldError]:
        """The errors in an update that may change the status alone."""
        errors: list[FieldError] = []
        status = obj.get("status")
        if self._status_check is not None and "status" in obj:
            problems = self._status_check(status) or []
            node = self._node.find("status")
            if problems and node is not None and "status" in old:
                problems = drop_unchanged(problems, status, old["status"], node)
            errors = _unique(
                [problem.render("status") for problem in problems if not problem.is_late]
            )
        late = [problem for problem in self._check(obj) or () if is_duplicate(problem)]
        if late:
            errors += self._render(late, obj, old)
        return self._with_rules([*errors, *more], obj, old)

    def _render(self, problems: list[Problem], obj: Object, old: Object | None) -> list[FieldError]:
        if old is not None:
            problems = drop_unchanged(problems, obj, old, self._node)
            if any(is_duplicate(problem) for problem in problems) and any(
                is_duplicate(problem) for problem in self._check(old) or ()
            ):
                problems = drop_duplicates(problems)
        return _unique([problem.render() for problem in sorted(problems, key=_is_late)])

    def _with_rules(
        self, errors: list[FieldError], obj: Object, old: Object | None
    ) -> list[FieldError]:
        if self.rules is None:
            return errors
        if any(error.fault in _BLOCKING for error in errors):
            return [*errors, _NOT_CHECKED]
        return errors + self.rules.evaluate(obj, old)


_compiled: ResultCache[bytes, Structural] = ResultCache(64)


def compile_schema(schema: Schema) -> Structural:
    """Compile the ``openAPIV3Schema`` of one version; the same one is compiled once."""
    key = hash_schema(schema)
    found = _compiled.find(key) if key else None
    if found is None:
        found = Structural(schema)
        if key:
            _compiled.remember(key, found)
    return found


def _is_late(problem: Problem) -> bool:
    return problem.is_late


def _unique(errors: list[FieldError]) -> list[FieldError]:
    """The errors without repetitions."""
    return list({str(error): error for error in errors}.values())
