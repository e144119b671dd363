"""
Plugin `demo-pod-tweaks`: an example of upstream, kept because workloads use it.

It sets the runtime class, merges annotations and appends variables, without checking whether a
variable of that name exists.
"""

from kohort.apis.modelserving.objects.variables import add_variables
from kohort.apis.modelserving.plugins.configs import read_config
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin
from kohort.apis.modelserving.spec import PluginSpec
from kohort.cluster.objects import Object, annotations_of

_KEYS = {"runtimeClassName": str, "annotations": dict, "env": list}


class DemoPodTweaks(Plugin):
    """Sets a runtime class, annotations and variables."""

    def __init__(self, spec: PluginSpec) -> None:
        super().__init__(spec)
        self._config = read_config(spec.config, _KEYS)
        for variable in self._config.get("env") or ():
            if not isinstance(variable, dict) or not isinstance(variable.get("name"), str):
                raise ValueError(f"env must hold variables with a name, not {variable!r}")
        for key, value in (self._config.get("annotations") or {}).items():
            if not isinstance(value, str):
                raise ValueError(f"annotation {key} must be a text, not {value!r}")

    def on_pod_create(self, request: HookRequest) -> Object:
        """The pod with the runtime class, annotations and variables of the configuration."""
        pod, config = request.pod, self._config
        spec = add_variables(pod["spec"], config.get("env") or ())
        if config.get("runtimeClassName"):
            spec["runtimeClassName"] = config["runtimeClassName"]
        notes = {**annotations_of(pod), **(config.get("annotations") or {})}
        return {**pod, "metadata": {**pod["metadata"], "annotations": notes}, "spec": spec}
