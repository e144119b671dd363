"""``check_plugin`` passes our plugins and that of the page, and says what is wrong with others."""

import pytest

from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin
from kohort.cluster.objects import Object
from kohort.testing import check_plugin

ROLE = "modelserving.volcano.sh/role"


@pytest.mark.parametrize("name", BUILT_INS)
def test_every_plugin_of_ours_passes(name: str):
    assert check_plugin(BUILT_INS[name]) == []


class Appends(Plugin):
    def on_pod_create(self, request: HookRequest) -> Object:
        request.pod["spec"]["containers"][0].setdefault("env", []).append({"name": "A"})
        return request.pod


class Counts(Plugin):
    count = 0

    def on_pod_create(self, request: HookRequest) -> Object:
        Counts.count += 1
        request.pod["metadata"]["annotations"]["count"] = str(Counts.count)
        return request.pod


class Moves(Plugin):
    def on_pod_create(self, request: HookRequest) -> Object:
        request.pod["metadata"]["labels"][ROLE] = "other"
        request.pod["metadata"]["name"] = "other"
        return request.pod


class EditsTheWorkload(Plugin):
    def on_pod_create(self, request: HookRequest) -> Object:
        request.model_serving["spec"]["replicas"] = 9
        return request.pod


class ChangesReadyPods(Plugin):
    def on_pod_ready(self, request: HookRequest) -> Object:
        request.pod["spec"]["priority"] = 1
        return request.pod


class Returns(Plugin):
    def on_pod_create(self, request: HookRequest) -> Object:
        return None  # type: ignore[return-value]


class Raises(Plugin):
    def on_pod_create(self, request: HookRequest) -> Object:
        raise KeyError("zone")


class Refuses(Plugin):
    def check(self, serving):
        return ["it has too few roles"]


FAULTS = {
    Appends: "on_pod_create changes a pod that it has changed already (spec.containers)",
    Counts: "on_pod_create gives another pod each time (metadata.annotations.count)",
    Moves: f"on_pod_create changed metadata.name, {ROLE}, which say where a pod belongs",
    EditsTheWorkload: "on_pod_create changed the ModelServing that it was given",
    ChangesReadyPods: "on_pod_ready changed spec.priority: of a running pod, only labels and",
    Returns: "on_pod_create returned no pod",
    Raises: "on_pod_create raised KeyError: 'zone'",
    Refuses: "it refuses the workload: it has too few roles",
}


@pytest.mark.parametrize("plugin", FAULTS, ids=lambda plugin: plugin.__name__)
def test_a_broken_plugin_is_told_in_a_sentence(plugin: type[Plugin]):
    [fault] = check_plugin(plugin)
    assert fault.startswith(FAULTS[plugin])
    assert plugin is Refuses or fault.endswith(": pod llama-0-decode-0-0")


def test_a_config_that_is_refused_is_the_only_fault():
    found = check_plugin(BUILT_INS["lws"], {"indexScope": "no"})
    assert found == ["its config is wrong: indexScope must be instance or group, not 'no'"]


def test_what_makes_no_plugin_is_refused():
    found = check_plugin(lambda spec: 1)  # type: ignore[arg-type, return-value]
    assert found == ["it makes int, which is no Plugin: derive from Plugin"]
