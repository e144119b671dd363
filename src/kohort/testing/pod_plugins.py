"""
The rules that every plugin of ModelServing must keep, as a check for authors of plugins.

    from kohort.testing import check_plugin

    def test_my_plugin():
        assert check_plugin(Zone, config={"zones": ["a", "b"]}) == []

The check calls the hooks for each pod of a ModelServing with two groups, two roles, entries and
workers. A hook must give the same pod each time, return a pod that it has changed before as it
is, and leave alone the names and labels by which the operator finds the place of a pod.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.objects.pods import PodMaker
from kohort.apis.modelserving.plugins.chain import Chain, PluginFailure, ask_check, make_plugin
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin, PluginFactory
from kohort.apis.modelserving.spec import PluginSpec, read_spec
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.testing.samples import (
    copy_json,
    describe_error,
    is_json,
    list_changes,
    list_faults,
)

_NAME = "plugin-under-test"
_PLACED = ("name", "namespace", "uid", "ownerReferences")  # of metadata
Hook = Callable[[HookRequest], Object]


def check_plugin(
    factory: PluginFactory, config: Any = None, *, serving: Object | None = None
) -> list[str]:
    """The rules that a plugin breaks, each with the pod for which it does; empty: none."""
    spec = PluginSpec(_NAME, config=config)
    plugin = make_plugin(spec, {_NAME: factory})
    if isinstance(plugin, PluginFailure):
        return [plugin.why]
    if not isinstance(plugin, Plugin):
        return [f"it makes {type(plugin).__name__}, which is no Plugin: derive from Plugin"]
    root = make_serving() if serving is None else serving
    refusals = ask_check(plugin, read_spec(root))
    faults = [(f"it refuses the workload: {refusal.why}", "") for refusal in refusals]
    for request in list_requests(root):
        where = f"pod {name_of(request.pod)}"
        faults += [(fault, where) for fault in _check_hooks(plugin, factory(spec), request)]
    return list_faults(faults)


def _check_hooks(plugin: Plugin, other: Plugin, request: HookRequest) -> Iterator[str]:
    pairs = (
        ("on_pod_create", plugin.on_pod_create, other.on_pod_create),
        ("on_pod_ready", plugin.on_pod_ready, other.on_pod_ready),
    )
    for name, hook, twin in pairs:
        for fault in _check_hook(hook, twin, request, is_ready=name == "on_pod_ready"):
            yield f"{name} {fault}"


def _check_hook(hook: Hook, twin: Hook, request: HookRequest, *, is_ready: bool) -> Iterator[str]:
    asked, before = _copy(request), copy_json(request.model_serving)
    try:
        made = hook(asked)
        if not isinstance(made, dict) or not isinstance(made.get("spec"), dict):
            yield "returned no pod"
            return
        if not is_json(made):
            yield "returned a pod that is no JSON, so that no API server takes it"
            return
        first = copy_json(made)
        again, fresh = hook(_copy(request)), twin(_copy(request))
        repeated = hook(replace(_copy(request), pod=copy_json(first)))
    except Exception as error:
        yield f"raised {describe_error(error)}; give check_plugin a config and a serving it takes"
        return
    if asked.model_serving != before:
        yield "changed the ModelServing that it was given"
    if again != first or fresh != first:
        paths = _shorten([*list_changes(first, again), *list_changes(first, fresh)])
        yield f"gives another pod each time ({paths}): it must depend on its arguments alone"
    elif repeated != first:
        paths = _shorten(list_changes(first, repeated))
        yield f"changes a pod that it has changed already ({paths}): look before you add"
    yield from _find_forbidden(request.pod, first, is_ready=is_ready)


def _find_forbidden(before: Object, after: Object, *, is_ready: bool) -> Iterator[str]:
    """Fields that Kohort writes again after the plugin, so that a change would have no effect."""
    old, new = before["metadata"], after.get("metadata") or {}
    touched = [f"metadata.{key}" for key in _PLACED if old.get(key) != new.get(key)]
    marks, notes = labels_of(after), annotations_of(after)
    touched += [k for k in labels.RESERVED if labels_of(before).get(k) != marks.get(k)]
    touched += [
        k for k in labels.RESERVED_ANNOTATIONS if annotations_of(before).get(k) != notes.get(k)
    ]
    if touched:
        yield f"changed {_shorten(touched)}, which say where a pod belongs and are put back"
    if is_ready and before["spec"] != after["spec"]:
        paths = _shorten(list_changes(before["spec"], after["spec"], "spec"))
        yield f"changed {paths}: of a running pod, only labels and annotations are written"
    elif not after["spec"].get("containers"):
        yield "took all containers away"


def _shorten(paths: list[str]) -> str:
    return ", ".join(list(dict.fromkeys(paths))[:3])


def _copy(request: HookRequest) -> HookRequest:
    serving, pod = copy_json(request.model_serving), copy_json(request.pod)
    return replace(request, model_serving=serving, pod=pod)


def list_requests(serving: Object) -> Iterator[HookRequest]:
    """The hook requests for each pod of a ModelServing."""
    spec = read_spec(serving)
    maker = PodMaker(serving, "r1", {role.name: "h1" for role in spec.roles}, Chain())
    for group in range(spec.replicas):
        for role in spec.roles:
            for instance in range(role.replicas):
                place = InstancePlace(group, role, instance)
                for index in range(role.size):
                    pod = maker.make(place, index)
                    assert not isinstance(pod, PluginFailure)
                    name = place.group_name(serving)
                    is_entry = index == 0
                    yield HookRequest(serving, name, role.name, place.role_id, is_entry, pod)


def make_serving() -> Object:
    """A ModelServing of two groups with a role of two pods and a role of one."""
    template = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    decode = {"name": "decode", "replicas": 1, "workerReplicas": 1, "entryTemplate": template}
    prefill = {"name": "prefill", "replicas": 2, "workerReplicas": 0, "entryTemplate": template}
    roles = [{**decode, "workerTemplate": template}, prefill]
    return {
        "apiVersion": labels.KIND.api_version,
        "kind": labels.KIND.name,
        "metadata": {"name": "llama", "namespace": "ml", "uid": "ms-uid", "generation": 1},
        "spec": {"replicas": 2, "schedulerName": "volcano", "template": {"roles": roles}},
    }
