"""The page of metrics is the one that the catalogue makes, and labels stay bounded."""

import runpy
from pathlib import Path

import pytest

from kohort.observability.catalogue import CATALOGUE, Description, MetricType

ROOT = Path(__file__).parents[2]
ALL = [described for group in CATALOGUE.values() for described in group]
_KNOWN = {
    *("kind", "namespace", "name", "role", "reason", "level", "phase", "cause", "strategy"),
    *("result", "action", "verb", "resource", "version", "webhook", "code"),
}


def test_the_committed_page_is_the_one_that_the_generator_makes():
    page = runpy.run_path(str(ROOT / "tools" / "metrics_page.py"))
    assert page["TARGET"].read_text() == page["render"](), "run: python tools/metrics_page.py"


PROMISED = {
    *("kohort_units", "kohort_units_desired", "kohort_blocked_seconds", "kohort_start_seconds"),
    *("kohort_rollout_progress_ratio", "kohort_rollout_duration_seconds", "kohort_build_info"),
    *("kohort_recoveries_total", "kohort_recovery_seconds", "kohort_plan_seconds"),
    *("kohort_plan_actions_total", "kohort_plans_empty_total", "kohort_writes_total"),
    *("kohort_watch_restarts_total", "kohort_cache_age_seconds", "workqueue_depth"),
    *("process_cpu_seconds_total", "process_resident_memory_bytes"),
}


def test_every_metric_that_was_promised_is_there():
    assert {described.name for described in ALL} >= PROMISED


def test_no_name_is_described_twice():
    assert len({described.name for described in ALL}) == len(ALL)


@pytest.mark.parametrize("described", ALL, ids=lambda described: described.name)
def test_names_tell_type_and_unit_and_labels_are_bounded(described: Description):
    is_counter = described.type is MetricType.COUNTER
    assert described.name.endswith("_total") == is_counter
    assert set(described.labels) <= _KNOWN
    if described.type is MetricType.HISTOGRAM:
        assert described.name.endswith("_seconds")
        assert "name" not in described.labels
