"""Tables look as those of a real server, which answered with the recorded ones."""

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from kohort.apiserver.resources.builtin import KINDS
from kohort.apiserver.resources.printers import Column, Printer

RECORDED = orjson.loads(gzip.decompress(Path(__file__).with_name("tables.json.gz").read_bytes()))
ROWS = [
    pytest.param(resource, row, table["now"], id=f"{resource}-{row['object']['metadata']['name']}")
    for resource, table in RECORDED["builtin"].items()
    for row in table["rows"]
]
COLUMNS = {row.kind.group_resource: row.printer for row in KINDS}
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def head(column: Column) -> list[Any]:
    return [column.name, column.type, column.format, column.priority]


def cell(resource: str, column: str, obj: dict[str, Any]) -> Any:
    printer = COLUMNS[resource]
    place = [known.name for known in printer.columns].index(column)
    return printer.cells(obj, NOW)[place]


@pytest.mark.parametrize("resource", RECORDED["builtin"])
def test_the_columns_are_those_of_a_real_server(resource: str) -> None:
    found = [head(column) for column in COLUMNS[resource].columns]
    assert found == RECORDED["builtin"][resource]["columns"]


@pytest.mark.parametrize(("resource", "row", "now"), ROWS)
def test_the_cells_are_those_of_a_real_server(resource: str, row: dict[str, Any], now: str) -> None:
    assert COLUMNS[resource].cells(row["object"], datetime.fromisoformat(now)) == row["cells"]
    assert COLUMNS[resource].conditions(row["object"]) == row.get("conditions", [])


def test_a_kind_without_a_printer_shows_name_and_creation() -> None:
    obj = {"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    assert [column.name for column in Printer().columns] == ["Name", "Created At"]
    assert Printer().cells(obj, NOW) == ["a", "2026-01-01T00:00:00Z"]


@pytest.mark.parametrize("resource", COLUMNS)
def test_an_object_of_almost_nothing_still_makes_a_row(resource: str) -> None:
    obj = {"metadata": {"name": "a"}, "roleRef": {"kind": "Role", "name": "r"}}
    assert len(COLUMNS[resource].cells(obj, NOW)) == len(COLUMNS[resource].columns)


@pytest.mark.parametrize(
    ("conditions", "cordoned", "status"),
    [
        ([], False, "Unknown"),
        ([], True, "Unknown,SchedulingDisabled"),
        ([{"type": "Ready", "status": "Unknown"}], False, "NotReady"),
        ([{"type": "Ready", "status": "False"}], True, "NotReady,SchedulingDisabled"),
    ],
)
def test_a_node_says_whether_it_takes_pods(
    conditions: list[dict[str, str]], cordoned: bool, status: str
) -> None:
    node = {"spec": {"unschedulable": cordoned}, "status": {"conditions": conditions}}
    assert cell("nodes", "Status", node) == status


def test_addresses_of_the_sixth_version_stand_in_brackets() -> None:
    subset = {"addresses": [{"ip": "fd00::1"}], "ports": [{"port": 80}]}
    assert cell("endpoints", "Endpoints", {"subsets": [subset]}) == "[fd00::1]:80"
