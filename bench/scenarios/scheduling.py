"""
Scheduling: pods per second that the scheduler alone places on 1,000 nodes.

Steps are taken as the world takes them, but nothing is written: the figure is the
cost of the decisions.
"""

import time
from datetime import UTC, datetime
from typing import Any

import orjson

from bench.figures import Figure
from bench.objects import DEFAULT_SCHEDULER, make_pod
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Object
from kohort.simulator.component import BindRequest, Moment
from kohort.simulator.nodes import NodeMake, make_node
from kohort.simulator.scheduling.scheduler import QUEUE, Scheduler
from kohort.simulator.world.component_runner import Cache, Caches

_NOW = datetime(2025, 1, 1, tzinfo=UTC)
_STAMP = "2025-01-01T00:00:00Z"


def measure(quick: bool) -> list[Figure]:
    """Place plain pods, and pods that spread or keep together."""
    pods = 1_000 if quick else 5_000
    kinds: dict[str, dict[str, Any]] = {
        "plain pods": {},
        "pods that spread over racks": {"topologySpreadConstraints": [_spread()]},
        "pods that want GPUs": {"gpus": 1},
    }
    return [
        Figure(f"{title}, 1,000 nodes", _rate(extra, pods), "/s of CPU")
        for title, extra in kinds.items()
    ]


def _spread() -> Object:
    return {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "bench"}},
    }


def _rate(extra: dict[str, Any], pods: int) -> float:
    scheduler, view = Scheduler(), _view()
    make = NodeMake(1_000, 20, 8)
    for index in range(1_000):
        node = make_node(index, make, _STAMP)
        node["metadata"]["uid"] = f"node-{index}"
        scheduler.observe(NODE, None, _entry(node, index), view)
    entries = [_entry(_pod(number, extra), 10_000 + number) for number in range(pods)]
    began, placed = time.process_time(), 0
    for entry in entries:
        scheduler.observe(POD, None, entry, view)
    moment = Moment(_NOW, 0.0)
    while actions := scheduler.step(QUEUE, view, moment).actions:
        placed += sum(isinstance(action, BindRequest) for action in actions)
    assert placed == pods, f"{placed} of {pods} pods were placed"
    return pods / (time.process_time() - began)


def _view() -> Caches:
    view = Caches()
    for kind in Scheduler.kinds:
        view.by_kind[kind] = Cache(kind)
    return view


def _pod(number: int, extra: dict[str, Any]) -> Object:
    pod = make_pod(f"pod-{number:05d}", scheduler=DEFAULT_SCHEDULER)
    pod["metadata"]["uid"] = f"pod-{number}"
    pod["spec"].update({k: v for k, v in extra.items() if k != "gpus"})
    container = pod["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    if extra.get("gpus"):
        container["resources"]["limits"] = {"nvidia.com/gpu": str(extra["gpus"])}
        container["resources"]["requests"]["nvidia.com/gpu"] = str(extra["gpus"])
    return pod


def _entry(obj: Object, rv: int) -> StoredObject:
    metadata = obj["metadata"]
    metadata["resourceVersion"] = str(rv)
    key = (metadata.get("namespace", ""), metadata["name"])
    return StoredObject.make(key, rv, obj, {}, orjson.dumps(obj))
