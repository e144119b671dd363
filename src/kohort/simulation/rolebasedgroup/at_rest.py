"""
The objects and the status that a RoleBasedGroup must have at rest, from specs alone.

Instances of a role have the lowest ordinals, or none; then a partition keeps so many old ones,
whichever they are. Those below a partition may be old, and so may be one that cannot follow where
its policy forbids making it anew.
"""

from collections.abc import Iterator

import yaml

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.kept_units import list_hopeless
from kohort.simulation.checkers.truth import Truth, controller_of
from kohort.simulation.rolebasedgroup.carried import (
    amounts_of,
    find_carrier,
    list_carriers,
)
from kohort.simulation.rolebasedgroup.groups import (
    ORDINAL_MAX,
    AnyUnit,
    RoleUnit,
    is_kept_old,
    is_old,
    sort_units,
)
from kohort.simulation.rolebasedgroup.labels import (
    ADAPTER,
    CARRIERS,
    INSTANCE,
    LABELS,
    LEADERS,
    SET,
)
from kohort.simulation.rolebasedgroup.wishes import (
    carrier_of,
    count_wanted,
    find_service,
    has_ordinals,
    is_stateless,
    read_contents,
    read_role_policy,
    roles_of,
    rolling_of,
)
from kohort.simulation.scenario import NAME


def find_trouble(scene: Scene) -> str:
    """What is not as it was asked for; empty if all is."""
    workload = scene.truth.workload
    assert workload is not None
    for trouble in _list_troubles(scene.truth, workload):
        return trouble
    return ""


def _list_troubles(truth: Truth, workload: Object) -> Iterator[str]:
    spec, units = workload["spec"], sort_units(truth)
    if list_hopeless(truth):
        yield from _list_in_objects(truth, units)
        return
    wanted = count_wanted(truth, spec)
    for role in roles_of(spec):
        yield from _list_in_role(truth, role, units.get(role["name"], []), wanted[role["name"]])
    yield from _list_in_objects(truth, units)
    yield from _list_in_config(truth, wanted)
    yield from _list_in_adapters(truth, spec, wanted, units)
    yield from _list_in_status(workload, units)


def _list_in_role(truth: Truth, role: Object, own: list[AnyUnit], wanted: int) -> Iterator[str]:
    name, spec = role["name"], (truth.workload or {})["spec"]
    policy = read_role_policy(role, wanted)
    if role.get("replicas", 1) != wanted:
        yield f"role {name} says {role.get('replicas', 1)} replicas, not {wanted}"
    ordinals = [unit.ordinal for unit in own]
    is_right = ordinals == list(range(wanted))
    if carrier_of(role) and not has_ordinals(role):
        is_right = len(own) == wanted
    elif is_stateless(role):
        is_right = len(own) == wanted and all(n > ORDINAL_MAX for n in ordinals)
    if not is_right:
        yield f"role {name} has {ordinals}, {wanted} are wanted"
    if not all(unit.is_ready for unit in own):
        unready = [unit.ordinal for unit in own if not unit.is_ready]
        yield f"instances {unready} of role {name} do not serve"
    if not has_ordinals(role):
        own = sorted(own, key=lambda unit: not is_old(unit, spec))
    for unit in own[policy.partition :]:
        if is_old(unit, spec) and not is_kept_old(unit, spec):
            images = sorted({read_contents(pod) for pod in unit.pods})
            yield f"instance {unit.ordinal} of role {name} is old: {images}"
    yield from _list_in_carrier(truth, role, wanted)


def _list_in_carrier(truth: Truth, role: Object, wanted: int) -> Iterator[str]:
    """What the operator should have written for a role that another controller carries."""
    kind, carrier = carrier_of(role), find_carrier(truth, role)
    if kind is None:
        return
    if carrier is None:
        yield f"role {role['name']} has no {kind.name}"
        return
    if carrier["spec"].get("replicas", 1) != wanted:
        yield f"the {kind.name} of role {role['name']} asks for {carrier['spec'].get('replicas')}"
    if amounts_of(carrier) not in ({}, amounts := _read_amounts(role)):
        yield f"the {kind.name} of role {role['name']} has {amounts_of(carrier)}, not {amounts}"


def _read_amounts(role: Object) -> Object:
    """The units of a role that may be missing or extra in its rollout."""
    return {key: rolling_of(role).get(key) for key in ("maxUnavailable", "maxSurge")}


def _list_in_objects(truth: Truth, units: dict[str, list[AnyUnit]]) -> Iterator[str]:
    everything = [unit for own in units.values() for unit in own]
    found = [unit for unit in everything if isinstance(unit, RoleUnit)]
    pods = {pod["metadata"]["name"] for unit in everything for pod in unit.pods}
    if more := set(truth.objects[kinds.POD]) - pods:
        yield f"pods {sorted(more)} belong to no instance"
    if more := set(truth.objects[INSTANCE]) - {unit.instance["metadata"]["name"] for unit in found}:
        yield f"instances {sorted(more)} belong to no role"
    # Only pods of instances have labels of a place.
    moved = truth.marks.moved & {pod["metadata"]["uid"] for unit in found for pod in unit.pods}
    if out := [n for n, p in truth.objects[kinds.POD].items() if p["metadata"]["uid"] in moved]:
        yield f"pods {sorted(out)} have labels of another place"
    listed = roles_of((truth.workload or {})["spec"])
    sets = [role["name"] for role in listed if carrier_of(role) is None]
    names = [role["name"] for role in listed]
    services = {name for role in listed if (name := find_service(role))}
    for kind, asked in ((kinds.SERVICE, services), (SET, {f"{NAME}-{role}" for role in sets})):
        if set(truth.objects[kind]) != asked:
            yield f"{kind.plural} {sorted(truth.objects[kind])} for roles {names}"
    # A LeaderWorkerSet has StatefulSets of its own.
    parts = {o["metadata"]["uid"] for k in (LEADERS, kinds.POD) for o in truth.list_all(k)}
    carriers = {
        (kind.name, obj["metadata"]["name"])
        for kind in CARRIERS.values()
        for obj in truth.list_all(kind)
        if controller_of(obj) not in parts
    }
    if carriers != list_carriers(truth):
        yield f"carriers {sorted(carriers)}, not {sorted(list_carriers(truth))}"
    stored = {LABELS.stored_of(r) for r in truth.objects[kinds.CONTROLLER_REVISION].values()}
    if lost := {unit.revision for unit in found} - stored:
        yield f"instances are of revisions {sorted(lost)}, which are not stored"


def _list_in_config(truth: Truth, wanted: dict[str, int]) -> Iterator[str]:
    found = truth.objects[kinds.CONFIG_MAP].get(NAME)
    assert truth.workload is not None
    listed = roles_of(truth.workload["spec"])
    # Instances without ordinals have no addresses.
    addressed = {role["name"] for role in listed if has_ordinals(role)}
    wanted = {name: count for name, count in wanted.items() if name in addressed}
    if not wanted:
        if found is not None:
            yield "there is a ConfigMap, and no role with addresses"
        return
    if found is None:
        yield "there is no ConfigMap"
        return
    said = yaml.safe_load(found["data"]["config.yaml"])
    counts = {role: held["size"] for role, held in said["roles"].items()}
    if counts != wanted:
        yield f"the ConfigMap says {counts}, not {wanted}"


def _list_in_adapters(
    truth: Truth, spec: Object, wanted: dict[str, int], units: dict[str, list[AnyUnit]]
) -> Iterator[str]:
    scaled = [r["name"] for r in roles_of(spec) if (r.get("scalingAdapter") or {}).get("enable")]
    held = truth.objects[ADAPTER]
    if set(held) != {f"{NAME}-{role}" for role in scaled}:
        yield f"adapters {sorted(held)} for roles {scaled}"
        return
    for role in scaled:
        adapter = held[f"{NAME}-{role}"]
        status = adapter.get("status") or {}
        said = [
            adapter["spec"].get("replicas"),
            status.get("replicas"),
            status.get("readyReplicas"),
        ]
        count = sum(unit.is_ready for unit in units.get(role, ()))
        if said[1:] != [wanted[role], count] or not status.get("selector"):
            yield f"adapter {role} says {said}, not {wanted[role]} of which {count} serve"


def _list_in_status(workload: Object, units: dict[str, list[AnyUnit]]) -> Iterator[str]:
    status = workload.get("status") or {}
    if status.get("observedGeneration") != workload["metadata"]["generation"]:
        yield "the status is of an old generation"
    for said in status.get("roleStatuses") or ():
        own = units.get(said["name"], [])
        updated = sum(not is_old(unit, workload["spec"]) for unit in own)
        counts = [said[key] for key in ("replicas", "readyReplicas", "updatedReplicas")]
        if counts != [len(own), len(own), updated]:
            yield f"the status of role {said['name']} counts {counts}, {updated} are updated"
    if [s["name"] for s in status.get("roleStatuses") or ()] != [
        role["name"] for role in roles_of(workload["spec"])
    ]:
        yield "the status has other roles"
    true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    is_old_left = any(is_old(u, workload["spec"]) for own in units.values() for u in own)
    if true - ({"RollingUpdateInProgress"} if is_old_left else set()) != {"Ready"}:
        yield f"conditions {sorted(true)}"
