"""
The registration of RoleInstanceSets and RoleInstances that belong to no RoleBasedGroup.

Those of a group bear its name as a label, and the group's own controller writes them; so labels
keep them out of the caches here. An object that has a controller is never a workload, whatever its
labels: another client may have removed them.
"""

from kohort.apis.api import Api, Key, Watched
from kohort.apis.facts import Meta, Whole, read_node
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import HOME, WRITES
from kohort.apis.rolebasedgroup.definition import define_instance, define_instance_set
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts, read_facts
from kohort.apis.rolebasedgroup.open_fields import find_instance_misfit, find_instance_set_misfit
from kohort.apis.rolebasedgroup.pod_facts import RolePod, read_pod
from kohort.apis.rolebasedgroup.port_claims import find_shared
from kohort.apis.rolebasedgroup.report import list_events
from kohort.apis.rolebasedgroup.roles import as_objects
from kohort.apis.rolebasedgroup.single_role.read import read_instance, read_set
from kohort.apis.rolebasedgroup.single_role.render import render_instance, render_set
from kohort.apis.rolebasedgroup.single_role.report import (
    list_instances,
    start_set_status,
    write_set_status,
    write_status,
)
from kohort.apis.rolebasedgroup.single_role.verbs import INSTANCE_VERBS, SET_VERBS
from kohort.cluster.kinds import CONTROLLER_REVISION, NODE, POD
from kohort.cluster.objects import Object
from kohort.cluster.permissions import Grant

_NO_GROUP = f"!{labels.GROUP_NAME}"
_PODS = f"{labels.INSTANCE_NAME},{_NO_GROUP}"
_REVISIONS = f"{labels.HASH},{_NO_GROUP}"
_CHILDREN = (POD, labels.INSTANCE, CONTROLLER_REVISION)


def _is_workload(root: Object) -> bool:
    owners = as_objects(root["metadata"].get("ownerReferences"))
    return not any(owner.get("controller") for owner in owners)


def _find_controller(metadata: Meta, kind: str) -> str:
    """The name of the object of this kind that controls a child."""
    owners = (o for o in metadata.owner_references if o.controller and o.kind == kind)
    return next((owner.name for owner in owners), "")


def _key(metadata: Meta, name: str) -> tuple[Key, ...]:
    return ((metadata.namespace, name),) if name else ()


def _stem(name: str) -> str:
    """A name without its last part: an ordinal, an identity or a hash."""
    return name.rpartition("-")[0]


def _set_of_instance(child: RoleInstanceFacts) -> tuple[Key, ...]:
    metadata, marks = child.metadata, child.metadata.labels
    if not metadata.controller and (labels.INSTANCE_INDEX in marks or labels.INSTANCE_ID in marks):
        return _key(metadata, _stem(metadata.name))  # an orphan, which the set adopts
    return _key(metadata, _find_controller(metadata, labels.INSTANCE_SET.name))


def _set_of_pod(pod: RolePod) -> tuple[Key, ...]:
    (key,) = _instance_of(pod) or (("", ""),)
    return _key(pod.metadata, _stem(key[1]))


def _set_of_revision(child: Whole) -> tuple[Key, ...]:
    metadata = child.metadata
    if not metadata.controller and labels.INSTANCE_NAME not in metadata.labels:
        return _key(metadata, _stem(metadata.name))
    return _key(metadata, _find_controller(metadata, labels.INSTANCE_SET.name))


def _instance_of(child: RolePod | Whole) -> tuple[Key, ...]:
    metadata = child.metadata
    if not metadata.controller:
        return _key(metadata, metadata.labels.get(labels.INSTANCE_NAME, ""))  # an orphan
    return _key(metadata, _find_controller(metadata, labels.INSTANCE.name))


def _read_revision(raw: bytes) -> Whole:
    """A ControllerRevision; of those of other kinds, such as StatefulSets, only the metadata."""
    found = Whole(raw)
    kinds = {owner.kind for owner in found.metadata.owner_references if owner.controller}
    if kinds - {labels.INSTANCE_SET.name, labels.INSTANCE.name}:
        found.raw = b"{}"
    return found


ROLE_INSTANCE_SET = Api(
    kind=labels.INSTANCE_SET,
    short_name="ris",
    selector=_NO_GROUP,
    is_workload=_is_workload,
    watched=(
        Watched(POD, read_pod, _PODS, _set_of_pod),
        Watched(labels.INSTANCE, read_facts, _NO_GROUP, _set_of_instance),
        Watched(
            CONTROLLER_REVISION,
            _read_revision,
            _REVISIONS,
            _set_of_revision,
            is_remembered=True,
        ),
        Watched(NODE, read_node),
    ),
    members=POD,
    read=read_set,
    render=render_set,
    write_status=write_set_status,
    start_status=start_set_status,
    list_events=list_events,
    list_projections=list_instances,
    find_shared=find_shared,
    has_condition_generations=False,
    home=HOME,
    definitions=(define_instance_set, define_instance),
    writes=(
        *(grant for grant in WRITES if grant.kind in _CHILDREN),
        Grant(labels.INSTANCE_SET, ("patch",)),
    ),
    verbs=SET_VERBS,
    find_open_misfit=find_instance_set_misfit,
)

ROLE_INSTANCE = Api(
    kind=labels.INSTANCE,
    short_name="rins",
    selector=f"{_NO_GROUP},!{labels.INSTANCE_INDEX},!{labels.INSTANCE_ID}",
    is_workload=_is_workload,
    watched=(
        Watched(POD, read_pod, _PODS, _instance_of),
        Watched(
            CONTROLLER_REVISION,
            _read_revision,
            f"{labels.INSTANCE_NAME},{_REVISIONS}",
            _instance_of,
            is_remembered=True,
        ),
        Watched(NODE, read_node),
    ),
    members=POD,
    read=read_instance,
    render=render_instance,
    write_status=write_status,
    list_events=list_events,
    find_shared=find_shared,
    has_condition_generations=False,
    home=HOME,
    definitions=(define_instance,),
    writes=(
        *(g for g in WRITES if g.kind in (POD, CONTROLLER_REVISION)),
        Grant(labels.INSTANCE, ("patch",)),
    ),
    verbs=INSTANCE_VERBS,
    find_open_misfit=find_instance_misfit,
)
