"""
This is where a first workload is made, so that a user who starts a cluster sees it work.

It requests no GPU, so that all are left to its user. An object of its name that exists
already is shown as it is. A line is printed for each change of its ready groups.
"""

from collections.abc import Callable

import orjson

from kohort.apis.served import APIS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import AlreadyExists
from kohort.cluster.objects import Object, is_true
from kohort.cluster.port import Selection

NAME, NAMESPACE = "sample", "default"
_GROUPS, _SIZE = 2, 4


async def show_sample(cluster: InProcessCluster, say: Callable[[str], None]) -> None:
    """Create the sample, and print the number of ready groups until all are ready."""
    kind = APIS[0].kind
    body = {"apiVersion": kind.api_version, "kind": kind.name, **_sample()}
    try:
        await cluster.create(kind, NAMESPACE, body)
    except AlreadyExists:
        say(f"lws/{NAME} is there already")
    told = ""
    only = Selection(kind, NAMESPACE, fields=f"metadata.name={NAME}")
    async for change in cluster.watch(only, "", initial=True):
        if change.type not in ("ADDED", "MODIFIED"):
            continue
        obj: Object = orjson.loads(change.raw)
        line = describe_sample(obj)
        if line != told:
            told = line
            say(line)
        if is_true(obj, "Available"):
            return


def describe_sample(obj: Object) -> str:
    """How many groups of the sample are ready."""
    ready = (obj.get("status") or {}).get("readyReplicas", 0)
    wanted = obj["spec"]["replicas"]
    end = "   see them with kubectl get pods" if is_true(obj, "Available") else ""
    return f"lws/{NAME}: {ready} of {wanted} groups ready{end}"


def _sample() -> Object:
    container = {"name": "server", "image": "example.com/llm-server:1"}
    template = {"size": _SIZE, "workerTemplate": {"spec": {"containers": [container]}}}
    return {
        "metadata": {"name": NAME},
        "spec": {"replicas": _GROUPS, "leaderWorkerTemplate": template},
    }
