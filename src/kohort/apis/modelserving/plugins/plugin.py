"""
The interface of a plugin, for authors of plugins.

A package adds plugins by entry points in the group ``kohort.plugins``: the entry's name is the
plugin's, its object is called with a ``PluginSpec`` and returns a ``Plugin``. It refuses a wrong
configuration by raising ``ValueError`` with a sentence; admission shows it to the user.
Hooks must be pure: they get a copy of the pod and return the changed pod.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kohort.apis.modelserving.spec import PluginSpec, ServingSpec
from kohort.cluster.objects import Object


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One pod, and its place in the workload."""

    model_serving: Object  # with the roles of the pod's revision
    serving_group: str
    role_name: str
    role_id: str
    is_entry: bool
    pod: Object


class Plugin:
    """Changes pods; methods that a plugin does not override change nothing."""

    def __init__(self, spec: PluginSpec) -> None:
        self.spec = spec

    def check(self, serving: ServingSpec) -> Iterable[str]:
        """The errors of this plugin on that workload, as sentences; called at admission."""
        return ()

    def on_pod_create(self, request: HookRequest) -> Object:
        """The pod to create; raises ValueError if it cannot be created."""
        return request.pod

    def on_pod_ready(self, request: HookRequest) -> Object:
        """A pod that became ready, with the labels and annotations that it should have now."""
        return request.pod


PluginFactory = Callable[[PluginSpec], Plugin]
Registry = Mapping[str, PluginFactory]
