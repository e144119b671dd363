"""
Roles: what one look at a workload with roles costs, when one of its pods changed.

A ModelServing at rest: groups of two roles with four instances each. Nothing is written.
Times are CPU times, the median of several.
"""

import statistics
import time
from typing import Any

import orjson

from bench.figures import Figure
from bench.processes import pin
from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.group_cache import GroupCache
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.objects.pods import PodMaker
from kohort.apis.modelserving.plugins.chain import Chain
from kohort.apis.modelserving.pod_facts import ServingPod, read_pod
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object
from kohort.planning.plan import plan

ROLES, INSTANCES, ROUNDS = ("prefill", "decode"), 4, 12
NOW, STAMP = 1_800_000_000.0, "2026-01-01T00:00:00Z"


def measure(quick: bool) -> list[Figure]:
    """Look at a large workload."""
    pin(0)
    groups = 200 if quick else 1_000
    found = _reconcile(groups)
    size = f"{groups:,} groups x {len(ROLES)} roles x {INSTANCES}"
    return [
        Figure(f"{size}: observed to plan", found["plan"] * 1e3, "ms", at_most=50),
        Figure(
            f"{size}: whole look",
            sum(found.values()) * 1e3,
            "ms",
            note=", ".join(f"{part} {value * 1e3:.1f}" for part, value in found.items()),
        ),
    ]


def _reconcile(groups: int) -> dict[str, float]:
    root = _make_root(groups)
    revision, pods = _make_children(root, groups)
    facts = [_read(pod, is_ready=True) for pod in pods]
    cache = GroupCache[Any]()
    times: dict[str, list[float]] = {"read": [], "plan": [], "render": [], "status": []}
    for number in range(ROUNDS):
        changed = number // 2 * 371 % len(pods)
        facts[changed] = _read(pods[changed], is_ready=number % 2 == 1)
        children = {POD: tuple(facts), CONTROLLER_REVISION: (revision,)}
        snapshot = Snapshot(root, children, group_cache=cache)
        _reconcile_once(snapshot, times)
    return {part: statistics.median(seconds[2:]) for part, seconds in times.items()}


def _reconcile_once(snapshot: Snapshot, times: dict[str, list[float]]) -> None:
    moments = [time.thread_time()]
    reading = MODEL_SERVING.read(snapshot)
    moments.append(time.thread_time())
    decided = plan(reading.workload, reading.observed, NOW)
    moments.append(time.thread_time())
    assert not MODEL_SERVING.render(snapshot, reading, decided)
    moments.append(time.thread_time())
    MODEL_SERVING.write_status(snapshot, reading, decided, STAMP)
    moments.append(time.thread_time())
    for part, before, after in zip(times, moments, moments[1:], strict=False):
        times[part].append(after - before)


def _make_root(groups: int) -> Object:
    template = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    roles = [
        {"name": name, "replicas": INSTANCES, "workerReplicas": 0, "entryTemplate": template}
        for name in ROLES
    ]
    spec = {"schedulerName": "default-scheduler", "template": {"roles": roles}}
    return {
        "apiVersion": labels.KIND.api_version,
        "kind": labels.KIND.name,
        "metadata": {"name": "x", "namespace": "default", "uid": "root", "generation": 1},
        "spec": {"replicas": groups, **spec},
    }


def _make_children(root: Object, groups: int) -> tuple[Whole, list[Object]]:
    snapshot = Snapshot(root, {})
    reading = MODEL_SERVING.read(snapshot)
    first = plan(reading.workload, reading.observed, NOW)
    (made,) = MODEL_SERVING.render(snapshot, reading, first)
    assert isinstance(made, Create)
    made.obj["metadata"]["uid"] = "revision"
    target, spec = reading.memory.context.target, reading.memory.context.spec
    maker = PodMaker(root, target.revision, target.role_hashes, Chain())
    pods = []
    for group in range(groups):
        for role in spec.roles:
            for instance in range(INSTANCES):
                pod = maker.make(InstancePlace(group, role, instance), 0)
                assert isinstance(pod, dict)
                pods.append(pod)
    return Whole(orjson.dumps(made.obj)), pods


def _read(pod: Object, *, is_ready: bool) -> ServingPod:
    condition = {"type": "Ready", "status": str(is_ready), "lastTransitionTime": STAMP}
    metadata = {**pod["metadata"], "uid": pod["metadata"]["name"], "creationTimestamp": STAMP}
    status = {"phase": "Running", "conditions": [condition]}
    return read_pod(orjson.dumps({**pod, "metadata": metadata, "status": status}))
