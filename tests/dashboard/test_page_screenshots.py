"""
Pictures of the page for the documents: `make screenshots` writes them to docs/images.

With them it writes what they have for headings, columns, labels and buttons. A page that has others
makes a test fail, since its picture is old; what is only drawn otherwise is not noticed.
"""

import os
from pathlib import Path

import pytest
from page_hand import RESOURCE, Dashboard, create, create_example, set_image

from browser_driver import Tab
from kohort.simulator.stages import PREFIX, PULL_ERROR
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
PNG = b"\x89PNG\r\n\x1a\n"
DOCUMENTS = Path(__file__).parents[2] / "docs" / "images"
OUTLINE = "outline.txt"
PARTS = "nav a, header button, main :is(h1, h2, h3, thead th, label, button)"
# Their own words, without those of fields and values in them.
READ_OUTLINE = f"""
  [...new Set([...document.querySelectorAll('{PARTS}')].filter((part) => part.checkVisibility())
    .map((part) => [...part.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.textContent).join(' ').trim()))].filter((words) => words)
"""


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


async def take(tab: Tab, path: Path) -> str:
    """Take a picture; the line about it in the outline."""
    await tab.take_screenshot(path)
    assert path.read_bytes().startswith(PNG)
    return f"{path.name}: {' | '.join(await tab.run(READ_OUTLINE))}\n"


async def test_pictures_are_made_and_those_of_the_documents_have_the_same_headings(
    tab: Tab, dashboard: Dashboard, cluster: Cluster, folder: Path
):
    await make_scene(cluster)
    await tab.resize(1200, 1000)
    await tab.go(f"{dashboard.server.url}#/workload/{RESOURCE}/default/llama")
    await tab.see("6/6 ready")
    await set_image(cluster, "llama", "engine:2")
    await tab.see("3/6 updated")
    await tab.wait_for("document.querySelectorAll('.timeline .span.loading').length > 0")
    await tab.wait_for("!!document.querySelector('#steps thead')")
    lines = [await take(tab, folder / "dashboard-workload.png")]
    await create(cluster, "gemma", 2, annotations={PULL_ERROR: "manifest unknown"})
    await tab.resize(1200, 520)
    await tab.run("location.hash = '#/'")
    await tab.see("manifest unknown")
    lines.append(await take(tab, folder / "dashboard-overview.png"))
    await tab.resize(1200, 800)
    await tab.run("location.hash = '#/journal/LeaderWorkerSet/default/llama'")
    await tab.wait_for("Number(document.querySelector('#moment')?.max) > 10")
    await tab.press(",")
    await tab.wait_for("!!document.querySelector('#step dd li')")
    lines.append(await take(tab, folder / "dashboard-journal.png"))
    (folder / OUTLINE).write_text("".join(lines))
    shown = (DOCUMENTS / OUTLINE).read_text()
    assert shown == "".join(lines), "the pages have other headings: run 'make screenshots'"
