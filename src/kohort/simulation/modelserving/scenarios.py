"""
The scenario of a seed for ModelServing: what users make and edit, a rollout, a policy, and faults.

The roles of a scenario are a text, such as ``a 1+1, b 2+0``: two roles, of which the first has one
instance of an entry and a worker, and the second two instances of an entry alone.

It has random streams of its own, so the scenarios of other APIs do not depend on it.
"""

from dataclasses import replace
from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.gang_clusters import find_scheduler
from kohort.simulation.modelserving.groups import roles_of, rolls_by_role
from kohort.simulation.modelserving.labels import (
    GROUP_RECREATE,
    GROUP_ROLLING,
    MIN_READY,
    RECOVER_NONE,
    ROLE_RECREATE,
    ROLE_ROLLING,
    WORKLOAD,
)
from kohort.simulation.scenario import NAME, PODS, Fault, Scenario, make_template
from kohort.simulation.simulated_api import SpecEdits, Template

KINDS = ("Pod", "Pod", "ModelServing", "ControllerRevision", "Service")
ROLES = ("a 1+0", "a 1+1", "a 2+1", "a 1+1, b 1+0", "a 1+0, b 2+1", "a 2+0, b 1+1", "a 1+2")
_BUDGETS: tuple[tuple[int | str, int], ...] = ((1, 0), (1, 0), (1, 1), (2, 0), (1, 2), ("60%", 0))
# What acts on objects that a ModelServing does not have, or has under another name.
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", "Service", "ControllerRevision")),
    "namesake": valued("namesake", ("Pod", "Pod", "Service"), 4.0, 20.0),
    "relabel": valued("relabel", ("Service", "Pod", "place")),
}
# StatefulSets are no part of a ModelServing.
NEVER = ("scale-child", "restart-set", "set-image", "swap-set")
DRAWN_EDITS = (
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale",
    "scale",
    "scale-role",
    "resize",
    "hold",
    "cost",
    "recreate",
    "orphan",
)
GANGS_PERCENT = 20
# Volcano's gangs are made without a flag: no flag names others, or none.
GANG_FAULTS = (
    "partial-bind",
    "late-bind",
    "scheduler-away",
    "preempt",
    "lose-gang",
    "close-queue",
    "crowd",
)
FAILURES = list_failures(NEVER)
# A partition keeps the counts that roles had before, and the spec has only the new ones.
_UNKEPT = ("scale-role",)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"ms/{seed}")
    scenario = _draw_workload(seed, choices)
    scenario = replace(scenario, faults=_draw_faults(choices, scenario))
    # A random stream of its own, so that the rest of a seed's scenario stays the same.
    min_ready = Choices(f"ms/{seed}/lasting").pick((0,) * 6 + (3, 8))
    return focus(_add_gangs(replace(scenario, min_ready=min_ready)))


def _add_gangs(scenario: Scenario) -> Scenario:
    """The same scenario, with gangs if the seed says so; there is room for all of them."""
    choices = Choices(f"ms/{scenario.seed}/gangs")
    if not choices.happens(GANGS_PERCENT):
        return scenario
    drawn = [_draw(choices.pick(GANG_FAULTS), choices) for _ in range(choices.below(4))]
    faults = sorted((*scenario.faults, *drawn), key=lambda fault: (fault.at, fault.n))
    gpus = choices.pick((0, 1))
    return replace(scenario, gang="volcano", gpus=gpus, faults=tuple(faults))


def _draw_workload(seed: int, choices: Choices) -> Scenario:
    groups = 1 + choices.below(3)
    unavailable, surge = choices.pick(_BUDGETS)
    by_role = choices.happens(40)
    recoveries: tuple[str, ...] = (ROLE_RECREATE, ROLE_RECREATE, RECOVER_NONE)
    # A whole group that is made anew for one of its roles knows no rollout by role.
    recoveries = recoveries if by_role else (*recoveries, GROUP_RECREATE, GROUP_RECREATE)
    scenario = Scenario(
        seed=seed,
        api="ms",
        groups=groups,
        unavailable=unavailable if groups > 1 else 1,
        surge=surge,
        partition=choices.pick((0, 0, 0, 0, 1)),
        restart=choices.pick(recoveries),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=choices.pick(ROLES),
        rollout=ROLE_ROLLING if by_role else GROUP_ROLLING,
        grace=choices.pick((0, 0, 5)),
        role_unavailable=choices.pick((0, 1, 1)),
        role_partition=choices.pick((0, 0, 0, 1)),
    )
    if by_role:
        return replace(scenario, unavailable=1, surge=0, partition=0)
    return replace(scenario, role_unavailable=0, role_partition=0)


def _draw_faults(choices: Choices, scenario: Scenario) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(DRAWN_EDITS) for _ in range(choices.below(3))]
    if scenario.partition or scenario.role_partition or "hold" in edits:
        edits = [name for name in edits if name not in _UNKEPT]
    drawn = [_draw(name, choices) for name in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))


def _draw(name: str, choices: Choices) -> Fault:
    return _OWN.get(name, CATALOGUE[name].draw)(choices)


DEFAULT_SCHEDULER = "default-scheduler"


def read_roles(text: str) -> list[tuple[str, int, int]]:
    """Name, instances and workers of each role."""
    found = []
    for each in text.split(","):
        name, counts = each.split()
        instances, workers = counts.split("+")
        found.append((name, int(instances), int(workers)))
    return found


def make_workload(scenario: Scenario, is_first: bool = False) -> Object:
    """The object that a user makes."""
    strategy: Object = {"type": scenario.rollout}
    if scenario.rollout != ROLE_ROLLING:
        strategy["rollingUpdateConfiguration"] = {
            "maxUnavailable": scenario.unavailable,
            "maxSurge": scenario.surge,
            "partition": scenario.partition,
        }
    roles = [_make_role(scenario, *role) for role in read_roles(scenario.roles)]
    notes = {MIN_READY: str(scenario.min_ready)} if scenario.min_ready else {}
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.name,
        "metadata": {"name": NAME, "annotations": notes},
        "spec": {
            "replicas": scenario.groups,
            "schedulerName": find_scheduler(scenario.gang) or DEFAULT_SCHEDULER,
            "recoveryPolicy": scenario.restart,
            "rolloutStrategy": strategy,
            "template": {"restartGracePeriodSeconds": scenario.grace, "roles": roles},
        },
    }


def _make_role(scenario: Scenario, name: str, instances: int, workers: int) -> Object:
    role: Object = {"name": name, "replicas": instances, "workerReplicas": workers}
    role["entryTemplate"] = make_template("engine:1", gpus=scenario.gpus)
    if workers:
        role["workerTemplate"] = make_template("engine:1", gpus=scenario.gpus)
    if scenario.rollout == ROLE_ROLLING:
        if scenario.role_unavailable:
            role["maxUnavailable"] = min(scenario.role_unavailable, instances)
        if scenario.role_partition:
            role["partition"] = scenario.role_partition
    return role


def _with_roles(roles: list[Object]) -> Object:
    return {"template": {"roles": roles}}


def _write_template(scenario: Scenario, workload: Object, wanted: Template) -> Object:
    """Another template of all roles, or of one of them."""
    roles = roles_of(workload)
    # One more than there are roles means all of them.
    chosen = wanted.pick % (len(roles) + 1)
    return _with_roles(
        [
            _with_template(scenario, role, wanted) if chosen in (place, len(roles)) else role
            for place, role in enumerate(roles)
        ]
    )


def _with_template(scenario: Scenario, role: Object, wanted: Template) -> Object:
    template = make_template(wanted.image, gpus=scenario.gpus)
    notes = {key: value for key, value in wanted.notes.items() if value is not None}
    template["metadata"]["annotations"] = notes
    parts: dict[str, Any] = {"entryTemplate": template}
    if "workerTemplate" in role:
        parts["workerTemplate"] = template
    return {**role, **parts}


def _write_size(workload: Object, size: int) -> Object:
    """Other workers of all roles that have some."""
    return _with_roles(
        [
            {**role, "workerReplicas": size} if "workerTemplate" in role else role
            for role in roles_of(workload)
        ]
    )


def _write_partition(workload: Object, partition: int) -> Object:
    if rolls_by_role(workload):
        return _with_roles([{**role, "partition": partition} for role in roles_of(workload)])
    return {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": partition}}}


def _write_role_scale(workload: Object, count: int, pick: int) -> Object:
    """Other instances of one role; no more of them may be missing than there are."""
    roles = roles_of(workload)
    chosen = roles[pick % len(roles)]
    changed = {**chosen, "replicas": count}
    if "maxUnavailable" in chosen:
        changed["maxUnavailable"] = min(chosen["maxUnavailable"], count)
    return _with_roles([changed if role is chosen else role for role in roles])


EDITS = SpecEdits(_write_template, _write_size, _write_partition, _write_role_scale)


def list_free_names(scenario: Scenario, kind: Kind, pick: int) -> list[str]:
    """Names that children would have, first that which was picked."""
    names = [
        f"{NAME}-{group}-{role}-{instance}-{index}"
        for group in range(scenario.groups)
        for role, instances, workers in read_roles(scenario.roles)
        for instance in range(instances)
        for index in range(workers + 1)
    ]
    if kind == kinds.SERVICE:
        names = [name for name in names if name.endswith("-0")]
    start = pick % len(names)
    return [*names[start:], *names[:start]]
