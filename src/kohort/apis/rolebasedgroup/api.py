"""The registration of RoleBasedGroup with the operator: kinds, functions and webhooks."""

from collections.abc import Callable, Mapping
from typing import Any

from kohort.apis.api import AdmissionResult, Api, Key, Settings, Watched, Webhook
from kohort.apis.conversion import Define
from kohort.apis.definitions.shapes import shape_of
from kohort.apis.facts import Whole, read_node
from kohort.apis.home import Home
from kohort.apis.references import Reference
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.admission.discovery import add_discovery_mode
from kohort.apis.rolebasedgroup.admission.smaller_kinds import (
    validate_adapter,
    validate_instance_set,
    validate_policy,
)
from kohort.apis.rolebasedgroup.admission.validation import validate_group
from kohort.apis.rolebasedgroup.admission.warnings import warn_group, warn_instance_set
from kohort.apis.rolebasedgroup.config_facts import find_group, read_config
from kohort.apis.rolebasedgroup.conversions import convert
from kohort.apis.rolebasedgroup.definition import (
    DEFINITIONS,
    define_adapter,
    define_group,
    define_group_set,
    define_instance_set,
    define_policy,
    define_warmup,
)
from kohort.apis.rolebasedgroup.instance_facts import read_facts
from kohort.apis.rolebasedgroup.names import adapter_name
from kohort.apis.rolebasedgroup.objects.gangs import UPSTREAM
from kohort.apis.rolebasedgroup.open_fields import (
    find_group_misfit,
    find_group_set_misfit,
    find_instance_set_misfit,
)
from kohort.apis.rolebasedgroup.pod_facts import read_pod
from kohort.apis.rolebasedgroup.port_claims import find_shared
from kohort.apis.rolebasedgroup.read import read
from kohort.apis.rolebasedgroup.render import render
from kohort.apis.rolebasedgroup.report import list_events, list_projections, write_status
from kohort.apis.rolebasedgroup.set_actions import MANAGER
from kohort.apis.rolebasedgroup.spec import roles_of
from kohort.apis.rolebasedgroup.status import is_partial_group
from kohort.apis.rolebasedgroup.verbs import VERBS
from kohort.cluster.kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    NODE,
    POD,
    SERVICE,
    STATEFUL_SET,
)
from kohort.cluster.objects import Kind, Object, name_of, namespace_of
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address

_GANGS = "install the scheduler to place groups as gangs"
_LWS = "serve LeaderWorkerSets to let them carry roles"
HOME = Home(
    namespace="rbgs-system",
    lease="rbg-controller",
    prefix="rbgs",
    reporter="rbg-controller",
    field_manager=MANAGER,
    mutating="rbgs-mutating-webhook-configuration",
    validating="rbgs-validating-webhook-configuration",
)


def _owners(child: Any) -> tuple[Key, ...]:
    metadata = child.metadata
    name = metadata.labels.get(labels.GROUP_NAME)
    return ((metadata.namespace, name),) if name else ()


def _config_owners(child: Any) -> tuple[Key, ...]:
    name = find_group(child.metadata, getattr(child, "text", None))
    return ((child.metadata.namespace, name),) if name else ()


def _gang_owners(child: Any) -> tuple[Key, ...]:
    owners = child.metadata.owner_references
    is_of_instance = any(o.controller and o.kind == labels.INSTANCE.name for o in owners)
    return _owners(child) if is_of_instance else _config_owners(child)


def _watch_gangs(kind: Kind, remedy: str) -> Watched:
    return Watched(kind, Whole, "", _gang_owners, remedy)


def _find_profiles(group: Object) -> tuple[Key, ...]:
    named = [r for role in roles_of(group) for r in role.get("engineRuntimes") or ()]
    return tuple(("", str(runtime.get("profileName"))) for runtime in named)


def _find_policies(group: Object) -> tuple[Key, ...]:
    return ((namespace_of(group), name_of(group)),)


def _judge_group(group: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    adapters = {name_of(found): found for found in settings.list_beside(labels.ADAPTER)}
    errors = validate_group(group, old, adapters)
    return AdmissionResult(errors=tuple(errors), warnings=tuple(warn_group(group)))


def _complete_group(group: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    # The validating webhook refuses an object that does not fit its schema.
    misfit = shape_of(define_group, labels.KIND.version).find_misfit(group)
    return (
        AdmissionResult()
        if misfit or find_group_misfit(group)
        else AdmissionResult(add_discovery_mode(group))
    )


def _find_adapters(group: Object, settings: Settings) -> tuple[Address, ...]:
    """The adapters that may hold replicas of the group's roles."""
    scaled = [r for r in roles_of(group) if (r.get("scalingAdapter") or {}).get("enable") is True]
    named = (adapter_name(name_of(group), str(role.get("name"))) for role in scaled)
    return tuple(Address(labels.ADAPTER, namespace_of(group), name) for name in named)


def _judge_policy(policy: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    return AdmissionResult(errors=tuple(validate_policy(policy)))


def _judge_set(found: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    errors = tuple(validate_instance_set(found, old))
    return AdmissionResult(errors=errors, warnings=tuple(warn_instance_set(found)))


def _judge_adapter(adapter: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    return AdmissionResult(errors=tuple(validate_adapter(adapter)))


_OPEN_FIELDS: Mapping[Kind, Callable[[Object], str]] = {
    labels.KIND: find_group_misfit,
    labels.SET_KIND: find_group_set_misfit,
    labels.INSTANCE_SET: find_instance_set_misfit,
}


def _none(obj: Object) -> str:
    """Nothing: the definition names the type of every field."""
    return ""


def make_webhook(
    kind: Kind,
    define: Define,
    judge: Callable[[Object, Object | None, Settings], AdmissionResult],
    find_beside: Callable[[Object, Settings], tuple[Address, ...]] = lambda obj, settings: (),
) -> Webhook:
    """A validating webhook for creates and updates of a kind, named as upstream names it."""

    def find_misfit(obj: Object) -> str:
        return shape_of(define, kind.version).find_misfit(obj) or _OPEN_FIELDS.get(kind, _none)(obj)

    def handle(obj: Object, old: Object | None, settings: Settings) -> AdmissionResult:
        # An object that does not fit its schema is refused without further checks.
        misfit = find_misfit(obj)
        return AdmissionResult(refusal=misfit) if misfit else judge(obj, old, settings)

    def find_around(obj: Object, settings: Settings) -> tuple[Address, ...]:
        return () if find_misfit(obj) else find_beside(obj, settings)

    name = kind.name.lower()
    path = f"/validate-workloads-x-k8s-io-{kind.version}-{name}"
    operations = ("CREATE", "UPDATE")
    return Webhook(f"v{name}.kb.io", path, kind, operations, handle, find_beside=find_around)


_COMPLETE = Webhook(
    "mrolebasedgroup.kb.io",
    f"/mutate-workloads-x-k8s-io-{labels.KIND.version}-rolebasedgroup",
    labels.KIND,
    ("CREATE",),
    _complete_group,
    mutates=True,
)

_ALL = ("get", "create", "patch", "delete")
WRITES = (
    Grant(POD, _ALL),
    Grant(POD, ("patch",), "status"),
    Grant(SERVICE, _ALL),
    Grant(CONFIG_MAP, _ALL),
    Grant(CONTROLLER_REVISION, _ALL),
    Grant(labels.INSTANCE_SET, _ALL),
    Grant(labels.INSTANCE, _ALL),
    Grant(labels.ADAPTER, _ALL),
    Grant(DEPLOYMENT, _ALL),
    Grant(STATEFUL_SET, _ALL),
    Grant(labels.LEADER_WORKER_SET, _ALL),
    Grant(labels.POLICY, _ALL),
    *(Grant(kind, _ALL) for dialect in UPSTREAM for kind in dialect.kinds),
    Grant(labels.KIND, ("patch",)),
    Grant(labels.KIND, ("update",), "finalizers"),
    Grant(labels.INSTANCE_SET, ("update",), "finalizers"),
    Grant(labels.INSTANCE, ("update",), "finalizers"),
    Grant(labels.INSTANCE_SET, ("patch",), "status"),
    Grant(labels.INSTANCE, ("patch",), "status"),
    Grant(labels.ADAPTER, ("patch",), "status"),
)

ROLE_BASED_GROUP = Api(
    kind=labels.KIND,
    short_name="rbg",
    watched=(
        Watched(POD, read_pod, labels.GROUP_NAME, _owners),
        Watched(SERVICE, Whole, labels.GROUP_NAME, _owners),
        Watched(CONTROLLER_REVISION, Whole, labels.GROUP_NAME, _owners, is_remembered=True),
        Watched(labels.INSTANCE_SET, Whole, labels.GROUP_NAME, _owners),
        Watched(labels.INSTANCE, read_facts, labels.GROUP_NAME, _owners),
        Watched(DEPLOYMENT, Whole, labels.GROUP_NAME, _owners),
        Watched(STATEFUL_SET, Whole, labels.GROUP_NAME, _owners),
        Watched(labels.LEADER_WORKER_SET, Whole, labels.GROUP_NAME, _owners, _LWS, is_needed=False),
        Watched(labels.ADAPTER, Whole, labels.GROUP_NAME, _owners),
        Watched(CONFIG_MAP, read_config, "", _config_owners),
        *(
            Watched(kind, Whole, "", _gang_owners, _GANGS, is_needed=False)
            for dialect in UPSTREAM
            for kind in dialect.kinds
        ),
        Watched(NODE, read_node),
    ),
    members=POD,
    read=read,
    render=render,
    write_status=write_status,
    start_status=lambda root: {"roleStatuses": []},  # the API server refuses a status without it
    list_events=list_events,
    list_projections=list_projections,
    is_partial=is_partial_group,
    find_shared=find_shared,
    references=(
        Reference(labels.POLICY, _find_policies),
        Reference(labels.PROFILE, _find_profiles),
    ),
    webhooks=(
        _COMPLETE,
        make_webhook(labels.KIND, define_group, _judge_group, _find_adapters),
        make_webhook(labels.POLICY, define_policy, _judge_policy),
        make_webhook(labels.INSTANCE_SET, define_instance_set, _judge_set),
        make_webhook(labels.ADAPTER, define_adapter, _judge_adapter),
    ),
    convert=convert,
    home=HOME,
    # RoleBasedGroupSet and RoleBasedGroupWarmup are registered by their own packages.
    definitions=tuple(d for d in DEFINITIONS if d not in (define_group_set, define_warmup)),
    writes=WRITES,
    watch_gangs=_watch_gangs,
    deletes_gangs=True,
    verbs=VERBS,
    find_open_misfit=find_group_misfit,
)
