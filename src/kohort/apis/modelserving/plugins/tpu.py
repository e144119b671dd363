"""
TPU slices of a role instance, for plugin `lws`: its pods are the hosts, its entry the leader.

Hosts are named after pods, within the subdomain that the pods have; one Service resolves them.
"""

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.plugins.subgroups import Placement, find_subgroup
from kohort.apis.modelserving.spec import RoleSpec
from kohort.apis.tpu import (
    HOSTS_MAX,
    SliceMember,
    needs_variables,
    requests_tpus,
    write_tpu_variables,
)
from kohort.cluster.objects import Object, annotations_of


def holds_tpus(role: RoleSpec) -> bool:
    """Whether pods of a role request TPUs."""
    templates = (role.entry_template, role.worker_template or {})
    return any(requests_tpus(template.get("spec") or {}) for template in templates)


def add_tpu_variables(
    pod: Object, placement: Placement, place: tuple[str, int, int], has_leader: bool
) -> Object:
    """The pod with the variables of its slice; ``place`` is its entry, the size, its index."""
    entry, size, index = place
    if index and has_leader:
        notes = {**annotations_of(pod), labels.LWS_LEADER_REQUESTS_TPUS: "true"}
        pod = {**pod, "metadata": {**pod["metadata"], "annotations": notes}}
    spec: Object = pod["spec"]
    if not needs_variables(spec):
        return pod
    if size > HOSTS_MAX:
        raise ValueError(f"{size} pods ask for TPUs, and at most {HOSTS_MAX} hosts can be listed")
    subgroup = find_subgroup(placement, size, index)
    if placement.subgroup_size and subgroup is None:
        raise ValueError("an entry that is in no subgroup cannot ask for TPUs")
    stem, subdomain = entry.removesuffix("-0"), spec.get("subdomain", "")
    member = SliceMember(
        leader=entry,
        index=index,
        size=size,
        has_leader=has_leader,
        host=lambda number: f"{stem}-{number}.{subdomain}",
        subgroup_size=placement.subgroup_size,
        subgroup=subgroup or 0,
    )
    found = {field: list(spec.get(field) or ()) for field in ("containers", "initContainers")}
    for (field, number), variables in write_tpu_variables(spec, member).items():
        container = found[field][number]
        given = container.get("env") or []
        named = {variable.get("name") for variable in given}
        added = [variable for variable in variables if variable["name"] not in named]
        found[field][number] = {**container, "env": [*given, *added]}
    return {**pod, "spec": {**spec, **{k: v for k, v in found.items() if v}}}
