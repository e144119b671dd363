"""The plugins that come with Kohort; entry points of other packages may add more."""

from functools import cache
from importlib.metadata import entry_points

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
    """The plugin that an entry point names; raises ValueError."""
    if name in BUILT_INS:
        raise ValueError("Kohort has a plugin of that name")
    if not callable(found):
        raise ValueError(f"it must be a class or function, not {type(found).__name__}")
    return found


@cache
def load_registry() -> Registry:
    """All plugins: the built-in ones, and those of installed packages.

    One that cannot be loaded is left out: a user who names it sees that it is not installed.
    """
    found: dict[str, PluginFactory] = {}
    for point in entry_points(group=ENTRY_POINTS):
        try:
            found[point.name] = read_factory(point.name, point.load())
        except Exception:
            continue
    return {**found, **BUILT_INS}
