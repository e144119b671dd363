"""
The scenario of a seed for a RoleInstance by hand: what users make and edit, and the faults.

A scenario says the components as roles of a group are said (``a 1&2``): one pod of the first
component, and the pods of the second.

Its random streams are its own, and ``kohort sim run --apis rins`` draws from them.
"""

from dataclasses import replace

from kohort.cluster.objects import Kind, Object
from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import draw_swarm, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.instanceset.labels import OWNER
from kohort.simulation.instanceset.scenarios import edit_template, make_components, make_restart
from kohort.simulation.rolebasedgroup.labels import DRAIN, INSTANCE, RECOVER_NONE, RECREATE
from kohort.simulation.rolebasedgroup.scenarios import FIRST, SECOND, read_roles
from kohort.simulation.scenario import NAME, PODS, Scenario
from kohort.simulation.simulated_api import SpecEdits, Template

KINDS = ("Pod", "Pod", "RoleInstance", "RoleInstance", "ControllerRevision")
ROLES = ("a 1+0", "a 1&1", "a 1&1", "a 1&2")
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", "ControllerRevision")),
    "namesake": valued("namesake", ("Pod", "Pod"), 4.0, 20.0),
    "relabel": valued("relabel", ("Pod", "place")),
}
# One instance has no sets, no Services and no count; and it takes no orphaned pods over.
NEVER = (
    "scale-child",
    "restart-set",
    "set-image",
    "swap-set",
    "scale-role",
    "cost",
    "edit-service",
    "orphan",
)
DRAWN_EDITS = ("roll", "roll", "bad-roll", "fleeting-roll", "resize", "recreate")
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"rins/{seed}")
    scenario = Scenario(
        seed=seed,
        api="rins",
        groups=1,
        restart=choices.pick((RECREATE, RECREATE, RECOVER_NONE)),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=choices.pick(ROLES),
        drain=choices.pick((0, 0, 3)),
    )
    return focus(replace(scenario, faults=draw_swarm(choices, FAILURES, DRAWN_EDITS, _OWN)))


def make_workload(scenario: Scenario, is_first: bool = False) -> Object:
    """The object that a user makes."""
    ((_, _, _, more),) = read_roles(scenario.roles)
    notes = {DRAIN: str(scenario.drain)} if scenario.drain else {}
    return {
        "apiVersion": INSTANCE.api_version,
        "kind": INSTANCE.name,
        "metadata": {"name": NAME, "labels": {OWNER: NAME}, "annotations": notes},
        "spec": {
            "components": make_components("engine:1", more),
            "restartPolicyConfig": make_restart(scenario),
        },
    }


def _write_template(scenario: Scenario, workload: Object, wanted: Template) -> Object:
    template = edit_template(wanted)
    return {
        "components": [{**each, "template": template} for each in workload["spec"]["components"]]
    }


def _write_size(workload: Object, size: int) -> Object:
    """Other pods of the second component, if there is one."""
    first, *others = workload["spec"]["components"]
    return {"components": [first, *({**each, "size": max(1, size)} for each in others)]}


# It has neither a partition nor a count.
EDITS = SpecEdits(
    _write_template, _write_size, lambda workload, held: {}, lambda workload, count, pick: {}
)


def list_names(spec: Object) -> list[str]:
    """The names of the pods that a spec asks for."""
    return [
        f"{NAME}-{each['name']}-{index}"
        for each in spec["components"]
        for index in range(each.get("size", 1))
    ]


def list_free_names(scenario: Scenario, kind: Kind, pick: int) -> list[str]:
    """Names that pods would have, first that which was picked."""
    ((_, _, _, more),) = read_roles(scenario.roles)
    sizes = ((FIRST, 1), (SECOND, more))
    names = list_names({"components": [{"name": name, "size": size} for name, size in sizes]})
    start = pick % len(names)
    return [*names[start:], *names[:start]]
