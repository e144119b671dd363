"""
The scenario of a seed for a RoleInstanceSet by hand: what users make and edit, and the faults.

A scenario says the one role of a set as roles of a group are said (``a 2&1``): instances, and the
pods of its second component.

It has random streams of its own, and ``kohort sim run --apis ris`` draws from them.
"""

from dataclasses import replace

from kohort.cluster.objects import Kind, Object
from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import draw_swarm, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.instanceset.labels import OWNER
from kohort.simulation.rolebasedgroup.labels import (
    IN_PLACE,
    IN_PLACE_ONLY,
    MODE,
    PATTERN,
    RECOVER_NONE,
    RECREATE,
    RECREATE_POD,
    SET,
    STATELESS,
)
from kohort.simulation.rolebasedgroup.scenarios import (
    BACKOFF_SECONDS,
    CHANGES_MODE,
    FIRST,
    SECOND,
    read_roles,
)
from kohort.simulation.scenario import NAME, PODS, Scenario, make_template
from kohort.simulation.simulated_api import SpecEdits, Template

KINDS = ("Pod", "Pod", "RoleInstance", "RoleInstance", "RoleInstanceSet", "ControllerRevision")
ROLES = ("a 1+0", "a 3+0", "a 2&1", "a 3&1")
_BUDGETS = ((1, 0), (1, 0), (2, 0), (1, 1), (2, 1))
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", "RoleInstance")),
    "namesake": valued("namesake", ("Pod", "Pod"), 4.0, 20.0),
    "relabel": valued("relabel", ("Pod", "place")),
}
# A set by hand has no StatefulSets, no Services and no roles of several sizes.
NEVER = ("scale-child", "restart-set", "set-image", "swap-set", "scale-role", "cost")
DRAWN_EDITS = (
    "roll",
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale",
    "scale",
    "resize",
    "hold",
    "recreate",
)
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"ris/{seed}")
    unavailable, surge = choices.pick(_BUDGETS)
    scenario = Scenario(
        seed=seed,
        api="ris",
        groups=1,
        unavailable=unavailable,
        surge=surge,
        restart=choices.pick((RECREATE, RECREATE, RECOVER_NONE)),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=choices.pick(ROLES),
        rollout=choices.pick((IN_PLACE, IN_PLACE, IN_PLACE, IN_PLACE_ONLY, RECREATE_POD)),
        role_partition=choices.pick((0, 0, 0, 0, 1)),
        drain=choices.pick((0, 0, 3)),
        min_ready=choices.pick((0,) * 6 + (3,)),
        is_ordered=choices.happens(15),
        stateless=choices.pick(("", "", "a")),
    )
    return focus(replace(scenario, faults=draw_swarm(choices, FAILURES, DRAWN_EDITS, _OWN)))


def make_workload(scenario: Scenario, is_first: bool = False) -> Object:
    """The object that a user makes."""
    ((role, instances, _, more),) = read_roles(scenario.roles)
    strategy: Object = {
        "type": scenario.rollout,
        "maxUnavailable": scenario.unavailable,
        "maxSurge": scenario.surge,
        "partition": min(scenario.role_partition, instances - 1),
    }
    if scenario.drain:
        strategy["inPlaceUpdateStrategy"] = {"gracePeriodSeconds": scenario.drain}
    marks = {OWNER: NAME}
    notes = {PATTERN: STATELESS} if role in scenario.stateless.split() else {}
    spec: Object = {
        "replicas": instances,
        "selector": {"matchLabels": marks},
        "updateStrategy": strategy,
        "podManagementPolicy": "OrderedReady" if scenario.is_ordered else "Parallel",
        "minReadySeconds": scenario.min_ready,
        "roleInstanceTemplate": {
            "components": make_components("engine:1", more),
            "restartPolicyConfig": make_restart(scenario),
        },
    }
    metadata: Object = {"name": NAME, "labels": marks, "annotations": notes}
    return {"apiVersion": SET.api_version, "kind": SET.name, "metadata": metadata, "spec": spec}


def make_restart(scenario: Scenario) -> Object:
    """What becomes of an instance of which a container fails."""
    backoff = BACKOFF_SECONDS if scenario.restart != RECOVER_NONE else {}
    return {"type": scenario.restart, **backoff}


def _make_template(image: str) -> Object:
    template = make_template(image)
    template["metadata"]["labels"] = {OWNER: NAME}
    return template


def make_components(image: str, more: int) -> list[Object]:
    """A component of one pod, and a second one if it has pods."""
    template = _make_template(image)
    first = {"name": FIRST, "size": 1, "template": template}
    return [first, *([{"name": SECOND, "size": more, "template": template}] if more else [])]


def edit_template(wanted: Template) -> Object:
    """The template of all components after an edit."""
    template = _make_template(wanted.image)
    notes = {key: value for key, value in wanted.notes.items() if value is not None}
    template["metadata"]["annotations"] = notes
    if wanted.pick % 3 == CHANGES_MODE:
        template["spec"]["containers"][0]["env"] = [{"name": MODE, "value": wanted.image}]
    return template


def _write_template(scenario: Scenario, workload: Object, wanted: Template) -> Object:
    return _put(workload, template=edit_template(wanted))


def _put(workload: Object, **changes: object) -> Object:
    held = workload["spec"]["roleInstanceTemplate"]["components"]
    return {"roleInstanceTemplate": {"components": [{**each, **changes} for each in held]}}


def _write_size(workload: Object, size: int) -> Object:
    """Other pods of the second component, if there is one."""
    first, *others = workload["spec"]["roleInstanceTemplate"]["components"]
    grown = [{**each, "size": max(1, size)} for each in others]
    return {"roleInstanceTemplate": {"components": [first, *grown]}}


def _write_partition(workload: Object, partition: int) -> Object:
    held = min(partition, workload["spec"]["replicas"] - 1)
    return {"updateStrategy": {"partition": held}}


def _write_scale(workload: Object, count: int, pick: int) -> Object:
    """Other replicas; less than all may be held back."""
    partition = min(workload["spec"]["updateStrategy"].get("partition") or 0, count - 1)
    return {"replicas": count, "updateStrategy": {"partition": partition}}


EDITS = SpecEdits(_write_template, _write_size, _write_partition, _write_scale)


def list_free_names(scenario: Scenario, kind: Kind, pick: int) -> list[str]:
    """Names that pods would have, first that which was picked."""
    ((_, instances, _, more),) = read_roles(scenario.roles)
    names = [
        name
        for ordinal in range(instances)
        for name in (
            f"{NAME}-{ordinal}-{FIRST}-0",
            *(f"{NAME}-{ordinal}-{SECOND}-{index}" for index in range(more)),
        )
    ]
    start = pick % len(names)
    return [*names[start:], *names[:start]]
