"""What a user and a browser do with a dashboard, and workloads to show on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import yaml

from kohort.apis.leaderworkerset.labels import KIND
from kohort.apis.served import APIS
from kohort.cluster.http import connect
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.dashboard.server import DashboardServer
from kohort.testing import Cluster

EXAMPLES = Path(__file__).parents[2] / "examples"
RESOURCE = "leaderworkerset.leaderworkerset.x-k8s.io"


@dataclass(frozen=True)
class Dashboard:
    """A running dashboard, and a client with cookies of its own."""

    server: DashboardServer
    session: aiohttp.ClientSession

    @property
    def base(self) -> str:
        """Its address without the token."""
        return self.server.url.partition("?")[0]

    @property
    def origin(self) -> str:
        """The origin of its page."""
        found = urlsplit(self.base)
        return f"{found.scheme}://{found.netloc}"

    async def log_in(self) -> None:
        """Exchange the token for a cookie, as a browser does."""
        async with self.session.get(self.server.url) as answer:
            assert answer.status == 200
            name, _, rest = answer.headers["Set-Cookie"].partition("=")
        self.session.headers["Cookie"] = f"{name}={rest.partition(';')[0]}"

    async def read(self, path: str, **headers: str) -> tuple[int, Any]:
        """The status and the value of a path of the API."""
        async with self.session.get(f"{self.base}api/v1/{path}", headers=headers) as answer:
            return answer.status, await answer.json()

    async def send(self, path: str, body: Object, **headers: str) -> tuple[int, Any]:
        """POST to a path of the API, from the page itself unless told otherwise."""
        sent = {"Origin": self.origin, **headers}
        url = f"{self.base}api/v1/{path}"
        async with self.session.post(url, json=body, headers=sent) as answer:
            return answer.status, await answer.json()


def make_workload(
    name: str, groups: int = 2, annotations: dict[str, str] | None = None, gpus: int = 0
) -> Object:
    """A LeaderWorkerSet of groups with two members."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {"name": "engine", "image": "engine:1", "resources": {"limits": limits}}
    template = {
        "metadata": {"annotations": annotations or {}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 5},
    }
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": name},
        "spec": {
            "replicas": groups,
            "leaderWorkerTemplate": {"size": 2, "workerTemplate": template},
        },
    }


async def create(cluster: Cluster, name: str, groups: int = 2, **options: Any) -> None:
    """Make a workload."""
    async with connect(cluster.kubeconfig) as port:
        await port.create(KIND, "default", make_workload(name, groups, **options))


async def edit(cluster: Cluster, name: str, patch: Object) -> None:
    """Change a workload by a merge patch."""
    async with connect(cluster.kubeconfig) as port:
        await port.patch(Address(KIND, "default", name), patch)


async def remove(cluster: Cluster, name: str) -> None:
    """Delete a workload."""
    async with connect(cluster.kubeconfig) as port:
        await port.delete(Address(KIND, "default", name))


async def set_image(cluster: Cluster, name: str, image: str) -> None:
    """Roll a workload out to another image."""
    async with connect(cluster.kubeconfig) as port:
        root = await port.read(Address(KIND, "default", name))
        template = root["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        template["spec"]["containers"][0]["image"] = image
        await port.update(Address(KIND, "default", name), root)


async def create_example(cluster: Cluster, file: str) -> None:
    """Make the first object of an example."""
    obj = yaml.safe_load((EXAMPLES / file).read_text().split("\n---")[0])
    group = obj["apiVersion"].partition("/")[0]
    kind = next(api.kind for api in APIS if (api.kind.name, api.kind.group) == (obj["kind"], group))
    async with connect(cluster.kubeconfig) as port:
        await port.create(kind, "default", obj)
