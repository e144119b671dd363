"""
The plugins that packages of this environment offer by entry points, and whether each can be used.

A plugin is loaded and read as the operator reads it, so what is refused here is refused there.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from kohort.apis import served
from kohort.apis.gangs import known as gangs
from kohort.apis.inferenceservice.strategies import registry as workload_strategies
from kohort.apis.modelserving.plugins import known as plugins
from kohort.model.policies import STRATEGIES, STRATEGY_ENTRY_POINTS

Reader = Callable[[str, object], object]  # raises ValueError


def _read_strategy(name: str, found: object) -> object:
    if name in STRATEGIES:
        raise ValueError("Kohort has a rollout strategy of that name")
    if not callable(found):
        raise ValueError(f"it must be a function, not {type(found).__name__}")
    return found


def _read_gang(name: str, found: object) -> object:
    if name in gangs.DIALECTS:
        raise ValueError("Kohort has a dialect of that name")
    return gangs.read_variants(name, found)


# How the objects of each entry-point group are read.
GROUPS: dict[str, Reader] = {
    STRATEGY_ENTRY_POINTS: _read_strategy,
    served.ENTRY_POINTS: served.read_values,
    gangs.ENTRY_POINTS: _read_gang,
    plugins.ENTRY_POINTS: plugins.read_factory,
    workload_strategies.ENTRY_POINTS: workload_strategies.read_strategy,
}


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """One entry point of a package, and why it cannot be used."""

    group: str
    name: str
    package: str  # the distribution
    version: str
    target: str  # module and object
    fault: str = ""  # empty: it can be used

    @property
    def is_usable(self) -> bool:
        """Whether it was loaded."""
        return not self.fault


def list_installed(groups: Iterable[str] = tuple(GROUPS)) -> Iterator[InstalledPlugin]:
    """All plugins of packages, group by group, sorted by name."""
    for group in groups:
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            package, version = (point.dist.name, point.dist.version) if point.dist else ("", "")
            fault = _find_fault(point, GROUPS[group])
            yield InstalledPlugin(group, point.name, package, version, point.value, fault)


def _find_fault(point: EntryPoint, read: Reader) -> str:
    try:
        read(point.name, point.load())
    except Exception as error:  # a plugin's module may raise anything
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ""
