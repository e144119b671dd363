"""The plugin framework: order, scope, failures as values, plugins of others."""

import json
from typing import Any

import pytest
from serving_builders import serving
from serving_pods import pod, try_pod, variables_of

from kohort.apis.modelserving.admission.validation import validate_serving, write_refusal
from kohort.apis.modelserving.plugins.chain import PluginFailure, build_chain
from kohort.apis.modelserving.plugins.known import BUILT_INS, read_factory
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin
from kohort.apis.modelserving.spec import PluginSpec, ServingSpec
from kohort.cluster.objects import Object, annotations_of


class Appender(Plugin):
    """Appends its config to an annotation, in place: that must stay without consequence."""

    def on_pod_create(self, request: HookRequest) -> Object:
        notes = request.pod["metadata"]["annotations"]
        notes["order"] = notes.get("order", "") + str(self.spec.config)
        return request.pod

    def on_pod_ready(self, request: HookRequest) -> Object:
        request.pod["metadata"]["labels"] = {"ready": "yes"}
        return request.pod


class Broken(Plugin):
    """Has a mistake in it."""

    def on_pod_create(self, request: HookRequest) -> Object:
        return request.pod["nothing"]


class Empty(Plugin):
    """Returns nothing."""

    def on_pod_create(self, request: HookRequest) -> Any:
        return None


REGISTRY = {**BUILT_INS, "append": Appender, "broken": Broken, "empty": Empty}


def asking(*plugins: Object) -> Object:
    return serving(plugins=list(plugins))


def test_plugins_run_in_the_order_of_the_list_and_see_what_others_did():
    asked = asking({"name": "append", "config": "a"}, {"name": "append", "config": "b"})
    assert annotations_of(pod(asked, registry=REGISTRY))["order"] == "ab"


@pytest.mark.parametrize(
    ("scope", "runs"),
    [
        ({}, [True, True]),
        ({"target": "All"}, [True, True]),
        ({"target": "Entry"}, [True, False]),
        ({"target": "Worker"}, [False, True]),
        ({"target": "Leader"}, [False, False]),
        ({"roles": ["serve"]}, [True, True]),
        ({"roles": ["other"]}, [False, False]),
    ],
    ids=str,
)
def test_a_plugin_is_called_for_pods_in_scope(scope: Object, runs: list[bool]):
    asked = asking({"name": "append", "config": "x", "scope": scope})
    made = [pod(asked, index, registry=REGISTRY) for index in (0, 1)]
    assert ["order" in annotations_of(found) for found in made] == runs


def test_defect_14_an_absent_plugin_is_a_sentence_that_names_it():
    failed = try_pod(asking({"name": "lsw"}))
    assert str(failed) == (
        "plugin lsw: it is not installed; there are demo-pod-tweaks, lws, lws-standard-labels: "
        "install the package that brings it, or take it out of spec.plugins"
    )


def test_defect_14_a_plugin_that_raises_is_a_failure_that_names_it():
    asked = asking({"name": "append", "config": "a"}, {"name": "broken"})
    failed = try_pod(asked, registry=REGISTRY)
    assert failed == PluginFailure("broken", "KeyError('nothing')")


def test_a_plugin_that_returns_no_pod_is_a_failure():
    assert try_pod(asking({"name": "empty"}), registry=REGISTRY) == PluginFailure(
        "empty", "it returned no pod"
    )


def test_a_plugin_that_fails_at_admission_is_a_refusal_that_names_it():
    class Checking(Plugin):
        def check(self, serving: ServingSpec) -> list[str]:
            return [str(1 // serving.max_surge)]

    errors = validate_serving(asking({"name": "odd"}), None, {"odd": Checking})
    assert "plugin odd: ZeroDivisionError" in write_refusal(errors)


def test_another_type_than_built_in_is_a_failure():
    failed = try_pod(asking({"name": "lws", "type": "Webhook"}))
    assert str(failed) == "plugin lws: type 'Webhook' is not supported; say BuiltIn"


def test_a_plugin_that_changes_its_pod_in_place_changes_no_other():
    found: Object = {"metadata": {"annotations": {}}, "spec": {"containers": []}}
    before = json.dumps(found)
    request = HookRequest(serving(), "llama-0", "serve", "serve-0", True, found)
    build_chain([PluginSpec("append", config="x")], REGISTRY).run_create(request)
    assert json.dumps(found) == before


def test_a_ready_pod_gets_the_labels_that_a_plugin_gives_it_then():
    reserved = {"modelserving.volcano.sh/name": "llama"}
    found = {"metadata": {"labels": {"old": "1", **reserved}, "annotations": {}}, "spec": {}}
    request = HookRequest(serving(), "llama-0", "serve", "serve-0", True, found)
    chain = build_chain([PluginSpec("append")], REGISTRY)
    assert chain.find_ready_patch(request) == {
        "metadata": {"labels": {"old": None, "ready": "yes"}}
    }
    assert build_chain([PluginSpec("lws")], REGISTRY).find_ready_patch(request) is None


def test_the_demo_plugin_sets_what_its_config_names():
    config = {
        "runtimeClassName": "nvidia",
        "annotations": {"team": "a"},
        "env": [{"name": "GROUP_SIZE", "value": "again"}],
    }
    made = pod(asking({"name": "demo-pod-tweaks", "config": config}))
    assert made["spec"]["runtimeClassName"] == "nvidia"
    assert annotations_of(made)["team"] == "a"
    assert [value for name, value in variables_of(made) if name == "GROUP_SIZE"] == ["2", "again"]


@pytest.mark.parametrize(
    "config", [{"env": ["A=1"]}, {"annotations": {"a": 1}}, {"runtimeClass": "x"}], ids=str
)
def test_the_demo_plugin_refuses_what_it_cannot_use(config: Object):
    failed = try_pod(asking({"name": "demo-pod-tweaks", "config": config}))
    assert isinstance(failed, PluginFailure)
    assert failed.why.startswith("its config is wrong: ")


def test_a_plugin_of_another_package_cannot_take_a_name_of_ours_and_must_be_callable():
    assert read_factory("append", Appender) is Appender
    with pytest.raises(ValueError, match="Kohort has a plugin of that name"):
        read_factory("lws", Appender)
    with pytest.raises(ValueError, match="must be a class or function, not str"):
        read_factory("text", "Appender")
