"""
The facts of a RoleInstanceSet or a RoleInstance that belongs to no group: a group of one role.

The object itself takes the place of the set that a group would write for the role, so nothing is
written into its spec. A RoleInstance is read as a set of one instance, which is the object itself.
Its revision leaves out sizes and policies, as upstream's does, since they change no pod.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.gojson import drop_nulls
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.group_facts import read_failures_of, sort_revisions
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts, read_facts
from kohort.apis.rolebasedgroup.lost_revisions import find_lost
from kohort.apis.rolebasedgroup.objects.ports import ROLE_SCOPED
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.port_claims import list_claims, list_holders
from kohort.apis.rolebasedgroup.problems import FAILED_WORKLOAD, Problem, find_excess
from kohort.apis.rolebasedgroup.revision import (
    INSTANCE_HISTORY,
    find_current,
    find_newest,
    hash_set,
    write_set_data,
)
from kohort.apis.rolebasedgroup.role_facts import GroupFacts, RoleFacts, components_of
from kohort.apis.rolebasedgroup.role_ports import Holders, PortView, give_ports
from kohort.apis.rolebasedgroup.roles import (
    IN_PLACE_IF_POSSIBLE,
    STATELESS,
    as_int,
    as_map,
    as_objects,
)
from kohort.apis.rolebasedgroup.spec import GroupSpec, read_set_spec
from kohort.apis.rolebasedgroup.types import INSTANCE_TEMPLATE, write_typed
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.model.units import Line


class _Inputs(NamedTuple):
    """The cache key: the object without counts in its status, and its stored revisions."""

    body: bytes
    revisions: tuple[bytes, ...]
    hashes: tuple[str, ...] = ()  # of the revisions of pods; these two only for role-wide ports
    holders: Holders = ()


def find_facts(snapshot: Snapshot) -> GroupFacts:
    """The facts of a set or an instance, from the cache if no input has changed."""
    root = snapshot.root
    status = as_map(root.get("status"))
    body = {
        "apiVersion": root["apiVersion"],
        "kind": root["kind"],
        "metadata": {
            "name": name_of(root),
            "namespace": namespace_of(root),
            "uid": uid_of(root),
            "labels": labels_of(root),
            "annotations": annotations_of(root),
        },
        "spec": root.get("spec"),
        "status": {"currentRevision": status.get("currentRevision")},
    }
    stored = (*snapshot.all(CONTROLLER_REVISION), *find_lost(add_root(snapshot)))
    revisions = sorted(found.raw for found in stored)
    raw = orjson.dumps(body)
    if ROLE_SCOPED.encode() not in raw:
        return _make_facts(_Inputs(raw, tuple(revisions)))
    hashes = {pod.metadata.labels.get(labels.REVISION, "") for pod in snapshot.all(POD)}
    holders = list_holders(list_claims(snapshot))
    return _make_facts(_Inputs(raw, tuple(revisions), tuple(sorted(hashes)), holders))


@lru_cache(maxsize=1024)
def _make_facts(inputs: _Inputs) -> GroupFacts:
    root: Object = orjson.loads(inputs.body)
    is_set = root["kind"] == labels.INSTANCE_SET.name
    asked = _write_template(root if is_set else _as_set(root))
    role = replace(read_set_spec(asked), is_instance_gang=False)  # only groups have gangs
    spec = GroupSpec(roles=(role,), problems=tuple(_find_problems(root, asked)))
    wanted = asked if is_set else _without_policies(asked)
    owned = sort_revisions(inputs.revisions)[uid_of(root)]
    stored = tuple(revision for revision, _ in owned)
    same = find_current(stored, write_set_data(wanted))
    current = find_newest(stored, write_set_data(wanted))
    found = hash_set(wanted)
    target = same.name if same else names.revision_name(name_of(root), found)
    known = as_map(root.get("status")).get("currentRevision") or ""
    failures = read_failures_of(owned, current)
    facts = RoleFacts(
        objects=RoleContext(root, spec, role),
        instance_set=wanted,
        set_uid=uid_of(root),
        target=target,
        is_stored=current is not None,
        stored=stored,
        base=known if known != target and any(r.name == known for r in stored) else "",
        failures=failures.get(Line(0, role.name), ()),
    )
    told = tuple((role.name, short) for short in inputs.hashes)
    view = PortView(inputs.holders, told)
    return GroupFacts(
        group=root,
        spec=spec,
        roles=give_ports({role.name: facts}, {name_of(root): root}, view),
        delegated={},
        hash=same.hash if same else found,
        stored=stored,
        current=current,
    )


def _as_set(instance: Object) -> Object:
    """A RoleInstance as the set that it would be the only instance of."""
    grace = find_count(annotations_of(instance).get(labels.GRACE_PERIOD, ""))
    strategy: Object = {"type": IN_PLACE_IF_POSSIBLE, "maxUnavailable": 1}
    if grace is not None:
        strategy["inPlaceUpdateStrategy"] = {"gracePeriodSeconds": grace}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {labels.INSTANCE_NAME: name_of(instance)}},
        "roleInstanceTemplate": as_map(instance.get("spec")),
        "revisionHistoryLimit": INSTANCE_HISTORY,
        "updateStrategy": strategy,
    }
    return {**instance, "spec": spec}


def _write_template(asked: Object) -> Object:
    """The set with its template as Go writes it, so that it compares with stored revisions."""
    template = _without_group(as_map(asked["spec"].get("roleInstanceTemplate")))
    written = drop_nulls(write_typed(INSTANCE_TEMPLATE, template))
    return {**asked, "spec": {**asked["spec"], "roleInstanceTemplate": written}}


def _without_group(template: Object) -> Object:
    """The template without a group's name in labels of pods, by which the cache would omit them."""
    components: list[Object] = []
    for each in as_objects(template.get("components")):
        inner, kept = as_map(each.get("template")), each
        if labels.GROUP_NAME in labels_of(inner):
            marks = {k: v for k, v in labels_of(inner).items() if k != labels.GROUP_NAME}
            metadata = {**inner["metadata"], "labels": marks}
            kept = {**each, "template": {**inner, "metadata": metadata}}
        components.append(kept)
    return {**template, "components": components}


def _without_policies(asked: Object) -> Object:
    """The set of a RoleInstance with only the parts of its template that its pods are made from."""
    listed = as_objects(asked["spec"]["roleInstanceTemplate"].get("components"))
    components = [{k: v for k, v in each.items() if k != "size"} for each in listed]
    return {**asked, "spec": {**asked["spec"], "roleInstanceTemplate": {"components": components}}}


def _find_problems(root: Object, asked: Object) -> list[Problem]:
    """Why the operator cannot serve the object as it stands."""
    listed = as_objects(as_map(asked["spec"].get("roleInstanceTemplate")).get("components"))
    what = f"{root['kind']} {name_of(root)}"
    size = sum(max(0, as_int(each.get("size"), 1)) for each in listed)
    found = find_excess(what, max(1, as_int(root["spec"].get("replicas"), 1)), size)
    if size == 0:
        text = f"{what} has no component with pods; give it one with a template"
        found.append(Problem(FAILED_WORKLOAD, text))
    is_stateless = annotations_of(root).get(labels.INSTANCE_PATTERN) == STATELESS
    if is_stateless and len(name_of(root)) > names.STATELESS_MAX:
        text = f"{what} is stateless, so its name may have {names.STATELESS_MAX} characters at most"
        found.append(Problem(FAILED_WORKLOAD, text))
    return found


def with_revision(root: Object, facts: GroupFacts) -> RoleInstanceFacts:
    """
    A RoleInstance by itself, with the label and the template that a set would have written.

    Until the revision that the user asks for is stored, it has the last one that is: pods of that
    one which are ready prove that it has served.
    """
    (role,) = facts.roles.values()
    spec = _write_template(_as_set(root))["spec"]["roleInstanceTemplate"]
    revision = role.target
    if not role.is_stored and role.stored:
        revision = role.stored[-1].name
        spec = {**spec, "components": _with_sizes(role.find_template(revision) or {}, spec)}
    marks = {**labels_of(root), labels.REVISION: revision}
    metadata = {**root["metadata"], "labels": marks}
    return read_facts(orjson.dumps({**root, "metadata": metadata, "spec": spec}))


def _with_sizes(stored: Object, asked: Object) -> list[Object]:
    """The components of a stored template, which has no sizes, with the sizes asked for."""
    sizes = {each.get("name"): as_int(each.get("size"), 1) for each in components_of(asked)}
    return [{**each, "size": sizes.get(each.get("name"), 1)} for each in components_of(stored)]


def add_root(snapshot: Snapshot) -> Snapshot:
    """The snapshot of a set in which the set is a child as well, as the set of a group is."""
    held = (Whole(orjson.dumps(snapshot.root)),)
    return replace(snapshot, children={**snapshot.children, labels.INSTANCE_SET: held})
