"""The pages of a RoleBasedGroup in a real browser: its roles stand under it, and no group."""

import re

import pytest
from page_checks import check_with_axe, open_page
from page_hand import Dashboard, create_example

from browser_driver import Tab
from kohort.apis.rolebasedgroup import labels
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
RESOURCE = f"rolebasedgroup.{labels.KIND.group}"
TEXT = "document.querySelector('main').innerText"
LANES = "[...document.querySelectorAll('.timeline text.lane')].map((each) => each.textContent)"
FOLDS = "#tree > .body > ul > li > details > summary"
ROLES = f"[...document.querySelectorAll('{FOLDS}')].map((each) => each.dataset.key)"
NUMBERED = re.compile(r"\bgroups? \d")


async def test_the_pages_of_a_role_based_group_name_its_roles_and_no_group(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create_example(cluster, "rolebasedgroup.yaml")
    await open_page(tab, dashboard, f"#/workload/{RESOURCE}/default/llama")
    await tab.see("router: 1/1 ready")
    await tab.wait_for(f"({ROLES}).length === 3")
    assert await tab.run(ROLES) == ["/prefill", "/decode", "/router"]
    assert await tab.run("document.querySelector('#tree h2').textContent") == "Roles"
    await tab.wait_for(f"({LANES}).includes('router 0')")
    lanes = await tab.run(LANES)
    assert lanes[3:] == ["prefill 0", "prefill 1", "decode 0", "decode 1", "decode 2", "router 0"]
    assert NUMBERED.findall(await tab.run(TEXT)) == []
    await check_with_axe(tab)
    await tab.run("location.hash = '#/nodes'")
    await tab.wait_for("document.querySelectorAll('.residents a').length > 0")
    assert NUMBERED.findall(await tab.run(TEXT)) == []
    await tab.run("location.hash = '#/journal/RoleBasedGroup/default/llama'")
    await tab.wait_for("!!document.querySelector('#step dd li')")
    text = await tab.run(TEXT)
    assert "ready, updated" in text
    assert NUMBERED.findall(text) == []
