"""The example of docs/plugins.md is a plugin that works, and its tables name what there is."""

import re
from pathlib import Path
from typing import Any

import pytest
from serving_builders import serving
from serving_pods import pod, try_pod

from kohort.apis.modelserving.plugins.known import BUILT_INS, ENTRY_POINTS
from kohort.apis.modelserving.plugins.lws import CONFIG_KEYS

PAGE = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text()


def load_example() -> dict[str, Any]:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)
    return {"zone": found["Zone"]}


@pytest.mark.parametrize(("group", "zone"), [(0, "a"), (1, "b"), (2, "a")])
def test_the_example_puts_groups_into_zones(group: int, zone: str):
    asked = serving(replicas=3, plugins=[{"name": "zone", "config": {"zones": ["a", "b"]}}])
    made = pod(asked, group=group, registry=load_example())
    assert made["spec"]["nodeSelector"] == {"topology.kubernetes.io/zone": zone}


def test_the_example_refuses_a_config_without_zones():
    failed = try_pod(serving(plugins=[{"name": "zone"}]), registry=load_example())
    assert str(failed) == "plugin zone: its config is wrong: zones must name at least one zone"


def test_the_page_names_every_plugin_every_key_and_the_entry_point():
    rows = set(re.findall(r"^\| `([^`]+)` \|", PAGE, flags=re.MULTILINE))
    assert rows == {*BUILT_INS, *CONFIG_KEYS}
    assert f'[project.entry-points."{ENTRY_POINTS}"]' in PAGE
