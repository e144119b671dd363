"""Tables of custom resources look as those of a real server, which answered with these."""

import gzip
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from kohort.apiserver.resources.printers import Column, custom_printer

RECORDED = orjson.loads(gzip.decompress(Path(__file__).with_name("tables.json.gz").read_bytes()))
CUSTOM_COLUMNS = [
    {"name": "N", "type": "integer", "jsonPath": ".spec.n"},
    {"name": "S", "type": "string", "jsonPath": ".spec.s", "format": "password"},
    {"name": "B", "type": "boolean", "jsonPath": ".spec.b", "priority": 1},
    {"name": "F", "type": "number", "jsonPath": ".spec.f"},
    {"name": "When", "type": "date", "jsonPath": ".spec.when"},
    {"name": "List", "type": "string", "jsonPath": ".spec.list"},
    {"name": "Item", "type": "string", "jsonPath": ".spec.list[*]"},
    {"name": "Obj", "type": "string", "jsonPath": ".spec.obj"},
    {"name": "Ready", "type": "string", "jsonPath": ".spec.conds[?(@.type=='Ready')].status"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


def head(column: Column) -> list[Any]:
    return [column.name, column.type, column.format, column.priority]


@pytest.mark.parametrize("row", RECORDED["custom"]["shows.h.example"]["rows"])
def test_custom_columns_show_what_their_path_finds(row: dict[str, Any]) -> None:
    table = RECORDED["custom"]["shows.h.example"]
    printer = custom_printer(CUSTOM_COLUMNS)
    assert [head(column) for column in printer.columns] == table["columns"]
    assert printer.cells(row["object"], datetime.fromisoformat(table["now"])) == row["cells"]


def test_custom_objects_without_columns_show_name_and_age() -> None:
    table = RECORDED["custom"]["plain"]
    printer = custom_printer()
    assert [head(column) for column in printer.columns] == table["columns"]
    for row in table["rows"]:
        found = printer.cells(row["object"], datetime.fromisoformat(table["now"]))
        assert found == row["cells"]
