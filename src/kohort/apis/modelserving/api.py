"""The ModelServing API, as a value for the controller, for both of its API groups."""

from collections.abc import Callable
from typing import Any

from kohort.apis.api import AdmissionResult, Api, Key, Settings, Watched, Webhook
from kohort.apis.definitions.shapes import shape_of
from kohort.apis.facts import Whole, read_node
from kohort.apis.gangs.dialect import NONE
from kohort.apis.gangs.dialects.volcano import POD_GROUP, VOLCANO
from kohort.apis.home import Home
from kohort.apis.losses import Loss, Remaining
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.admission.validation import (
    check_namesake,
    validate_serving,
    write_refusal,
)
from kohort.apis.modelserving.admission.warnings import warn_serving
from kohort.apis.modelserving.definition import define_alias, define_model_serving
from kohort.apis.modelserving.events import REPORTER
from kohort.apis.modelserving.objects.gangs import choose_dialect
from kohort.apis.modelserving.objects.instances import PodPlace
from kohort.apis.modelserving.plugins.known import load_registry
from kohort.apis.modelserving.pod_facts import ServingPod, find_serving, read_pod
from kohort.apis.modelserving.read import read
from kohort.apis.modelserving.render import render
from kohort.apis.modelserving.report import list_events, start_status, write_status
from kohort.apis.modelserving.spec import DEFAULT_SCHEDULER
from kohort.apis.modelserving.verbs import VERBS
from kohort.cluster.fields import FieldError
from kohort.cluster.kinds import CONTROLLER_REVISION, NODE, POD, SERVICE
from kohort.cluster.objects import Kind, Object, annotations_of, name_of, namespace_of
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address

HOME = Home(
    namespace="kthena-system",
    lease="lease.kthena.controller-manager",
    prefix="kthena-controller-manager",
    reporter=REPORTER,
    field_manager="kohort-modelserving",
    mutating="kthena-controller-manager-mutating-webhook",
    validating="kthena-controller-manager-validating-webhook",
    deployment="kthena-controller-manager",
)
_PATH = "validate-workload-ai-v1alpha1-modelserving"
_INSTALL = "install Volcano to place groups as gangs"


def _owners(child: Any) -> tuple[Key, ...]:
    metadata = child.metadata
    name = find_serving(metadata)
    return ((metadata.namespace, name),) if name else ()


def _find_lost(pod: ServingPod, remaining: Remaining) -> Loss | None:
    """The instance that a deleted worker belonged to, if its entry still exists."""
    place, metadata = pod.place, pod.metadata
    if place is None:
        return None
    serving = find_serving(metadata)
    if place.index == 0:
        return _find_bereft(pod, place, remaining)
    entry = names.entry_name(serving, place.group, place.role, place.instance)
    found = remaining.find(POD, (metadata.namespace, entry))
    if found is None or found.metadata.controller != metadata.controller:
        return None
    noted = metadata.annotations.get(labels.ENTRY_UID)
    if noted not in (None, found.metadata.uid):
        return None
    return Loss((metadata.namespace, serving), found.metadata.uid)


def _find_bereft(pod: ServingPod, place: PodPlace, remaining: Remaining) -> Loss | None:
    """A pod of the group that an entry has left, if the group has other instances."""
    key = (pod.metadata.namespace, find_serving(pod.metadata))
    others = [
        other.metadata
        for other in remaining.list_members(key)
        if other.place is not None
        and other.place.group == place.group
        and (other.place.role, other.place.instance) != (place.role, place.instance)
        and other.metadata.controller == pod.metadata.controller
    ]
    if not others:
        return None
    return Loss(key, min(others, key=lambda each: each.name).uid, is_passing=True)


def _validate(serving: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    shape = shape_of(define_model_serving, labels.KIND.version)
    if misfit := shape.find_misfit({**serving, "apiVersion": labels.KIND.api_version}):
        return AdmissionResult(refusal=misfit)
    dialects = tuple(dialect.name for dialect in settings.gangs)
    errors = [
        *validate_serving(serving, old, load_registry(), dialects),
        *(_check_namesakes(serving, settings) if old is None else ()),
    ]
    warnings = tuple(warn_serving(serving, old, has_gangs=_may_have_gangs(serving, settings)))
    return AdmissionResult(refusal=write_refusal(errors), warnings=warnings)


def _may_have_gangs(serving: Object, settings: Settings) -> bool:
    """Whether the operator makes gangs for an object, or its user wants none.

    Volcano needs no flag: a webhook cannot know whether a cluster that is not ours has it.
    """
    known = settings.gangs or (() if settings.lacks_gangs else (VOLCANO,))
    is_unwanted = annotations_of(serving).get(labels.GANG) == NONE
    return is_unwanted or choose_dialect(serving, known) is not None


def _check_namesakes(serving: Object, settings: Settings) -> list[FieldError]:
    return [error for other in settings.beside for error in check_namesake(serving, other)]


def _find_namesake(serving: Object, settings: Settings) -> tuple[Address, ...]:
    """The address of the object of this name in the other API group."""
    is_alias = serving.get("apiVersion") == labels.ALIAS_KIND.api_version
    kind = labels.KIND if is_alias else labels.ALIAS_KIND
    return (Address(kind, namespace_of(serving), name_of(serving)),)


# A create of an existing name reads that object; pods are patched when counts change, and
# edits of other clients are undone.
WRITES = (
    Grant(POD, ("get", "create", "patch", "delete")),
    Grant(SERVICE, ("get", "create", "patch", "delete")),
    Grant(CONTROLLER_REVISION, ("get", "create", "patch", "delete")),
    Grant(POD_GROUP, ("get", "create", "patch", "delete")),
)


def _watch_gangs(kind: Kind, remedy: str) -> Watched:
    return Watched(kind, Whole, labels.NAME, _owners, remedy, is_needed=False)


def _make(kind: Kind, define: Callable[[], Object], short_name: str, suffix: str) -> Api:
    webhook = Webhook(
        f"{_PATH}{suffix}.volcano.sh",
        f"/{_PATH}{suffix}",
        kind,
        ("CREATE", "UPDATE"),
        _validate,
        find_beside=_find_namesake,
    )
    return Api(
        kind=kind,
        short_name=short_name,
        watched=(
            Watched(POD, read_pod, labels.NAME, _owners),
            Watched(SERVICE, Whole, labels.NAME, _owners),
            Watched(CONTROLLER_REVISION, Whole, labels.NAME, _owners, is_remembered=True),
            Watched(POD_GROUP, Whole, labels.NAME, _owners, _INSTALL, is_needed=False),
            Watched(NODE, read_node),
        ),
        members=POD,
        find_lost=_find_lost,
        read=read,
        render=render,
        write_status=write_status,
        start_status=start_status,
        list_events=list_events,
        webhooks=(webhook,),
        definitions=(define,),
        home=HOME,
        scheduler=DEFAULT_SCHEDULER,
        writes=(*WRITES, Grant(kind, ("update",), "finalizers")),
        verbs=VERBS,
        watch_gangs=_watch_gangs,
        deletes_gangs=True,
    )


MODEL_SERVING = _make(labels.KIND, define_model_serving, "ms", "")
FORMER_MODEL_SERVING = _make(labels.ALIAS_KIND, define_alias, "ms-former", "-former")
