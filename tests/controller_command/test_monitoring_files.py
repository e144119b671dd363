"""What is shipped for Prometheus and Grafana fits the operator."""

import json
import re
from pathlib import Path

import pytest
import yaml

from kohort.apis.served import APIS
from kohort.controller.install.manifests import ManifestOptions, write_manifests
from kohort.observability.catalogue import CATALOGUE, MetricType
from prometheus_driver import BOARDS, MONITORING, list_queries, read_rules

ROOT = Path(__file__).parents[2]
DESCRIBED = {described.name: described for group in CATALOGUE.values() for described in group}
_METRIC = re.compile(r"\b(?:kohort|workqueue|process|leader_election)_\w+")
_CHOSEN = re.compile(r"\b((?:kohort|workqueue|process|leader_election)_\w+)\{([^}]*)\}")
_LABEL = re.compile(r"(\w+)=")
QUERIES = [
    *(query for board in BOARDS for query in list_queries(board).values()),
    *(rule["expr"] for rule in read_rules()),
]


def find_base(name: str) -> str:
    """The metric that a series belongs to."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    is_histogram = base in DESCRIBED and DESCRIBED[base].type is MetricType.HISTOGRAM
    return base if is_histogram else name


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_metrics_and_labels_that_exist(query: str):
    names = _METRIC.findall(query)
    assert names
    assert [name for name in names if find_base(name) not in DESCRIBED] == []
    for name, pairs in _CHOSEN.findall(query):
        assert set(_LABEL.findall(pairs)) <= set(DESCRIBED[find_base(name)].labels)


def test_there_are_two_boards_whose_panels_do_not_overlap():
    assert [board.name for board in BOARDS] == ["fleet-board.json", "workload-board.json"]
    for board in BOARDS:
        panels = json.loads(board.read_text())["panels"]
        cells = [cell for panel in panels for cell in list_cells(panel["gridPos"])]
        assert len(set(cells)) == len(cells)
        assert len({panel["id"] for panel in panels}) == len(panels)


def list_cells(place: dict[str, int]) -> list[tuple[int, int]]:
    columns = range(place["x"], place["x"] + place["w"])
    return [(x, y) for x in columns for y in range(place["y"], place["y"] + place["h"])]


@pytest.mark.parametrize("rule", read_rules(), ids=lambda rule: rule["alert"])
def test_an_alert_leads_to_a_page_that_exists(rule: dict[str, dict[str, str]]):
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    text = (ROOT / page).read_text().lower()
    assert "{{ $labels.reason | tolower }}" in anchor.lower() or f"# {anchor}\n" in text
    assert f"### {rule['alert']}\n" in (ROOT / "docs/monitoring.md").read_text()


def test_the_service_monitor_finds_the_service_of_the_metrics():
    monitor = yaml.safe_load((MONITORING / "service-monitor.yaml").read_text())
    objects = write_manifests(APIS, ManifestOptions(image="kohort:1"))
    chosen = monitor["spec"]["selector"]["matchLabels"].items()
    endpoint = monitor["spec"]["endpoints"][0]
    found = [
        obj["metadata"]
        for obj in objects
        if obj["kind"] == "Service"
        and chosen <= obj["metadata"]["labels"].items()
        and endpoint["port"] in [port["name"] for port in obj["spec"]["ports"]]
    ]
    names = [f"{metadata['name']}.{metadata['namespace']}.svc" for metadata in found]
    assert names == [endpoint["tlsConfig"]["serverName"]]
    assert monitor["metadata"]["namespace"] == found[0]["namespace"]
