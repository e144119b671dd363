"""
What objects are in other versions of their kind, for those who write down who owns what.

They work on values and wait for nobody, so they are only shown what is known. Where
something is not, their work ends with ``Unseen``; what it names is learned, and the work
is done again from the start.
"""

from collections.abc import Callable
from typing import TypeVar

import orjson

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object
from kohort.simulator.api.context import Context
from kohort.simulator.resources.resource import Conversion, Resource
from kohort.simulator.schemas.shapes import Shape

Result = TypeVar("Result")


class Unseen(KohortError):
    """An object has to be converted before the work can go on."""

    def __init__(self, views: "LearnedViews", obj: Object, api_version: str) -> None:
        super().__init__(f"what the object is in {api_version} is not known yet")
        self.views = views
        self.obj = obj
        self.api_version = api_version


class LearnedViews:
    """What the objects of one request are in other versions, as far as it was asked for."""

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion
        self._known: dict[tuple[str, bytes], Object] = {}

    def see(self, obj: Object, api_version: str) -> Object | None:
        """The object in a version; nothing if that version is gone. Raises ``Unseen``."""
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
        """Ask what an object is in a version. Raises ClusterError."""
        converted = await self._conversion.convert(obj, api_version)
        self._known[_key(obj, api_version)] = converted


def _key(obj: Object, api_version: str) -> tuple[str, bytes]:
    return api_version, orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)


def views_of(resource: Resource) -> LearnedViews | None:
    """The views of one request, if versions of the kind differ in more than their name."""
    conversion = resource.conversion
    return LearnedViews(conversion) if conversion is not None and conversion.waits else None


async def work_with_views(context: Context, size: int, work: Callable[[], Result]) -> Result:
    """Do work that may need to see objects in other versions, however often it takes."""
    while True:
        try:
            return await context.aside(size, work)
        except Unseen as asked:
            await asked.views.learn(asked.obj, asked.api_version)
