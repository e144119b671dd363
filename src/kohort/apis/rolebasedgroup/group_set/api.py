"""The registration of RoleBasedGroupSet with the operator: its kinds and functions."""

from kohort.apis.api import AdmissionResult, Api, Key, Settings, Watched
from kohort.apis.references import Reference
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.admission.validation import validate_group_set
from kohort.apis.rolebasedgroup.admission.warnings import warn_group_set
from kohort.apis.rolebasedgroup.api import HOME, make_webhook
from kohort.apis.rolebasedgroup.conversions import convert
from kohort.apis.rolebasedgroup.definition import define_group_set
from kohort.apis.rolebasedgroup.group_set.children import Child, read_child
from kohort.apis.rolebasedgroup.group_set.read import list_names, read
from kohort.apis.rolebasedgroup.group_set.render import render
from kohort.apis.rolebasedgroup.group_set.report import list_events, write_status
from kohort.apis.rolebasedgroup.group_set.verbs import SET_VERBS
from kohort.apis.rolebasedgroup.open_fields import find_group_set_misfit
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, namespace_of
from kohort.cluster.permissions import Grant


def _owners(child: Child) -> tuple[Key, ...]:
    name = child.metadata.labels.get(labels.SET_NAME)
    return ((child.metadata.namespace, name),) if name else ()


def _find_policies(group_set: Object) -> tuple[Key, ...]:
    return tuple((namespace_of(group_set), name) for name in list_names(group_set))


def _judge(found: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    errors = tuple(validate_group_set(found, old))
    return AdmissionResult(errors=errors, warnings=tuple(warn_group_set(found)))


ROLE_BASED_GROUP_SET = Api(
    kind=labels.SET_KIND,
    short_name="rbgs",
    watched=(Watched(labels.KIND, read_child, labels.SET_NAME, _owners),),
    members=POD,
    read=read,
    render=render,
    write_status=write_status,
    list_events=list_events,
    references=(Reference(labels.POLICY, _find_policies),),
    webhooks=(make_webhook(labels.SET_KIND, define_group_set, _judge),),
    home=HOME,
    convert=convert,
    definitions=(define_group_set,),
    writes=(
        Grant(labels.KIND, ("get", "create", "patch", "delete")),
        Grant(labels.SET_KIND, ("update",), "finalizers"),
    ),
    verbs=SET_VERBS,
    find_open_misfit=find_group_set_misfit,
)
