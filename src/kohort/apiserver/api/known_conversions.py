"""
Objects in other versions of their kind, for the code that tracks managedFields.

That code is pure and cannot await a conversion webhook, so it sees only conversions that are
known. Where one is missing, it ends with ``Unseen``; the caller then has that object converted,
and runs the code again from the start.
"""

from collections.abc import Callable
from typing import TypeVar

import orjson

from kohort.apiserver.api.context import Context
from kohort.apiserver.resources.resource import Conversion, Resource
from kohort.apiserver.schemas.shapes import Shape
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object

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


async def work_with_views(context: Context, size: int, work: Callable[[], Result]) -> Result:
    """Run a function, and run it again after each conversion that it lacked."""
    while True:
        try:
            return await context.aside(size, work)
        except Unseen as asked:
            await asked.views.learn(asked.obj, asked.api_version)
