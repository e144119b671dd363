"""Metrics, as the text that Prometheus reads."""

import logging

import orjson
import pytest

from kohort.observability.catalogue import Description, MetricType
from kohort.observability.logs import LogForm, begin_logging
from kohort.observability.metrics import Registry
from kohort.observability.process import measure_process


def describe(name: str, about: str, *labels: str) -> Description:
    return Description(name, MetricType.COUNTER, about, labels)


def test_a_counter_counts_by_its_labels():
    registry = Registry()
    writes = registry.counter(describe("writes_total", "Writes.", "verb"))
    writes.count("create")
    writes.count("create")
    writes.count("delete")
    assert registry.render() == (
        "# HELP writes_total Writes.\n"
        "# TYPE writes_total counter\n"
        'writes_total{verb="create"} 2\n'
        'writes_total{verb="delete"} 1\n'
    )


def test_a_metric_that_was_never_touched_is_not_shown():
    registry = Registry()
    registry.gauge(describe("depth", "Depth."))
    assert registry.render() == ""


def test_a_histogram_counts_up_to_each_limit():
    registry = Registry()
    seconds = registry.histogram(describe("plan_seconds", "Time.", "kind"))
    for value in (0.001, 0.3, 99.0):
        seconds.observe(value, "x")
    text = registry.render()
    assert 'plan_seconds_bucket{kind="x",le="0.001"} 1\n' in text
    assert 'plan_seconds_bucket{kind="x",le="0.5"} 2\n' in text
    assert 'plan_seconds_bucket{kind="x",le="+Inf"} 3\n' in text
    assert 'plan_seconds_sum{kind="x"} 99.301\n' in text
    assert 'plan_seconds_count{kind="x"} 3\n' in text


def test_labels_are_escaped():
    registry = Registry()
    registry.gauge(describe("g", "G.", "why")).set(1.5, 'a "b"\\\n')
    assert 'g{why="a \\"b\\"\\\\\\n"} 1.5' in registry.render()


def test_a_label_without_a_value_is_left_out():
    registry = Registry()
    units = registry.gauge(describe("units", "Units.", "level", "role"))
    units.set(2.0, "group", "")
    units.set(3.0, "instance", "decode")
    text = registry.render()
    assert 'units{level="group"} 2\n' in text
    assert 'units{level="instance",role="decode"} 3\n' in text


def test_dropped_series_are_not_shown():
    registry = Registry()
    counter = registry.counter(describe("c_total", "C.", "name"))
    counter.count("gone")
    counter.count("there")
    counter.drop(lambda labels: labels == ("gone",))
    assert 'name="gone"' not in registry.render()
    assert 'c_total{name="there"} 1' in registry.render()


def test_a_collector_is_asked_at_every_scrape():
    registry = Registry()
    registry.collect(measure_process)
    assert "process_cpu_seconds_total" in registry.render()


def test_labels_of_the_wrong_number_are_a_mistake_of_ours():
    registry = Registry()
    with pytest.raises(AssertionError):
        registry.counter(describe("c", "C.", "a")).count()


def test_a_log_line_has_its_facts_as_key_and_value(capfd):
    begin_logging(LogForm.TEXT, logging.INFO)
    facts = {"name": "x", "why": "two words", "seconds": 0.25}
    logging.getLogger("kohort.test").info("plan", extra={"facts": facts})
    line = capfd.readouterr().err.strip()
    assert line.endswith('level=info message=plan name=x why="two words" seconds=0.25')


def test_a_log_line_may_be_json(capfd):
    begin_logging(LogForm.JSON, logging.INFO)
    logging.getLogger("kohort.test").warning("plan %d", 1, extra={"facts": {"name": "x"}})
    line = orjson.loads(capfd.readouterr().err)
    assert (line["level"], line["message"], line["name"]) == ("warning", "plan 1", "x")
