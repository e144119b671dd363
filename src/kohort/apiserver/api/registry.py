"""
The registry: which kinds are served now.

Built-in resources are there from the start; custom ones come and go with their
definitions. Discovery, the garbage collector and the namespace controller ask
here, and ``generation`` tells them when to ask again.
"""

import re
from collections.abc import Callable, Iterable

from kohort.apiserver.resources.resource import Resource
from kohort.cluster.errors import NotFound
from kohort.cluster.objects import Kind

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_Address = tuple[str, str, str]


class Registry:
    """The served kinds, by address (group, version, plural)."""

    def __init__(self, builtin: Iterable[Resource]) -> None:
        self.generation = 0
        self.listeners: list[Callable[[], None]] = []
        self._builtin = {_address(r.kind): r for r in builtin}
        self._custom: dict[str, tuple[Resource, ...]] = {}
        self._all: dict[_Address, Resource] = dict(self._builtin)

    def copy(self) -> "Registry":
        """A registry that serves the same kinds, and has no listeners yet."""
        other = Registry(self._builtin.values())
        other.generation = self.generation
        other._custom = dict(self._custom)
        other._all = self._all  # is replaced when a definition comes or goes, and never changed
        return other

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource at that address."""
        return self._all.get((group, version, plural))

    def of(self, kind: Kind) -> Resource:
        """The resource of a kind, or NotFound: custom kinds go while others still name them."""
        found = self._all.get(_address(kind))
        if found is None:
            raise NotFound("the server could not find the requested resource", details={})
        return found

    def find_kind(self, api_version: str, kind: str) -> Resource | None:
        """The resource whose objects carry that apiVersion and kind."""
        group, _, version = api_version.rpartition("/")
        found = (r for r in self._all.values() if r.kind.name == kind)
        return next((r for r in found if (r.kind.group, r.kind.version) == (group, version)), None)

    def resources(self) -> list[Resource]:
        """All resources, built-in first, in the order in which they were added."""
        return list(self._all.values())

    def groups(self) -> dict[str, list[str]]:
        """Versions by group, in serving order."""
        found: dict[str, list[str]] = {}
        for resource in self._all.values():
            versions = found.setdefault(resource.kind.group, [])
            if resource.kind.version not in versions:
                versions.append(resource.kind.version)
        return {group: sorted(versions, key=_priority) for group, versions in found.items()}

    def serve(self, definition: str, resources: tuple[Resource, ...]) -> None:
        """Serve these versions of one definition; with an empty list, serve it no more."""
        if resources:
            self._custom[definition] = resources
        elif self._custom.pop(definition, None) is None:
            return
        self._all = dict(self._builtin)
        for versions in self._custom.values():
            self._all.update((_address(r.kind), r) for r in versions)
        self.generation += 1
        for listener in tuple(self.listeners):
            listener()

    def storage_kinds(self) -> list[Resource]:
        """One resource for each bucket, for components that watch all objects."""
        return list({r.bucket: r for r in reversed(self._all.values())}.values())[::-1]


def _priority(version: str) -> tuple[int, int, int, str]:
    """Released versions first, then beta, then alpha, newest first; other names come last."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return 3, 0, 0, version
    stage = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return stage, -int(match[1]), -int(match[3] or 0), version


def _address(kind: Kind) -> _Address:
    return kind.group, kind.version, kind.plural
