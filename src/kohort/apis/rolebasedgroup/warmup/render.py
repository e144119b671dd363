"""From a decision about a warm-up to writes: create and delete its pods, or delete it."""

from collections.abc import Iterator

from kohort.apis.api import Reading, Snapshot
from kohort.apis.facts import PodFacts
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.warmup.decisions import TryState, decide
from kohort.apis.rolebasedgroup.warmup.pods import make_pod, read_try
from kohort.apis.rolebasedgroup.warmup.read import Memory
from kohort.cluster.actions import Action, Create, Delete
from kohort.cluster.kinds import POD
from kohort.cluster.objects import name_of, namespace_of, uid_of
from kohort.model.plans import Plan


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes that carry out the decision about a warm-up."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_actions(snapshot, reading.memory, plan.now))


def _actions(snapshot: Snapshot, memory: Memory, now: float) -> Iterator[Action]:
    root, decision = snapshot.root, decide(memory.state, now)
    if decision.expires:
        why = "it ended, and its time to live is over"
        yield Delete(
            labels.WARMUP, namespace_of(root), name_of(root), uid_of(root), "Background", why=why
        )
        return
    for pod in memory.pods:
        if decision.stops and read_try(pod).state is TryState.ACTIVE:
            yield from _delete(pod, "the warm-up has failed")
    yield from _prune(memory)
    for node, number in decision.begin:
        obj = make_pod(root, snapshot.nodes.get(node), node, number, memory.targets.actions[node])
        why = f"node {node} is not warm" + (f", try {number + 1}" if number else "")
        yield Create(POD, namespace_of(root), obj, why)


def _prune(memory: Memory) -> Iterator[Action]:
    """With unlimited retries, delete all failed pods of a node but the last."""
    if memory.state.policies.retries is not None:
        return
    tries: dict[str, list[PodFacts]] = {}
    for pod in memory.pods:
        if read_try(pod).state is TryState.FAILED:
            tries.setdefault(pod.metadata.labels.get(labels.WARMUP_NODE, ""), []).append(pod)
    for pods in tries.values():
        for pod in sorted(pods, key=lambda pod: read_try(pod).number)[:-1]:
            yield from _delete(pod, "a later try of its node failed, too")


def _delete(pod: PodFacts, why: str) -> Iterator[Action]:
    metadata = pod.metadata
    if not metadata.is_leaving:
        text = f"pod {metadata.name}: {why}"
        yield Delete(POD, metadata.namespace, metadata.name, metadata.uid, why=text)
