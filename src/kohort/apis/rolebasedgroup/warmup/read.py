"""
From a RoleBasedGroupWarmup and its pods to the state that the rules decide on.

A warm-up has neither groups nor a rollout: the planner gets a workload without groups, and the
times at which to reconcile again. The rules of this package decide when rendering knows the time.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kohort.apis.api import Reading, Snapshot
from kohort.apis.facts import PodFacts
from kohort.apis.groupless import make_groupless
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.rolebasedgroup.warmup.decisions import (
    WarmupNode,
    WarmupPolicies,
    WarmupState,
    list_moments,
)
from kohort.apis.rolebasedgroup.warmup.pods import cut_label, read_moment, read_try
from kohort.apis.rolebasedgroup.warmup.targets import Targets, find_targets
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, uid_of
from kohort.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Memory:
    """Details of this API that the planner does not see and rendering needs."""

    state: WarmupState
    targets: Targets
    pods: tuple[PodFacts, ...]  # of this warm-up


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot of a warm-up as a workload without groups, and the state for the rules."""
    root, uid = snapshot.root, uid_of(snapshot.root)
    pods = tuple(pod for pod in snapshot.all(POD) if pod.metadata.controller == uid)
    targets = find_targets(root, snapshot.nodes.values(), snapshot.references.get(POD, ()))
    state = _read_state(root, targets, pods)
    return Reading(
        make_groupless(root), Observed(moments=list_moments(state)), Memory(state, targets, pods)
    )


def _read_state(root: Object, targets: Targets, pods: tuple[PodFacts, ...]) -> WarmupState:
    status, spec = as_map(root.get("status")), as_map(root.get("spec"))
    made = [read_moment(pod.metadata.creation_timestamp) for pod in pods]
    first = min((moment for moment in made if moment is not None), default=None)
    started = read_moment(status.get("startTime"))
    return WarmupState(
        nodes=tuple(_list_nodes(targets, pods)),
        policies=_read_policies(as_map(spec.get("policies"))),
        is_paused=spec.get("paused") is True,
        started_at=first if started is None else started,
        phase=str(status.get("phase") or ""),
        ended_at=read_moment(status.get("completionTime")),
    )


def _list_nodes(targets: Targets, pods: tuple[PodFacts, ...]) -> list[WarmupNode]:
    tries: Mapping[str, list[PodFacts]] = defaultdict(list)
    for pod in pods:
        tries[pod.metadata.labels.get(labels.WARMUP_NODE, "")].append(pod)
    known = {cut_label(node): node for node in targets.actions}
    begun = [label for label in sorted(tries) if label not in known]
    return [
        *(
            WarmupNode(node, tuple(map(read_try, tries.get(label, ()))))
            for label, node in known.items()
        ),
        *(WarmupNode(label, tuple(map(read_try, tries[label])), False) for label in begun),
    ]


def _read_policies(written: Object) -> WarmupPolicies:
    return WarmupPolicies(
        parallelism=written.get("parallelism"),
        retries=written.get("backoffLimitPerNode"),
        failed_max=written.get("maxFailedNodes"),
        timeout_seconds=written.get("globalTimeoutSeconds"),
        ttl_seconds=written.get("ttlSecondsAfterFinished"),
    )
