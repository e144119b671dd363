"""Script (d): an architect writes a rollout strategy, tries it, and sees what a bold one costs."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from terminal import compare, open_terminal

from client_tools import find_tool

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
SCENARIO = TESTS.parent / "examples" / "scenarios" / "rollout.yaml"
# What an install leaves, without an index to ask: the metadata, and the module on the path.
PIP = f"""\
#!{sys.executable}
import shutil, sys
from pathlib import Path

sys.path.insert(0, {str(TESTS)!r})
from plugin_packages import make_visible

site = Path.home() / "site"
site.mkdir()
shutil.copy("pyproject.toml", site)
make_visible(site)
(site / "rack_by_rack.py").symlink_to(Path("rack_by_rack.py").absolute())
"""
EDITOR = "#!/bin/sh\nsed -i 's/min(policy.max_unavailable, 1)/policy.max_unavailable + 1/' \"$1\"\n"
CLOCK = "--clock 2026-01-01T09:00:00Z"
IMAGE = "lmsysorg/sglang:v0.5.4"


def prepare(home: Path) -> dict[str, str]:
    """A home with an editor, a pip that asks no index, and a scenario; the environment there."""
    tools = home / "bin"
    tools.mkdir(parents=True)
    for name, text in (("pip", PIP), ("edit", EDITOR)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    shutil.copy(SCENARIO, home)
    folders = (tools, Path(sys.executable).parent, find_tool("kubectl").parent)
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)]),
        "EDITOR": "edit",
        "KUBECONFIG": str(home / ".kohort" / "sim" / "kubeconfig"),
        "PYTHONPATH": str(home / "site"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def test_a_strategy_goes_from_an_idea_to_a_rollout(tmp_path: Path):
    home = tmp_path / "home"
    environment = prepare(home)
    with (
        open_terminal(home, environment, "the cluster") as cluster,
        open_terminal(home, environment, "the architect") as user,
    ):
        user.type("kohort plugins new strategy rack-by-rack")
        user.type("cd rack-by-rack")
        tried = user.type("pytest -q")
        user.type("pip install -e . && kohort plugins list")
        user.note("on live objects: nothing is changed")
        cluster.start(f"kohort up {CLOCK} --port 0 --no-dashboard", until="stop +Ctrl-C")
        user.type(
            "kohort new lws --example --name llama > llama.yaml && kubectl apply -f llama.yaml"
        )
        user.type("kohort sim clock step 1m")
        user.type("kohort plan lws/llama --strategy rack-by-rack")
        user.type(f"sed -i 's#image: .*#image: {IMAGE}#' llama.yaml")
        user.type("kohort plan -f llama.yaml --strategy rack-by-rack --compare budgeted")
        cluster.interrupt()
        user.note("in the simulator: as it was written, and with one unit more than allowed")
        words = "~/rollout.yaml --strategy rack-by-rack --compare budgeted"
        user.type(f"kohort sim run {words}")
        user.type("$EDITOR rack_by_rack.py")
        user.type(f"kohort sim run {words}")
    seconds = re.search(r"in [\d.]+s", tried)
    assert seconds is not None, tried
    compare("new_strategy", user.transcript({seconds[0]: "in SECONDS", str(home): "HOME"}))
