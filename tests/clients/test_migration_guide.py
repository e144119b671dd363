"""The commands of the migration guides work, in both languages, and examples become ready."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from client_tools import Tool, make_tool
from kohort.testing import Cluster, start_cluster

pytestmark = pytest.mark.clients
ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("migrating-from-lws.md", "migrating-from-lws.zh.md")]
CROWDED = "Where there is no room for both"
SERVICES = ROOT / "docs" / "migrating-inferenceservices.md"
COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)
EXAMPLE = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster(nodes=16, gpus_per_node=8, speed=20.0, operator=True) as found:
        yield found


@pytest.fixture
def tool(cluster: Cluster, tmp_path: Path) -> Tool:
    return make_tool("kubectl", cluster.kubeconfig, tmp_path)


def find_section(page: str, title: str) -> str:
    """The text of one section of a page."""
    return page.split(f"\n## {title}\n")[1].split("\n## ", maxsplit=1)[0]


def run_commands(text: str, tool: Tool, folder: Path) -> dict[str, str]:
    """What each command of a text prints; all of them succeed."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    path = f"{Path(sys.executable).parent}:{tool.environment['PATH']}"
    told = {}
    for line in COMMAND.findall(text):
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env={**tool.environment, "PATH": path},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        told[line] = done.stdout
    return told


def test_the_commands_of_the_guide_move_a_workload(tool: Tool, tmp_path: Path):
    page = PAGES[0].read_text()
    told = run_commands(page.replace(find_section(page, CROWDED), ""), tool, tmp_path)
    sizes = next(out for line, out in told.items() if "jsonpath" in line and "size" in line)
    assert sizes.split() == ["4"] * 8
    assert len(tool("get", "pods", "-o", "name").stdout.split()) == 8
    leaders = tool("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].env[0].value}")
    services = tool("get", "services", "-o", "jsonpath={.items[*].metadata.name}").stdout.split()
    assert {each.removesuffix(".default") for each in leaders.stdout.split()} <= set(services)


def test_the_commands_of_the_guide_move_a_workload_where_both_have_no_room(tmp_path: Path):
    section = find_section(PAGES[0].read_text(), CROWDED)
    with start_cluster(nodes=8, gpus_per_node=8, speed=20.0, operator=True) as small:
        tool = make_tool("kubectl", small.kubeconfig, tmp_path)
        run_commands(section, tool, tmp_path)
        assert tool("get", "lws", "-o", "name").stdout == ""
        # The status may follow the pods by a second.
        counted = "--for=jsonpath={.status.availableReplicas}=2"
        tool("wait", counted, "modelserving/llama-ms", "--timeout=60s")
        listed = tool("get", "modelserving", "llama-ms", "--no-headers").stdout.split()
        assert listed[:4] == ["llama-ms", "2", "2", "2"]


def ask_about_groups(tool: Tool) -> list[list[int]]:
    """The groups that each command of the guide's section lists, in its order."""
    section = find_section(PAGES[0].read_text(), "Order and ranges of groups")
    listed = []
    for line in COMMAND.findall(section):
        words = ["bash", "-c", line.replace("kubectl get", "kubectl -n many get")]
        printed = subprocess.run(
            words, env=tool.environment, capture_output=True, text=True, timeout=60, check=True
        ).stdout
        listed.append([int(number) for number in re.findall(r"llama-ms-(\d+)-", printed)])
    return listed


def test_the_guide_sorts_groups_and_asks_for_ranges_by_number(tool: Tool):
    serving = yaml.safe_load((ROOT / "examples" / "modelserving.yaml").read_text())
    serving["metadata"] = {"name": "llama-ms", "namespace": "many"}
    serving["spec"]["replicas"] = 12
    del serving["spec"]["template"]["roles"][1:]
    tool("create", "namespace", "many")
    tool("apply", "-f", "-", stdin=yaml.safe_dump(serving))
    ready = ("--for=condition=Available", "modelserving/llama-ms", "--timeout=60s")
    tool("wait", "-n", "many", *ready)
    by_name, sorted_here, sorted_apart, between, named = ask_about_groups(tool)
    assert by_name == [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]
    assert sorted_here == sorted_apart == list(range(12))
    assert sorted(between) == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert sorted(named) == [9, 10, 11]


def test_both_languages_have_the_same_commands_and_the_same_example():
    commands = [COMMAND.findall(page.read_text()) for page in PAGES]
    assert commands[0] == commands[1]
    examples = [yaml.safe_load(EXAMPLE.findall(page.read_text())[0]) for page in PAGES]
    assert examples[0] == examples[1]


def test_the_example_of_roles_becomes_ready(tool: Tool):
    tool("apply", "-f", "-", stdin=EXAMPLE.findall(PAGES[0].read_text())[0])
    tool("wait", "--for=condition=Available", "modelserving/disaggregated", "--timeout=60s")


def test_the_commands_of_the_guide_move_a_service_there_and_back(tool: Tool, tmp_path: Path):
    told = run_commands(SERVICES.read_text(), tool, tmp_path)
    listed = [out for line, out in told.items() if line.startswith("kubectl get deployments")]
    assert listed and all("chat-engine" in out for out in listed)
    assert "chat" in next(out for line, out in told.items() if line == "kubectl get rbg chat")
    assert not tool("get", "rbg", "-o", "name").stdout
    tool("delete", "isvc", "chat")
