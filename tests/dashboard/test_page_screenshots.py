"""Pictures of the page for the documents: `make screenshots` writes them to docs/images."""

import os
from pathlib import Path

import pytest
from page_hand import RESOURCE, Dashboard, create, create_example, set_image

from browser_driver import Tab
from kohort.simulator.stages import PREFIX, PULL_ERROR
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the pictures go."""
    return Path(os.environ.get("KOHORT_SCREENSHOTS") or tmp_path)


async def make_scene(cluster: Cluster) -> None:
    """A rollout that goes on, one that is stuck, and workloads of other APIs."""
    await create(cluster, "llama", 6, annotations={f"{PREFIX}load-for": "90s"}, gpus=1)
    await create(cluster, "mixtral", 2)
    await create(cluster, "qwen", 3, gpus=1)
    await create_example(cluster, "modelserving.yaml")
    await create_example(cluster, "rolebasedgroup.yaml")


async def test_pictures_of_overview_workload_and_journal_are_made(
    tab: Tab, dashboard: Dashboard, cluster: Cluster, folder: Path
):
    await make_scene(cluster)
    await tab.resize(1200, 1000)
    await tab.go(f"{dashboard.server.url}#/workload/{RESOURCE}/default/llama")
    await tab.see("6/6 ready")
    await set_image(cluster, "llama", "engine:2")
    await tab.see("3/6 updated")
    await tab.wait_for("document.querySelectorAll('.timeline .span.loading').length > 0")
    await tab.take_screenshot(folder / "dashboard-workload.png")
    await create(cluster, "gemma", 2, annotations={PULL_ERROR: "manifest unknown"})
    await tab.resize(1200, 520)
    await tab.run("location.hash = '#/'")
    await tab.see("manifest unknown")
    await tab.take_screenshot(folder / "dashboard-overview.png")
    await tab.resize(1200, 800)
    await tab.run("location.hash = '#/journal/LeaderWorkerSet/default/llama'")
    await tab.wait_for("Number(document.querySelector('#moment')?.max) > 10")
    await tab.press(",")
    await tab.wait_for("!!document.querySelector('#step dd li')")
    await tab.take_screenshot(folder / "dashboard-journal.png")
    for name in ("dashboard-workload.png", "dashboard-overview.png", "dashboard-journal.png"):
        assert (folder / name).read_bytes().startswith(PNG)
