"""The plugins that come with Kohort, and the form of those that others bring."""

from kohort.apis.modelserving.plugins.demo import DemoPodTweaks
from kohort.apis.modelserving.plugins.lws import LwsPlugin
from kohort.apis.modelserving.plugins.lws_labels import LwsStandardLabels
from kohort.apis.modelserving.plugins.plugin import PluginFactory, Registry

ENTRY_POINTS = "kohort.plugins"
BUILT_INS: Registry = {
    "demo-pod-tweaks": DemoPodTweaks,
    "lws": LwsPlugin,
    "lws-standard-labels": LwsStandardLabels,
}


def read_factory(name: str, found: object) -> PluginFactory:
    """What an entry point names, as a plugin; raises ValueError."""
    if name in BUILT_INS:
        raise ValueError("Kohort has a plugin of that name")
    if not callable(found):
        raise ValueError(f"it must be a class or function, not {type(found).__name__}")
    return found
