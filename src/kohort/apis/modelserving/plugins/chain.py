"""
The plugins of one workload in their order, and how they are called.

Failures are values that name the plugin. Plugins of other packages may raise anything, and none of
it may stop the reconciling of other workloads: so this is the one place that catches everything.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import orjson

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin, Registry
from kohort.apis.modelserving.spec import BUILT_IN, PluginSpec, ServingSpec
from kohort.cluster.objects import Object, annotations_of, labels_of

# Keys of a running pod's place are never patched for a plugin.
_RESERVED = (*labels.RESERVED, *labels.RESERVED_ANNOTATIONS)
Hook = Callable[[Plugin, HookRequest], Object]


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """Why a plugin could not be called, or failed."""

    plugin: str
    why: str

    def __str__(self) -> str:
        return f"plugin {self.plugin}: {self.why}"


@dataclass(frozen=True, slots=True)
class Chain:
    """The plugins of a workload, or the first failure to set one up."""

    plugins: tuple[Plugin, ...] = ()
    failure: PluginFailure | None = None

    @property
    def hears_ready(self) -> bool:
        """Whether a plugin handles pods that have become ready."""
        return any(type(plugin).on_pod_ready is not Plugin.on_pod_ready for plugin in self.plugins)

    def run_create(self, request: HookRequest) -> Object | PluginFailure:
        """The pod to create, after all plugins in scope have changed it."""
        return self._run(request, lambda plugin, asked: plugin.on_pod_create(asked))

    def find_ready_patch(self, request: HookRequest) -> Object | PluginFailure | None:
        """A merge patch of the labels and annotations that plugins add to a ready pod; or None."""
        changed = self._run(request, lambda plugin, asked: plugin.on_pod_ready(asked))
        if isinstance(changed, PluginFailure):
            return changed
        marks = _differing(labels_of(request.pod), labels_of(changed))
        notes = _differing(annotations_of(request.pod), annotations_of(changed))
        body = {"labels": marks, "annotations": notes}
        found = {field: change for field, change in body.items() if change}
        return {"metadata": found} if found else None

    def _run(self, request: HookRequest, hook: Hook) -> Object | PluginFailure:
        if self.failure is not None:
            return self.failure
        pod = request.pod
        for plugin in self.plugins:
            if plugin.spec.applies_to(request.role_name, request.is_entry):
                asked = HookRequest(
                    request.model_serving,
                    request.serving_group,
                    request.role_name,
                    request.role_id,
                    request.is_entry,
                    orjson.loads(orjson.dumps(pod)),
                )
                answer = _ask(plugin, asked, hook)
                if isinstance(answer, PluginFailure):
                    return answer
                pod = answer
        return pod


def build_chain(specs: Iterable[PluginSpec], registry: Registry) -> Chain:
    """The plugins of a workload; if one is missing or misconfigured, none is called."""
    made: list[Plugin] = []
    for spec in specs:
        found = make_plugin(spec, registry)
        if isinstance(found, PluginFailure):
            return Chain(failure=found)
        made.append(found)
    return Chain(tuple(made))


def make_plugin(spec: PluginSpec, registry: Registry) -> Plugin | PluginFailure:
    """One plugin with its configuration, or the failure to make it."""
    if spec.type != BUILT_IN:
        return PluginFailure(spec.name, f"type {spec.type!r} is not supported; say {BUILT_IN}")
    factory = registry.get(spec.name)
    if factory is None:
        known = ", ".join(sorted(registry))
        return PluginFailure(
            spec.name,
            f"it is not installed; there are {known}: install the package that brings it, or "
            "take it out of spec.plugins",
        )
    try:
        return factory(spec)
    except Exception as error:
        return PluginFailure(spec.name, f"its config is wrong: {_describe(error)}")


def check_plugin(
    spec: PluginSpec, serving: ServingSpec, registry: Registry
) -> tuple[PluginFailure, ...]:
    """The errors of a plugin on a workload: not installed, wrong config, or unfit for the roles."""
    plugin = make_plugin(spec, registry)
    return (plugin,) if isinstance(plugin, PluginFailure) else ask_check(plugin, serving)


def ask_check(plugin: Plugin, serving: ServingSpec) -> tuple[PluginFailure, ...]:
    """The errors that a plugin itself finds in a workload."""
    name = plugin.spec.name
    try:
        return tuple(PluginFailure(name, str(fault)) for fault in plugin.check(serving))
    except Exception as error:
        return (PluginFailure(name, _describe(error)),)


def _ask(plugin: Plugin, request: HookRequest, hook: Hook) -> Object | PluginFailure:
    try:
        answer = hook(plugin, request)
    except Exception as error:
        return PluginFailure(plugin.spec.name, _describe(error))
    if not isinstance(answer, dict) or not isinstance(answer.get("spec"), dict):
        return PluginFailure(plugin.spec.name, "it returned no pod")
    return answer


def _describe(error: Exception) -> str:
    """The text of a plugin's ValueError, or the repr of any other exception."""
    return str(error) if isinstance(error, ValueError) and str(error) else repr(error)


def _differing(before: dict[str, str], after: dict[str, str]) -> dict[str, str | None]:
    gone: dict[str, str | None] = dict.fromkeys(key for key in before if key not in after)
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    return {k: v for k, v in {**gone, **changed}.items() if k not in _RESERVED}
