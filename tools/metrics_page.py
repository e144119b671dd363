"""
Writes docs/reference/metrics.md from the catalogue of metrics: python tools/metrics_page.py.
"""

from pathlib import Path

from kohort.observability.catalogue import CATALOGUE, Description, MetricType

TARGET = Path(__file__).parents[1] / "docs/reference/metrics.md"
HEAD = """# Metrics

What the operator shows at `/metrics` ([where](controller.md#what-it-shows)), for Prometheus.
Boards, alert rules and how to load them: [monitoring](../monitoring.md). This page is made from the
catalogue by `python tools/metrics_page.py`; do not edit it.

Names of workloads are labels of gauges and counters only, and their series end when the workload is
deleted; histograms are by kind and namespace at most. No label holds the name of a pod, a node or a
user. A label without a value is left out. `reason` is a word of the [reasons](reasons.md).
"""


def render() -> str:
    """The page, a table for each question."""
    parts = [HEAD]
    for title, described in CATALOGUE.items():
        rows = "".join(_write_row(each) for each in described)
        parts.append(f"\n## {title}\n\n| metric | type | labels | meaning | since |\n")
        parts.append(f"|---|---|---|---|---|\n{rows}")
    return "".join(parts)


def _write_row(described: Description) -> str:
    labels = ", ".join(described.labels)
    about = described.about
    if described.type is MetricType.HISTOGRAM:
        limits = described.limits
        about += f" Buckets from {limits[0]:g} s to {limits[-1]:g} s."
    return f"| `{described.name}` | {described.type} | {labels} | {about} | {described.since} |\n"


if __name__ == "__main__":
    TARGET.write_text(render())
