"""
Versions of a custom kind: objects are stored in one version, and served in each.

Without a webhook, a conversion changes the apiVersion and prunes the fields that the schema of
the new version lacks. With a webhook, a conversion is a call that may take long or fail. So
``learn`` calls the webhook first and caches its result with the stored object, and ``seen``, which
never waits, returns the cached result.

Defaults of the version in which a client wrote an object are set before the object is converted,
defaults of the storage version when it is stored. For an object that is stored in the requested
version, only its first bytes are read. Large objects are converted in a thread, and between many
small ones the event loop serves other requests.

The code that tracks managedFields is pure and cannot await a webhook, so it sees only conversions
that are known. Where one is missing, it ends with ``Unseen``; ``work_with_views`` then has that
object converted, and runs the code again from the start.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import orjson

from kohort.apiserver.aside import Aside
from kohort.apiserver.resources.resource import Conversion, Resource
from kohort.apiserver.schemas.go_json import write_custom
from kohort.apiserver.schemas.shapes import Shape
from kohort.apiserver.schemas.structural import Structural
from kohort.apiserver.schemas.structural.defaults import copy_json
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import BareError, KohortError
from kohort.cluster.objects import Object

if TYPE_CHECKING:
    from kohort.apiserver.api.context import Context

# Each call converts one object, as a real server does it; so many calls run at once.
CALLS_MAX = 8

_RENAMES_PER_PAUSE = 50
_numbers = count(1)


class Said(NamedTuple):
    """The object that a webhook returned, and the size of the response."""

    obj: Object
    size: int


# (conversion of a definition, object, apiVersion) -> the object in that version
AskWebhook = Callable[[Object, Object, str], Awaitable[Said]]
FindFields = Callable[[Object], dict[str, str]]


async def refuse_conversion(conversion: Object, obj: Object, api_version: str) -> Said:
    """The converter of a server that cannot call webhooks: it always fails."""
    kind = f"{obj['apiVersion']}, Kind={obj['kind']}"
    raise BareError(f"conversion webhook for {kind} failed: no webhook can be called from here")


class Unlearned(BareError):
    """An object was read before the webhook had converted it to this version."""


@dataclass(frozen=True, slots=True, eq=False)
class Versions:
    """All versions of one kind: their schemas, the storage version, and the converter."""

    schemas: Mapping[str, Structural]  # by apiVersion
    fields: Mapping[str, FindFields]  # by apiVersion: what field selectors may name
    storage: str
    ask: Callable[[Object, str], Awaitable[Said]] | None  # None: only the name changes
    aside: Aside


class VersionView:
    """One version of a kind that has several."""

    def __init__(self, versions: Versions, api_version: str) -> None:
        self.waits = versions.ask is not None
        self._versions = versions
        self._api_version = api_version
        # Objects of custom kinds are encoded with sorted fields.
        self._head = b'{"apiVersion":"%s",' % api_version.encode()
        # Stored objects cache conversions under this number: a deleted object frees its cache.
        self._number = next(_numbers)
        self._asked: dict[StoredObject, asyncio.Task[None]] = {}

    def seen(self, entry: StoredObject) -> StoredObject:
        """A stored object in this version; unchanged if it is stored in it."""
        if self._is_own(entry):
            return entry
        found = self._find(entry)
        if found is not None:
            return found
        if self.waits:
            raise Unlearned(f"{entry.name} was not converted to {self._api_version} yet: ask again")
        return self._rename(entry)

    def _find(self, entry: StoredObject) -> StoredObject | None:
        return entry.find_seen(self._api_version, self._number)

    def _keep(self, entry: StoredObject, seen: StoredObject) -> None:
        entry.keep_seen(self._api_version, self._number, seen)

    def _rename(self, entry: StoredObject) -> StoredObject:
        return self._make(entry, _call(self._read(entry), self._api_version))

    def knows(self, entry: StoredObject) -> bool:
        """Whether the object's form in this version is known without a call of the webhook."""
        return not self.waits or self._is_own(entry) or self._find(entry) is not None

    def _is_own(self, entry: StoredObject) -> bool:
        if entry.raw.startswith(self._head):
            return True
        # A kind that keeps unknown fields may have some that come before the version.
        is_first = entry.raw.startswith(b'{"apiVersion":')
        return not is_first and bool(entry.decode()["apiVersion"] == self._api_version)

    async def learn(self, entries: Iterable[StoredObject], *, fresh: bool = False) -> None:
        """Convert objects so that ``seen`` has them; ``fresh`` calls again. Raises ClusterError."""
        again = fresh and self.waits
        others = (entry for entry in entries if not self._is_own(entry))
        missing = [entry for entry in others if again or self._find(entry) is None]
        if not self.waits:
            await self._rename_all(missing)
            return
        for start in range(0, len(missing), CALLS_MAX):
            some = (self._ask(entry) for entry in missing[start : start + CALLS_MAX])
            for answer in await asyncio.gather(*some, return_exceptions=True):
                if isinstance(answer, BaseException):
                    raise answer

    async def _rename_all(self, entries: list[StoredObject]) -> None:
        for number, entry in enumerate(entries, 1):
            self._keep(entry, self._rename(entry))
            if number % _RENAMES_PER_PAUSE == 0:
                await asyncio.sleep(0)

    async def _ask(self, entry: StoredObject) -> None:
        """Call the webhook once for all waiting requests; a cancelled one does not end the call."""
        task = self._asked.get(entry)
        if task is None:
            task = self._asked[entry] = asyncio.create_task(self._convert_entry(entry))
            task.add_done_callback(lambda done: self._forget(entry, done))
        await asyncio.shield(task)

    def _forget(self, entry: StoredObject, task: asyncio.Task[None]) -> None:
        del self._asked[entry]
        if not task.cancelled():
            task.exception()  # All requests that waited for this call may be cancelled.

    async def _convert_entry(self, entry: StoredObject) -> None:
        assert self._versions.ask is not None
        aside = self._versions.aside
        obj = await aside(len(entry.raw), lambda: self._read(entry))
        said = await self._versions.ask(obj, self._api_version)
        self._keep(entry, await aside(said.size, lambda: self._make(entry, said.obj)))

    def _read(self, entry: StoredObject) -> Object:
        obj = entry.decode()
        if schema := self.find_schema(obj["apiVersion"]):
            schema.default(obj)
        return obj

    def _make(self, entry: StoredObject, obj: Object) -> StoredObject:
        if schema := self.find_schema(self._api_version):
            schema.prune(obj)
        return StoredObject.make(entry.key, entry.rv, obj, self.find_fields(obj), write_custom(obj))

    def find_fields(self, obj: Object) -> dict[str, str]:
        """The values for field selectors, from an object in any version."""
        fields = self._versions.fields
        # An object in a version that the definition no longer has is read as this version.
        return fields.get(obj["apiVersion"], fields[self._api_version])(obj)

    async def to_storage(self, obj: Object) -> Object:
        """An object converted to the storage version. Raises ClusterError."""
        storage = self._versions.storage
        if obj["apiVersion"] == storage:
            return obj
        return await self._convert(obj, storage, defaults=True)

    async def convert(self, obj: Object, api_version: str) -> Object:
        """An object converted to any version. Raises ClusterError."""
        if obj["apiVersion"] == api_version:
            return obj
        return await self._convert(obj, api_version)

    async def _convert(self, obj: Object, api_version: str, *, defaults: bool = False) -> Object:
        if self._versions.ask is None:
            said = Said(_call(copy_json(obj), api_version), 0)
        else:
            said = await self._versions.ask(obj, api_version)
        schema, converted = self.find_schema(api_version), said.obj

        def fit() -> None:
            if schema is not None:
                schema.prune(converted)
                if defaults:
                    schema.default(converted)

        await self._versions.aside(said.size, fit)
        return converted

    def find_schema(self, api_version: str) -> Structural | None:
        """The schema of one of the versions."""
        return self._versions.schemas.get(api_version)


def _call(obj: Object, api_version: str) -> Object:
    return {**obj, "apiVersion": api_version}


Result = TypeVar("Result")


class Unseen(KohortError):
    """An object has to be converted before the work can go on."""

    def __init__(self, views: "LearnedViews", obj: Object, api_version: str) -> None:
        super().__init__(f"what the object is in {api_version} is not known yet")
        self.views = views
        self.obj = obj
        self.api_version = api_version


class LearnedViews:
    """The conversions of one request's objects that have been needed so far."""

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion
        self._known: dict[tuple[str, bytes], Object] = {}

    def see(self, obj: Object, api_version: str) -> Object | None:
        """The object in a version; None if that version is no longer served. Raises ``Unseen``."""
        if obj["apiVersion"] == api_version:
            return obj
        if self._conversion.find_schema(api_version) is None:
            return None
        found = self._known.get(_key(obj, api_version))
        if found is None:
            raise Unseen(self, obj, api_version)
        return found

    def shape_of(self, api_version: str) -> Shape:
        """The structure of objects in a version."""
        schema = self._conversion.find_schema(api_version)
        assert schema is not None, "only versions that were seen are asked about"
        return schema.shape

    async def learn(self, obj: Object, api_version: str) -> None:
        """Convert an object to a version, and keep the result. Raises ClusterError."""
        converted = await self._conversion.convert(obj, api_version)
        self._known[_key(obj, api_version)] = converted


def _key(obj: Object, api_version: str) -> tuple[str, bytes]:
    return api_version, orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)


def views_of(resource: Resource) -> LearnedViews | None:
    """The views of one request, if versions of the kind differ in more than their name."""
    conversion = resource.conversion
    return LearnedViews(conversion) if conversion is not None and conversion.waits else None


async def work_with_views(context: "Context", size: int, work: Callable[[], Result]) -> Result:
    """Run a function, and run it again after each conversion that it lacked."""
    while True:
        try:
            return await context.aside(size, work)
        except Unseen as asked:
            await asked.views.learn(asked.obj, asked.api_version)
