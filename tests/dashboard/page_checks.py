"""Opening pages in a browser, and what holds for each of them."""

import json

from page_hand import RESOURCE, Dashboard

from browser_driver import Tab, read_axe

OVERFLOWS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


async def open_page(tab: Tab, dashboard: Dashboard, path: str = "") -> None:
    await tab.go(f"{dashboard.server.url}{path}")
    await tab.wait_for("document.body.dataset.connection === 'live'")


async def open_workload(tab: Tab, dashboard: Dashboard, name: str) -> None:
    await open_page(tab, dashboard, f"#/workload/{RESOURCE}/default/{name}")
    await tab.wait_for("!!document.querySelector('#tree .tree, #tree .quiet')")


async def check_with_axe(tab: Tab) -> None:
    """Fail if axe finds anything to mend, once colours no longer change."""
    await tab.wait_for("document.getAnimations().length === 0")
    await tab.run(read_axe())
    found = await tab.run(
        "axe.run().then(r => r.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html)]))"
    )
    assert found == [], json.dumps(found, indent=1)
