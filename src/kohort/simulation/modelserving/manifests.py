"""
The ModelServings that users of simulations make, and how they edit them.

The roles of a scenario are a text, such as ``a 1+1, b 2+0``: two roles, of which the first has one
instance of an entry and a worker, and the second two instances of an entry alone.
"""

from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.gang_clusters import find_scheduler
from kohort.simulation.modelserving.groups import roles_of, rolls_by_role
from kohort.simulation.modelserving.labels import MIN_READY, ROLE_ROLLING, WORKLOAD
from kohort.simulation.scenario import NAME, Scenario, make_template
from kohort.simulation.simulated_api import SpecEdits, Template

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
