"""A small API server that serves OME's kinds and asks their webhooks; nothing else runs."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

from gadget_api import GADGETS
from kohort.apis.api import DEFAULTS
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.definition import DEFINITIONS
from kohort.apis.inferenceservice.home import HOME
from kohort.apis.inferenceservice.webhooks import WEBHOOKS
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONFIG_MAP, DEFINITION, DEPLOYMENT, NAMESPACE, POD, SERVICE
from kohort.cluster.objects import Kind, Object, namespace_of
from kohort.simulator.api_admission import ApiAdmission

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
# The webhooks alone count here, so the API need not do anything.
OME = replace(GADGETS, webhooks=WEBHOOKS, home=HOME, definitions=DEFINITIONS)
KINDS = {
    kind.name: kind
    for kind in (CONFIG_MAP, DEPLOYMENT, POD, SERVICE, *vars(kinds).values())
    if isinstance(kind, Kind)
}


class Site(InProcessCluster):
    """The server, with namespaces ``ml`` and ``ome``."""

    async def put(self, *objects: Object) -> Object:
        """Create objects; the answer is the last of them as it was stored."""
        stored: Object = {}
        for obj in objects:
            kind = KINDS[obj["kind"]]
            stored = await self.create(kind, namespace_of(obj) if kind.namespaced else "", obj)
        return stored

    async def refuse(self, obj: Object) -> str:
        """What is said to an object that must not pass."""
        try:
            await self.put(obj)
        except ClusterError as error:
            return str(error)
        raise AssertionError("it was admitted")


async def open_site() -> Site:
    """A server as it is before a client created anything."""
    server = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    site = Site(server)
    for name in ("ml", "ome"):
        await site.create(NAMESPACE, "", {"metadata": {"name": name}})
    for define in DEFINITIONS:
        await site.create(DEFINITION, "", define())
    server.context.admission = ApiAdmission([OME], DEFAULTS, find=server.context.find_objects)
    return site
