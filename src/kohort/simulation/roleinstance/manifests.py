"""
The RoleInstances that users of simulations make by hand, and how they edit them.

A scenario says the components as roles of a group are said (``a 1&2``): one pod of the first
component, and the pods of the second.
"""

from kohort.cluster.objects import Kind, Object
from kohort.simulation.instanceset.labels import OWNER
from kohort.simulation.instanceset.manifests import edit_template, make_components, make_restart
from kohort.simulation.rolebasedgroup.labels import DRAIN, INSTANCE
from kohort.simulation.rolebasedgroup.manifests import FIRST, SECOND, read_roles
from kohort.simulation.scenario import NAME, Scenario
from kohort.simulation.simulated_api import SpecEdits, Template


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
