"""
What a plugin is, for those who write one.

A package brings plugins by entry points in the group ``kohort.plugins``: the entry's name is the
plugin's, its object is called with a ``PluginSpec`` and gives a ``Plugin``. A configuration that
makes no sense is refused by raising ``ValueError`` with a sentence; admission shows it to the user.
Hooks must be pure: they get a pod of their own and return the pod as it shall be.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kohort.apis.modelserving.spec import PluginSpec, ServingSpec
from kohort.cluster.objects import Object


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One pod, and where it stands."""

    model_serving: Object  # with the roles of the pod's revision
    serving_group: str
    role_name: str
    role_id: str
    is_entry: bool
    pod: Object


class Plugin:
    """Changes pods; what a plugin does not override changes nothing."""

    def __init__(self, spec: PluginSpec) -> None:
        self.spec = spec

    def check(self, serving: ServingSpec) -> Iterable[str]:
        """What is wrong with this plugin on that workload, as sentences; asked at admission."""
        return ()

    def on_pod_create(self, request: HookRequest) -> Object:
        """The pod as it shall be created; raises ValueError where it cannot be."""
        return request.pod

    def on_pod_ready(self, request: HookRequest) -> Object:
        """A pod that became ready, with the labels and annotations that it shall have from now."""
        return request.pod


PluginFactory = Callable[[PluginSpec], Plugin]
Registry = Mapping[str, PluginFactory]
