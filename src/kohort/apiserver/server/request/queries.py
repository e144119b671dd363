"""
Parses query parameters into options, with a real server's validation.

Numbers that are none are a bad request; options that contradict each other are
invalid, with a cause for each. Truth is what Go clients write: anything but
``false`` and ``0``, also nothing at all (``?watch=``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from kohort.apiserver.api.requests import DeleteOptions, ListOptions, User, Validation, WriteOptions
from kohort.apiserver.server.request.syntax_errors import name_type
from kohort.cluster.errors import BadRequest, ClusterError, invalid
from kohort.cluster.fields import FieldError, FieldErrorType, show
from kohort.cluster.numbers import explain_whole, find_whole
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType
from kohort.cluster.selectors import parse_field_selector, parse_label_selector

Query = Mapping[str, Sequence[str]]

NOTHING: Query = {}
_MANAGER_BYTES_MAX = 128
_POLICIES = ("Foreground", "Background", "Orphan")
_VALIDATIONS = {"": Validation.WARN, **{form.value: form for form in Validation}}
_MATCH = "resourceVersionMatch"


def read_query(text: str) -> Query:
    """The parameters of a query, each with all its values."""
    return parse_qs(text, keep_blank_values=True) if text else NOTHING


def first(query: Query, name: str) -> str:
    """The first value of a parameter; empty if it is missing."""
    values = query.get(name)
    return values[0] if values else ""


def is_set(query: Query, name: str) -> bool:
    """Whether a parameter is there and true."""
    values = query.get(name)
    return values is not None and values[0].lower() not in ("false", "0")


def find_number(query: Query, name: str) -> int | None:
    """A whole number, if the parameter is there."""
    values = query.get(name)
    if values is None:
        return None
    text = values[0]
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit()):
        raise BadRequest(f"strconv.ParseInt: parsing {show(text)}: invalid syntax")
    number = find_whole(digits)
    if number is None or not -(2**63) <= (number := -number if text[0] == "-" else number) < 2**63:
        raise BadRequest(f"strconv.ParseInt: parsing {show(text)}: value out of range")
    return number


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of a request, and the User-Agent."""

    user: User
    agent: str = ""

    @property
    def manager(self) -> str:
        """The name that owns fields when the request gives none: the program's."""
        return self.agent.split("/", 1)[0][:_MANAGER_BYTES_MAX] or "unknown"


def write_options(
    query: Query, kind: str, caller: Caller, patch: PatchType | None = None, *, size: int = 0
) -> WriteOptions:
    """The options of a create, update or patch; ``kind`` is what errors call them."""
    if not query and patch is not PatchType.APPLY:
        return WriteOptions(manager=caller.manager, user=caller.user, size=size)
    manager = first(query, "fieldManager")
    validation = first(query, "fieldValidation")
    errors = [
        *_check_patch(query, patch, manager),
        *_check_dry_run(query.get("dryRun", ())),
        *_check_manager(manager),
    ]
    if validation not in _VALIDATIONS:
        errors.append(_unsupported("fieldValidation", validation, sorted(_VALIDATIONS)))
    _refuse(kind, errors)
    return WriteOptions(
        manager=manager or caller.manager,
        dry_run="dryRun" in query,
        validation=_VALIDATIONS[validation],
        force=is_set(query, "force"),
        user=caller.user,
        size=size,
    )


def _refuse(kind: str, errors: Sequence[FieldError]) -> None:
    if errors:
        raise invalid(kind, "meta.k8s.io", "", errors)


def _unsupported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    shown = ", ".join(show(text) for text in supported)
    return FieldError(FieldErrorType.NOT_SUPPORTED, field, f"supported values: {shown}", value)


def _check_patch(query: Query, patch: PatchType | None, manager: str) -> list[FieldError]:
    if patch is PatchType.APPLY and not manager:
        return [FieldError(FieldErrorType.REQUIRED, "fieldManager", "is required for apply patch")]
    if patch not in (None, PatchType.APPLY) and "force" in query:
        return [
            FieldError(
                FieldErrorType.FORBIDDEN, "force", "may not be specified for non-apply patch"
            )
        ]
    return []


def _check_dry_run(values: Sequence[str]) -> list[FieldError]:
    if all(value == "All" for value in values):
        return []
    return [_unsupported("dryRun", list(values), ["All"])]


def _check_manager(manager: str) -> list[FieldError]:
    if len(manager.encode()) > _MANAGER_BYTES_MAX:
        why = f"may not be more than {_MANAGER_BYTES_MAX} bytes"
        return [FieldError(FieldErrorType.TOO_LONG, "fieldManager", why)]
    for position, char in enumerate(manager):
        if not char.isprintable():
            why = f"invalid character U+{ord(char):04X} (at position {position})"
            return [FieldError(FieldErrorType.INVALID, "fieldManager", why, manager)]
    return []


def list_options(query: Query) -> ListOptions:
    """The options of a list, a watch or a deletion of a collection."""
    if not query:
        return ListOptions()
    return ListOptions(
        labels=parse_label_selector(first(query, "labelSelector")),
        fields=parse_field_selector(first(query, "fieldSelector")),
        limit=max(find_number(query, "limit") or 0, 0),
        continue_from=first(query, "continue"),
        resource_version=first(query, "resourceVersion"),
        match=first(query, _MATCH),
    )


class _BadVersion(ClusterError):
    """A bad resourceVersion, for which real servers return 500 without a reason."""

    reason = ""


def check_version(query: Query) -> None:
    """Refuse a resource version that is no number, for a read or a watch."""
    text = first(query, "resourceVersion")
    if text and find_whole(text) is None:
        raise _BadVersion(f"resourceVersion: Invalid value: {show(text)}: {explain_whole(text)}")


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """The options of a watch: timeout and bookmarks."""

    sends_initial: bool | None = None  # None: the client did not say
    bookmarks: bool = False
    timeout_seconds: int | None = None


def watch_options(query: Query) -> WatchOptions:
    """The options that only watches have."""
    return WatchOptions(
        sends_initial=is_set(query, "sendInitialEvents") if "sendInitialEvents" in query else None,
        bookmarks=is_set(query, "allowWatchBookmarks"),
        timeout_seconds=find_number(query, "timeoutSeconds"),
    )


def check_list(options: ListOptions, query: Query) -> None:
    """Refuse options that contradict each other in a list."""
    find_number(query, "timeoutSeconds")
    errors = _check_match(options) if options.match else []
    if "sendInitialEvents" in query:
        why = "sendInitialEvents is forbidden for list"
        errors.append(FieldError(FieldErrorType.FORBIDDEN, "sendInitialEvents", why))
    _refuse("ListOptions", errors)
    if options.continue_from and options.resource_version not in ("", "0"):
        raise BadRequest("specifying resource version is not allowed when using continue")


def _check_match(options: ListOptions) -> list[FieldError]:
    errors = []
    if not options.resource_version:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        errors.append(FieldError(FieldErrorType.FORBIDDEN, _MATCH, why))
    if options.continue_from:
        errors.append(_no_match_with_continue())
    if options.match not in ("Exact", "NotOlderThan"):
        errors.append(_unsupported(_MATCH, options.match, ["Exact", "NotOlderThan", ""]))
    if options.match == "Exact" and options.resource_version == "0":
        why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        errors.append(FieldError(FieldErrorType.FORBIDDEN, _MATCH, why))
    return errors


def _no_match_with_continue() -> FieldError:
    why = "resourceVersionMatch is forbidden when continue is provided"
    return FieldError(FieldErrorType.FORBIDDEN, _MATCH, why)


def check_watch(options: ListOptions, watch: WatchOptions) -> None:
    """Refuse options that contradict each other in a watch."""
    errors = []
    if watch.sends_initial is None and options.match:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.append(FieldError(FieldErrorType.FORBIDDEN, _MATCH, why))
    if watch.sends_initial is not None and options.match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(FieldError(FieldErrorType.FORBIDDEN, _MATCH, why))
        if options.match:
            errors.append(_unsupported(_MATCH, options.match, ["NotOlderThan"]))
    if options.continue_from:
        errors.append(_no_match_with_continue())
    _refuse("ListOptions", errors)


def delete_options(query: Query, body: Object | None, user: User) -> DeleteOptions:
    """The options of a deletion: from the body, or without a body from the query."""
    said = _deletion_from_query(query) if body is None else _check_types(body)
    grace, policy = said.get("gracePeriodSeconds"), said.get("propagationPolicy")
    orphan, dry_run = said.get("orphanDependents"), said.get("dryRun") or ()
    errors = []
    if policy is not None and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(FieldError(FieldErrorType.INVALID, "propagationPolicy", why, policy))
    if policy is not None and policy not in _POLICIES:
        errors.append(_unsupported("propagationPolicy", policy, [*_POLICIES, "nil"]))
    _refuse("DeleteOptions", [*errors, *_check_dry_run(dry_run)])
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    conditions = said.get("preconditions") or {}
    return DeleteOptions(
        grace_seconds=grace,
        propagation=policy,
        uid=conditions.get("uid") or "",
        resource_version=conditions.get("resourceVersion") or "",
        dry_run=bool(dry_run),
        user=user,
    )


def _deletion_from_query(query: Query) -> Object:
    said: Object = {
        "gracePeriodSeconds": find_number(query, "gracePeriodSeconds"),
        "dryRun": query.get("dryRun"),
        "propagationPolicy": first(query, "propagationPolicy") or None,
    }
    if "orphanDependents" in query:
        said["orphanDependents"] = is_set(query, "orphanDependents")
    return said


_DELETION_TYPES = {
    "gracePeriodSeconds": (int, "int64"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "orphanDependents": (bool, "bool"),
    "dryRun": (list, "[]string"),
    "preconditions": (dict, "v1.Preconditions"),
}


def _check_types(body: Object) -> Object:
    for field, (wanted, name) in _DELETION_TYPES.items():
        value = body.get(field)
        is_too_large = type(value) is int and not -(2**63) <= value < 2**63
        if value is not None and (type(value) is not wanted or is_too_large):
            raise _wrong_type(value, f"DeleteOptions.{field}", name)
    for field in ("uid", "resourceVersion"):
        value = (body.get("preconditions") or {}).get(field)
        if value is not None and not isinstance(value, str):
            name = "types.UID" if field == "uid" else "string"
            raise _wrong_type(value, f"Preconditions.preconditions.{field}", name)
    return body


def _wrong_type(value: Any, field: str, wanted: str) -> BadRequest:
    given = name_type(value)
    if given == "number" and wanted.startswith("int"):
        given = f"number {value}"
    return BadRequest(
        f"json: cannot unmarshal {given} into Go struct field {field} of type {wanted}"
    )
