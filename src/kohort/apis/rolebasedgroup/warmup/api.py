"""The registration of RoleBasedGroupWarmup with the operator: its kinds and functions."""

from kohort.apis.api import Api, Key, Watched
from kohort.apis.facts import PodFacts, read_node, read_pod
from kohort.apis.references import Reference
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import HOME
from kohort.apis.rolebasedgroup.definition import define_warmup
from kohort.apis.rolebasedgroup.pod_facts import read_pod as read_role_pod
from kohort.apis.rolebasedgroup.warmup.read import read
from kohort.apis.rolebasedgroup.warmup.render import render
from kohort.apis.rolebasedgroup.warmup.report import (
    list_events,
    read_verdict,
    start_status,
    write_status,
)
from kohort.apis.rolebasedgroup.warmup.targets import find_group
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Object, namespace_of
from kohort.cluster.permissions import Grant


def _owners(pod: PodFacts) -> tuple[Key, ...]:
    metadata = pod.metadata
    owners = (o for o in metadata.owner_references if o.controller)
    return tuple((metadata.namespace, o.name) for o in owners if o.kind == labels.WARMUP.name)


def _find_groups(warmup: Object) -> tuple[Key, ...]:
    group = find_group(warmup)
    return ((namespace_of(warmup), group),) if group else ()


def _name_group(pod: PodFacts) -> tuple[Key, ...]:
    group = pod.metadata.labels.get(labels.GROUP_NAME)
    return ((pod.metadata.namespace, group),) if group else ()


ROLE_BASED_GROUP_WARMUP = Api(
    kind=labels.WARMUP,
    short_name="rbgwarmup",
    watched=(
        Watched(POD, read_pod, labels.WARMUP_NAME, _owners),
        Watched(NODE, read_node),
    ),
    members=POD,
    read=read,
    render=render,
    write_status=write_status,
    start_status=start_status,
    read_verdict=read_verdict,
    list_events=list_events,
    references=(
        # Read as groups read them, so that both share one watch.
        Reference(POD, _find_groups, read_role_pod, labels=labels.GROUP_NAME, names_of=_name_group),
    ),
    home=HOME,
    definitions=(define_warmup,),
    writes=(
        Grant(POD, ("get", "create", "delete")),
        Grant(labels.WARMUP, ("delete",)),
        Grant(labels.WARMUP, ("update",), "finalizers"),
    ),
)
