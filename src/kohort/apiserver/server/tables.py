"""
Converts objects into Tables or PartialObjectMetadata, if the client asks for these.

A table is what ``kubectl get`` prints: columns, and for each object its cells and
as much of the object as the client wants back. Metadata is cut out of the encoded
object without decoding the rest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import msgspec
import orjson

from kohort.apiserver.api.reads.pages import item_prefix
from kohort.apiserver.api.requests import Page
from kohort.apiserver.resources.printers import Column
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.go_json import write_metadata
from kohort.apiserver.server.request.negotiation import Form
from kohort.cluster.errors import BadRequest, NotAcceptable
from kohort.cluster.fields import show
from kohort.cluster.objects import Object, encode_json

_STATUS = b'{"kind":"Status"'


class _Cut(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


class _Version(msgspec.Struct, rename="camel"):
    resource_version: str = ""


_cut = msgspec.json.Decoder(_Cut)
_version = msgspec.json.Decoder(_Version)


@dataclass(frozen=True, slots=True)
class Converter:
    """Turns objects of one kind into the form of one request."""

    resource: Resource
    form: Form
    include: str = ""  # includeObject: None, Metadata or Object

    def __post_init__(self) -> None:
        if self.form.convert == "Table" and self.include not in ("", "None", "Metadata", "Object"):
            raise BadRequest(
                "Unable to convert to Table as requested: includeObject: Invalid value: "
                f"{show(self.include)}: must be 'Metadata', 'Object', 'None', or empty"
            )

    def convert(self, raw: bytes, now: datetime, *, columns: bool = True) -> bytes:
        """Convert one object; a Status is unchanged."""
        if not self.form.convert or raw.startswith(_STATUS):
            return raw
        if self.form.convert == "PartialObjectMetadata":
            return self._partial(raw)
        if self.form.convert != "Table":
            what = self._go_type(self.resource.kind.name)
            raise NotAcceptable(
                f"you requested {self.form.convert}, but the requested object is not a list "
                f"({what})"
            )
        version = _version.decode(_cut.decode(raw).metadata).resource_version
        metadata = orjson.dumps({"resourceVersion": version})
        return self._table(metadata, [raw], now, columns=columns)

    def convert_page(self, page: Page, now: datetime) -> bytes:
        """Convert a list."""
        always_continues = self._is_custom and not self.form.convert
        shown = _list_metadata(page, always_continues=always_continues)
        metadata = encode_json(shown, sort=always_continues)
        if self.form.convert == "Table":
            return self._table(metadata, page.items, now)
        if self.form.convert == "PartialObjectMetadata":
            what = self._go_type(f"{self.resource.kind.name}List")
            raise NotAcceptable(
                f"you requested PartialObjectMetadata, but the requested object is a list ({what})"
            )
        if self.form.convert:
            head = _head("PartialObjectMetadataList", self._meta_version)
            if not page.items:
                return b"".join((head, metadata, b',"items":null}'))
            items: Iterable[bytes] = map(self._partial, page.items)
        else:
            kind = self.resource.kind
            name = self.resource.list_kind or f"{kind.name}List"
            if self._is_custom:
                return _write_custom_list(name, kind.api_version, metadata, page.items)
            head, items = _head(name, kind.api_version), page.items
        return b"".join((head, metadata, b',"items":[', b",".join(items), b"]}"))

    @property
    def _is_custom(self) -> bool:
        return self.resource.structural is not None

    @property
    def _meta_version(self) -> str:
        return f"meta.k8s.io/{self.form.version}"

    def _go_type(self, kind: str) -> str:
        if self._is_custom:
            return "*unstructured.Unstructured" + ("List" if kind.endswith("List") else "")
        snapshot = self.resource.kind.group.split(".")[0] or "core"
        return f"*{snapshot}.{kind}"

    def _partial(self, raw: bytes) -> bytes:
        head = _head("PartialObjectMetadata", self._meta_version)
        metadata = bytes(_cut.decode(raw).metadata)
        if self._is_custom:
            metadata = write_metadata(metadata)
        return b"".join((head, metadata, b"}"))

    def _table(
        self, metadata: bytes, items: Iterable[bytes], now: datetime, *, columns: bool = True
    ) -> bytes:
        printer = self.resource.printer
        shown = encode_json([_column(c) for c in printer.columns] if columns else None)
        rows = b",".join(self._row(raw, now) for raw in items)
        head = _head("Table", self._meta_version)
        return b"".join(
            (head, metadata, b',"columnDefinitions":', shown, b',"rows":[', rows, b"]}")
        )

    def _typed(self, raw: bytes) -> bytes:
        """An object with its kind, which items of built-in lists leave out."""
        prefix = item_prefix(self.resource)
        return raw if raw.startswith(prefix) else prefix + raw[1:]

    def _row(self, raw: bytes, now: datetime) -> bytes:
        obj: Object = orjson.loads(raw)
        printer = self.resource.printer
        cells = encode_json(printer.cells(obj, now))
        conditions = printer.conditions(obj)
        if conditions:
            cells = b"".join((cells, b',"conditions":', encode_json(conditions)))
        if self.include == "None":
            kept = b"null"
        elif self.include == "Object":
            kept = self._typed(raw)
        else:
            kept = self._partial(raw)
        return b"".join((b'{"cells":', cells, b',"object":', kept, b"}"))


def _head(kind: str, api_version: str) -> bytes:
    return f'{{"kind":"{kind}","apiVersion":"{api_version}","metadata":'.encode()


def _write_custom_list(
    name: str, api_version: str, metadata: bytes, items: Iterable[bytes]
) -> bytes:
    """A list of custom objects, whose members come in the order of their names."""
    start, end = f'{{"apiVersion":"{api_version}","items":['.encode(), f'"kind":"{name}"'.encode()
    return b"".join((start, b",".join(items), b"],", end, b',"metadata":', metadata, b"}"))


def _list_metadata(page: Page, *, always_continues: bool) -> Object:
    metadata: Object = {"resourceVersion": page.resource_version}
    if page.continue_from or always_continues:
        metadata["continue"] = page.continue_from
    if page.remaining:
        metadata["remainingItemCount"] = page.remaining
    return metadata


def _column(column: Column) -> Object:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
