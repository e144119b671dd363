"""
This is where an object is held against everything that would refuse it, without a cluster.

The order is that of an API server: unknown fields, defaults, our mutating webhooks, the schema,
our validating webhooks; then the object is planned once, with the other objects of the input as
all that the cluster has, for what the operator would warn of and make. Each rule is the one that
the cluster applies; there is no copy of any here. A fault that only the cluster can confirm, such
as a model that does not exist, is a warning.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any

import orjson

from kohort.apis.api import Api, ExecutionSummary, InvalidWorkload, Settings, Webhook
from kohort.apis.conversion import ConversionError, collect_converters, convert_object
from kohort.apis.definitions.shapes import DEPTH_MAX, is_deeper
from kohort.apis.gojson import drop_nulls
from kohort.apis.served import APIS
from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.apiserver.schemas.structural.checks.problems import NOWHERE
from kohort.cli.input_files import find_metadata_faults, find_misfit
from kohort.cli.lint.children import find_bad_names, list_made
from kohort.cli.lint.sources import Source
from kohort.cli.parser import suggest
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Kind, Object, labels_of, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.cluster.selectors import read_label_selector
from kohort.planning.plan import plan
from kohort.views.samples import gather

# What a stored object has besides: the operator plans no other.
_STORED = {"uid": "00000000-0000-0000-0000-000000000000", "resourceVersion": "1"}


class Level(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"  # a fact that asks for no change


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one object of a file."""

    file: str
    line: int  # 0: unknown
    object: str
    level: Level
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """All that was found in some files."""

    objects: int  # of kinds that Kohort knows
    skipped: tuple[str, ...]  # objects of other kinds, which were not checked
    problems: tuple[Problem, ...]

    def count(self, level: Level) -> int:
        """How many problems have a level."""
        return sum(problem.level is level for problem in self.problems)


@dataclass(frozen=True, slots=True)
class _Fault:
    level: Level
    field: str
    message: str


def check_sources(sources: Sequence[Source], settings: Settings) -> Checked:
    """Check all objects, each with the others beside it."""
    found = [(source, list(_find_document_faults(source))) for source in sources]
    objects = [source.obj for source, faults in found if not faults]
    skipped, problems, count = [], [], 0
    for source, faults in found:
        if not faults and not is_ours(source.obj):
            skipped.append(_describe(source.obj))
            continue
        count += 1
        told = faults or [*_find_doubles(source), *_Check(source.obj, objects, settings).run()]
        # Several webhooks may say the same.
        problems += [_locate(source, fault) for fault in dict.fromkeys(told)]
    return Checked(count, tuple(skipped), tuple(problems))


def _locate(source: Source, fault: _Fault) -> Problem:
    line = source.find_line(fault.field)
    return Problem(
        source.file, line, _describe(source.obj), fault.level, fault.field, fault.message
    )


def _describe(obj: Any) -> str:
    if not isinstance(obj, dict):
        return "document"
    metadata = obj.get("metadata")
    name = (
        metadata.get("name") or metadata.get("generateName") if isinstance(metadata, dict) else ""
    )
    return f"{obj.get('kind') or 'object'}/{name or '(no name)'}"


def _find_document_faults(source: Source) -> Iterator[_Fault]:
    obj = source.obj
    if not isinstance(obj, dict):
        yield _error("", "this document is no object of Kubernetes: it is no mapping")
        return
    if misfit := find_misfit(obj):
        yield _error(misfit.field, misfit.message)
        return
    for key in ("apiVersion", "kind"):
        if not obj.get(key) or not isinstance(obj[key], str):
            yield _error(key, "this object of Kubernetes lacks it")
    if is_deeper(obj, DEPTH_MAX):
        yield _error("", f"it is nested more than {DEPTH_MAX} levels deep")
        return
    yield from (_error("metadata", f) for f in find_metadata_faults(obj.get("metadata")))


def _find_doubles(source: Source) -> Iterator[_Fault]:
    for path in source.twice:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
        yield _error("".join(steps).removeprefix("."), "it stands twice in its mapping")


def _error(field: str, message: str) -> _Fault:
    return _Fault(Level.ERROR, field, message)


def _warning(field: str, message: str) -> _Fault:
    return _Fault(Level.WARNING, field, message)


def is_ours(obj: Object) -> bool:
    """Whether Kohort defines kinds of the object's group; then an unknown kind is a mistake."""
    return obj["apiVersion"].rpartition("/")[0] in {group for group, _, _ in load_schemas()}


class _Check:
    """The checks of one object; ``beside`` are all objects of the input."""

    def __init__(self, obj: Object, beside: Sequence[Object], settings: Settings) -> None:
        self._obj = _copy(drop_nulls(obj))
        self._beside = beside
        self._settings = settings
        self._is_incomplete = False  # it names objects that the input does not have

    def run(self) -> Iterator[_Fault]:
        """All faults of the object; only one without errors is planned, for warnings."""
        found = list(self._find_errors())
        yield from found
        if not any(fault.level is Level.ERROR for fault in found) and not self._is_incomplete:
            yield from self._plan()

    def _find_errors(self) -> Iterator[_Fault]:
        group, _, version = self._obj["apiVersion"].rpartition("/")
        schema = load_schemas().get((group, self._obj["kind"], version))
        if schema is None:
            yield _error("apiVersion", _describe_unknown(group, self._obj["kind"], version))
            return
        yield from _find_unknown(schema, self._obj)
        schema.default(self._obj)
        _fill_metadata(self._obj)
        if not name_of(self._obj) and not self._obj["metadata"].get("generateName"):
            yield _error("metadata.name", "an object needs a name")
        yield from self._ask(mutates=True)
        told = (error for error in schema.validate(self._obj) if error.path != NOWHERE)
        errors = [_from_field(error) for error in told]
        yield from errors or self._ask(mutates=False)

    def _ask(self, *, mutates: bool) -> Iterator[_Fault]:
        """The errors and warnings of our webhooks for a create of the object."""
        for webhook in _find_webhooks(self._obj, mutates=mutates):
            seen = self._convert(self._obj, webhook.kind.api_version)
            if isinstance(seen, str):
                yield _error("", seen)
                return
            around = tuple(self._find_beside(webhook, seen))
            settings = replace(self._settings, beside=around)
            result = webhook.handle(_copy(seen), None, settings)
            yield from _read_refusal(result.refusal)
            yield from (self._read_error(error, webhook, seen) for error in result.errors)
            yield from (_warning(_find_path(text), text) for text in result.warnings)
            yield from (_Fault(Level.NOTE, _find_path(text), text) for text in result.notes)
            if result.obj is not None and mutates:
                changed = self._convert(result.obj, self._obj["apiVersion"])
                self._obj = self._obj if isinstance(changed, str) else changed

    def _read_error(self, error: FieldError, webhook: Webhook, seen: Object) -> _Fault:
        """A fault from an error; a reference to an object that is not in the input is a warning."""
        fault = _from_field(error)
        again = webhook.handle(_copy(seen), seen, self._settings).errors
        is_absent = error.fault is FieldErrorType.NOT_FOUND
        is_own = error in again or not error.path.startswith("spec")
        if not is_absent and (is_own or not webhook.find_beside(seen, self._settings)):
            return fault
        self._is_incomplete = True
        return _warning(fault.field, f"{fault.message} (in these files; the cluster may have it)")

    def _find_beside(self, webhook: Webhook, seen: Object) -> Iterator[Object]:
        for address in webhook.find_beside(seen, self._settings):
            yield from (obj for obj in self._beside if _is_at(obj, address))

    def _convert(self, obj: Object, api_version: str) -> Object | str:
        if obj["apiVersion"] == api_version:
            return obj
        try:
            return convert_object(_converters(), obj, api_version)
        except ConversionError as error:
            return str(error)

    def _plan(self) -> Iterator[_Fault]:
        """The warnings of the operator's first plan for the object."""
        api = next((api for api in APIS if _is_same_kind(api.kind, self._obj)), None)
        root = self._convert(self._obj, api.kind.api_version) if api else ""
        if api is None or isinstance(root, str):
            return
        root = {**root, "metadata": {**root["metadata"], **_STORED}}
        named = {each.kind: list(self._list_raw(each.kind)) for each in api.references}
        for sample in gather(api, [orjson.dumps(root)], named, self._settings):
            try:
                reading = api.read_checked(sample.snapshot)
            except InvalidWorkload as error:
                yield _error("", f"{error.reason}: {error}")
                continue
            decided = plan(reading.workload, reading.observed, datetime.now(UTC).timestamp())
            told = api.list_events(
                sample.snapshot, reading, decided, ExecutionSummary(is_reported=True)
            )
            texts = (notice.message for notice in told if notice.type == "Warning")
            yield from (_warning(_find_path(text), text) for text in texts)
            yield from self._check_made(list_made(api.render(sample.snapshot, reading, decided)))

    def _check_made(self, made: Iterable[Object]) -> Iterator[_Fault]:
        """The faults of the first objects that the operator would make, by the field at fault."""
        for obj in made:
            told = [*find_bad_names(obj)]
            if not told and is_ours(obj):
                found = _Check(obj, self._beside, self._settings)._find_errors()
                told = [(f.field, f.message) for f in found if f.level is Level.ERROR]
            for path, why in dict.fromkeys(told):
                what = f"the {obj['kind']} {name_of(obj)} would be refused: {path}: {why}"
                yield _error("metadata.name" if path == "metadata.name" else "", what)

    def _list_raw(self, kind: Kind) -> Iterator[bytes]:
        for obj in self._beside:
            if _is_same_kind(kind, obj):
                seen = self._convert(obj, kind.api_version)
                yield orjson.dumps(obj if isinstance(seen, str) else seen)


def _copy(obj: Object) -> Object:
    copied: Object = orjson.loads(orjson.dumps(obj))
    return copied


def _fill_metadata(obj: Object) -> None:
    """What the API server and kubectl set in a new object, so that rules see it as on a cluster."""
    metadata = obj.setdefault("metadata", {})
    metadata["generation"] = 1
    kind = next((k for k in _list_kinds() if _is_same_kind(k, obj)), None)
    if kind is None or kind.namespaced:
        metadata.setdefault("namespace", "default")


def _list_kinds() -> Iterator[Kind]:
    yield from (api.kind for api in APIS)
    yield from (webhook.kind for api in APIS for webhook in api.webhooks)


def _find_unknown(schema: Structural, obj: Object) -> Iterator[_Fault]:
    for path in schema.prune(obj):
        yield _error(path, f"unknown field {path!r}{_suggest_field(schema, path)}")


def _suggest_field(schema: Structural, path: str) -> str:
    """The nearest name that stands beside an unknown one in the schema."""
    node: Any = schema.schema
    *above, last = path.split(".")
    for word in above:
        node = (node.get("properties") or {}).get(word.partition("[")[0]) or {}
        node = node.get("items", node) if "[" in word else node
    return suggest(last, node.get("properties") or ())


def find_refusals(obj: Object, *, is_whole: bool) -> list[str]:
    """
    The faults for which the API server refuses an object of our kinds, before any webhook.

    An object that is not whole lacks fields of the live object: only unknown fields count.
    """
    group, _, version = obj["apiVersion"].rpartition("/")
    schema = load_schemas().get((group, obj["kind"], version))
    if schema is None:
        return [_describe_unknown(group, obj["kind"], version)]
    copied = _copy(drop_nulls(obj))
    unknown = [fault.message for fault in _find_unknown(schema, copied)]
    if unknown or not is_whole:
        return unknown
    schema.default(copied)
    return [str(error) for error in schema.validate(copied) if error.path != NOWHERE]


def _read_refusal(text: str) -> Iterator[_Fault]:
    """The faults of a refusal: one for each line about a field, or the whole text."""
    head, *rows = text.split("\n  - ")
    if head and not rows:
        yield _error(_find_path(head), head)
    for row in rows:
        path, colon, why = row.partition(": ")
        yield _error(path, why) if colon and _find_path(row) else _error("", row)


def _from_field(error: FieldError) -> _Fault:
    return _error(error.path, error.text())


def _find_path(text: str) -> str:
    """The field that a warning begins with; nothing if it begins with another word."""
    first = text.split(maxsplit=1)[0].rstrip(":") if text else ""
    return first if first.startswith(("spec.", "metadata.")) else ""


def _describe_unknown(group: str, kind: str, version: str) -> str:
    kinds = {known for of, known, _ in load_schemas() if of == group}
    if kind not in kinds:
        return f"{group} has no kind {kind!r}{suggest(kind, kinds)}"
    versions = sorted({v for of, known, v in load_schemas() if (of, known) == (group, kind)})
    return f"{kind} has no version {version!r}; known: {', '.join(versions)}"


def _find_webhooks(obj: Object, *, mutates: bool) -> Iterator[Webhook]:
    for webhook in (webhook for api in APIS for webhook in api.webhooks):
        is_asked = webhook.mutates is mutates and "CREATE" in webhook.operations
        is_chosen = read_label_selector(webhook.selector or {}).matches(labels_of(obj))
        if is_asked and is_chosen and _is_same_kind(webhook.kind, obj):
            yield webhook


def _is_same_kind(kind: Kind, obj: Object) -> bool:
    group = str(obj.get("apiVersion")).rpartition("/")[0]
    return (kind.group, kind.name) == (group, obj.get("kind"))


def _is_at(obj: Object, address: Address) -> bool:
    if not _is_same_kind(address.kind, obj) or address.name not in ("", name_of(obj)):
        return False
    # A file may leave out the namespace: then it is that of the command.
    return not (namespace_of(obj) and address.namespace) or namespace_of(obj) == address.namespace


def _list_definitions(apis: Iterable[Api]) -> Iterator[Object]:
    return (define() for api in apis for define in api.definitions)


@cache
def load_schemas() -> dict[tuple[str, str, str], Structural]:
    """The schemas of all kinds that Kohort defines, by group, kind and version."""
    found = {}
    for definition in _list_definitions(APIS):
        spec = definition["spec"]
        for version in spec["versions"]:
            schema = compile_schema(version["schema"]["openAPIV3Schema"])
            found[spec["group"], spec["names"]["kind"], version["name"]] = schema
    return found


@cache
def _converters() -> Any:
    return collect_converters(APIS)
