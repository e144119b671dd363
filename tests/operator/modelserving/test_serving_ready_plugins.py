"""Plugins of other packages are told of pods that became ready, once for each time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving_lab import ServingLab, role, serving, start

from kohort.apis.modelserving.plugins.known import load_registry
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, find_condition, labels_of

PLUGIN = """
from kohort.apis.modelserving.plugins.plugin import Plugin


class Ready(Plugin):
    asked = []
    seen = {}  # by pod: the images in the workload that the plugin was given, and in the pod

    def on_pod_ready(self, request):
        Ready.asked.append(request.pod["metadata"]["name"])
        roles = request.model_serving["spec"]["template"]["roles"]
        template = next(r for r in roles if r["name"] == request.role_name)["entryTemplate"]
        images = [s["containers"][0]["image"] for s in (template["spec"], request.pod["spec"])]
        Ready.seen[request.pod["metadata"]["name"]] = images
        if (self.spec.config or {}).get("fails"):
            raise ValueError("no line to the registry")
        node = request.pod["spec"]["nodeName"]
        request.pod["metadata"]["labels"]["example.com/told"] = f"{request.role_name}-on-{node}"
        request.pod["metadata"]["labels"]["modelserving.volcano.sh/role"] = "stolen"
        return request.pod


class Refusing(Plugin):
    def on_pod_create(self, request):
        raise ValueError("no quota is left")
"""
POINTS = "[kohort.plugins]\nready = ready_plugin:Ready\nrefusing = ready_plugin:Refusing\n"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that brings plugins, as pip would have installed it."""
    info = tmp_path / "ready_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ready-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "ready_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    load_registry.cache_clear()
    load_registry()["ready"].asked.clear()  # type: ignore[attr-defined]
    load_registry()["ready"].seen.clear()  # type: ignore[attr-defined]
    yield
    load_registry.cache_clear()


def plugin(name: str = "ready", **config: object) -> list[Object]:
    return [{"name": name, "type": "BuiltIn", "config": config}]


def asked() -> list[str]:
    found: list[str] = load_registry()["ready"].asked  # type: ignore[attr-defined]
    return found


async def test_a_pod_that_became_ready_gets_what_the_plugin_gives_it(lab: ServingLab):
    await start(lab, role(), plugins=plugin())
    await lab.run(5)
    for pod in lab.pods().values():
        assert labels_of(pod)["example.com/told"] == f"decode-on-{pod['spec']['nodeName']}"
        assert labels_of(pod)["modelserving.volcano.sh/role"] == "decode"
    assert sorted(asked()) == sorted(lab.pods())


@pytest.mark.parametrize(("target", "index"), [("Entry", "0"), ("Worker", "1")])
async def test_a_plugin_hears_of_ready_pods_in_its_scope_alone(
    lab: ServingLab, target: str, index: str
):
    scoped = [{**entry, "scope": {"target": target}} for entry in plugin()]
    await start(lab, role(), plugins=scoped)
    await lab.run(5)
    assert sorted(asked()) == [f"x-{group}-decode-0-{index}" for group in (0, 1)]


async def test_each_pod_is_told_of_once_by_whichever_operator(lab: ServingLab):
    await start(lab, role(), plugins=plugin())
    await lab.run(5)
    await lab.stop_operator()
    lab.start_operator()
    await lab.set_field("/spec/template/restartGracePeriodSeconds", 5)
    await lab.run(30)
    assert sorted(asked()) == sorted(lab.pods())
    before = lab.api.store.revision
    await lab.run(300)
    assert lab.api.store.revision == before


@pytest.mark.parametrize("strategy", ["ServingGroupRollingUpdate", "RoleRollingUpdate"])
async def test_a_plugin_sees_the_roles_of_the_revision_that_a_ready_pod_has(
    lab: ServingLab, strategy: str
):
    by_role = strategy == "RoleRollingUpdate"
    found = role(replicas=2, workers=0, partition=1) if by_role else role(workers=0)
    rollout: Object = {"type": strategy}
    if not by_role:
        rollout["rollingUpdateConfiguration"] = {"partition": 1}
    await start(lab, found, replicas=1 if by_role else 2, rolloutStrategy=rollout)
    await lab.set_image("engine:2", parts=("entryTemplate",))
    await lab.run(90)
    await lab.set_field("/spec/plugins", plugin())
    await lab.run(5)
    kept, updated = sorted(lab.pods())
    seen = load_registry()["ready"].seen  # type: ignore[attr-defined]
    assert seen == {kept: ["engine:1"] * 2, updated: ["engine:2"] * 2}


async def test_a_plugin_that_fails_is_named_and_pods_serve_all_the_same(lab: ServingLab):
    await start(lab, role(), plugins=plugin(fails=True))
    await lab.run(5)
    found = find_condition(lab.serving(), "PluginsFailed") or {}
    assert (found["status"], found["message"]) == ("True", "plugin ready: no line to the registry")
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "PluginFailed"]
    assert [event["type"] for event in events] == ["Warning"]
    assert lab.is_done()
    await lab.set_field("/spec/plugins", plugin())
    await lab.run(10)
    assert (find_condition(lab.serving(), "PluginsFailed") or {})["status"] == "False"


async def test_a_plugin_that_refuses_to_make_pods_is_a_condition_and_an_event(lab: ServingLab):
    await lab.apply(serving(role(), plugins=plugin("refusing")))
    await lab.run(10)
    found = find_condition(lab.serving(), "Stalled") or {}
    assert (found["reason"], found["message"]) == (
        "PluginFailed",
        "plugin refusing: no quota is left",
    )
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "PluginFailed"]
    assert [event["message"] for event in events] == ["plugin refusing: no quota is left"]
    assert lab.pods() == {}


async def test_without_such_a_plugin_pods_bear_no_note(lab: ServingLab):
    await start(lab, role(), plugins=[{"name": "lws", "type": "BuiltIn"}])
    assert not any("kohort.dev/ready-plugins" in annotations_of(p) for p in lab.pods().values())


@pytest.mark.parametrize("strategy", ["ServingGroupRollingUpdate", "RoleRollingUpdate"])
async def test_a_unit_counts_after_it_has_been_ready_for_long_enough(
    lab: ServingLab, strategy: str
):
    by_role = strategy == "RoleRollingUpdate"
    found = role(replicas=2 if by_role else 1, workers=0)
    obj = serving(found, replicas=1 if by_role else 2, rolloutStrategy={"type": strategy})
    obj["metadata"]["annotations"] = {"kohort.dev/min-ready-seconds": "60"}
    await lab.apply(obj)
    await lab.until(lab.is_done)
    await lab.run(70)
    await lab.set_image("engine:2", parts=("entryTemplate",))
    await lab.run(50)
    assert lab.images() == {"engine:1", "engine:2"}
    await lab.run(60)
    assert lab.images() == {"engine:2"}
