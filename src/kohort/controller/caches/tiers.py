"""
The topology tiers of a cluster, as the objects of each gang scheduler define them.

Some schedulers define tiers by objects. The operator watches those objects, and computes
the tiers anew on the first read after a change. Where the API server does not serve them, or
the operator may not list them, the tiers are unknown, which differs from having none. The
operator leaves out and reports an object that a dialect cannot read; the others still count.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson

from kohort.apis.api import Api, Settings
from kohort.apis.facts import Whole
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Tiers
from kohort.apis.nodes import TierObjects
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Selection
from kohort.controller.caches.cache import Cache, CachedObject, Difference, UndecodableObject
from kohort.controller.caches.informers import Informers


class TierBook:
    """The tiers of the cluster, by the name of the scheduler's dialect."""

    def __init__(
        self, api: Api, settings: Settings, informers: Informers, emit: Callable[[], None]
    ) -> None:
        self._informers = informers
        self._listen = emit
        self._dialects = tuple(d for d in settings.gangs if d.read_tiers is not None)
        self._caches: dict[Kind, Cache[Whole]] = {}
        for kind in api.reads_with(settings):
            cache = informers.add(Selection(kind), Whole, optional=True)
            cache.subscribe(partial(self._note, cache.selection))
            self._caches[kind] = cache
        self._known: Mapping[str, Tiers] | None = None
        self._objects: Mapping[str, TierObjects] | None = None

    def read(self) -> Mapping[str, Tiers]:
        """The tiers of all dialects whose scheduler defines tiers by objects of the cluster."""
        if self._known is None or not self._are_listed:
            self._known = {d.name: self._read(d) for d in self._dialects}
        return self._known

    @property
    def _are_listed(self) -> bool:
        return all(cache.is_ready for cache in self._caches.values())

    def list_objects(self) -> Mapping[str, TierObjects]:
        """The readable objects that define tiers, by the name of the dialect."""
        if self._objects is None or not self._are_listed:
            found = {d: self._find_all(d) for d in self._dialects if d.survey is not None}
            self._objects = {
                d.name: TierObjects(_sift(d, objects)) for d, objects in found.items() if objects
            }
        return self._objects

    def _note(self, selection: Selection, difference: Difference[Any]) -> None:
        self._objects = None
        self._report(selection, difference.new)
        # If no plan has read the tiers since the last change, no workload needs a wake-up.
        if self._known is not None and self._matters(difference):
            self._known = None
            self._listen()

    def _matters(self, difference: Difference[Any]) -> bool:
        """Whether a changed object defines other tiers than before."""
        sides = [
            (orjson.loads(entry.value.raw),) if entry is not None else ()
            for entry in (difference.old, difference.new)
        ]
        return any(_read_tiers(d, sides[0]) != _read_tiers(d, sides[1]) for d in self._dialects)

    def _report(self, selection: Selection, entry: CachedObject[Any] | None) -> None:
        if entry is None:
            return
        obj = orjson.loads(entry.value.raw)
        for dialect in self._dialects:
            if selection.kind in dialect.reads and not _is_readable(dialect, obj):
                why = f"{dialect.name} cannot be told tiers by it: its fields have other types"
                self._informers.report(
                    selection, UndecodableObject(entry.key, entry.uid, entry.version, why)
                )

    def _read(self, dialect: Dialect) -> Tiers:
        found = self._find_all(dialect)
        return Tiers() if found is None else _read_tiers(dialect, found)

    def _find_all(self, dialect: Dialect) -> tuple[Object, ...] | None:
        """All objects that a dialect reads; None where the operator cannot list them."""
        caches = [self._caches[kind] for kind in dialect.reads if kind in self._caches]
        absent = self._informers.absent
        if any(not c.is_ready or c.selection in absent for c in caches):
            return None
        return tuple(orjson.loads(entry.value.raw) for cache in caches for entry in cache)


def _read_tiers(dialect: Dialect, objects: tuple[Object, ...]) -> Tiers:
    assert dialect.read_tiers is not None
    return dialect.read_tiers(_sift(dialect, objects))


def _sift(dialect: Dialect, objects: tuple[Object, ...]) -> tuple[Object, ...]:
    return tuple(obj for obj in objects if _is_readable(dialect, obj))


def _is_readable(dialect: Dialect, obj: Object) -> bool:
    """Whether a dialect can read an object, whose fields a user may give any type."""
    assert dialect.read_tiers is not None
    try:
        hash(dialect.read_tiers((obj,)))
    except (TypeError, ValueError, AttributeError, LookupError):
        return False
    return True
