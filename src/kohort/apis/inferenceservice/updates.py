"""
How an edit of a runtime, a model or an accelerator reaches the services that use it.

No serving pod restarts unless the service's user says so: an annotation on each workload holds a
hash of the service and one of the rendered spec. If the service is unchanged and the spec would
differ, the operator leaves the workload and all objects around it as they are, and a condition
tells the user how to update. So neither an edit of a shared runtime nor a new version of the
operator restarts a fleet. A workload that another controller made has no such annotation: it gets
one, and keeps its spec in the same way if ours would differ. A service without any ready pod is
updated at once, and so is one with the annotation ``kohort.dev/auto-update``.
"""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from kohort.apis.carriers.desired import find_changes
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.fields import read_object, read_objects, without
from kohort.apis.inferenceservice.kinds import WORKLOADS
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.objects import Kind, Object, annotations_of, encode_json, labels_of

_LENGTH = 12
_FORMER = "former"  # in place of the hash: the spec is that of a former controller
_SCALED = ("spec.replicas",)
_UNDIVIDED = [{"latestRevision": True, "percent": 100}]
# Annotations that tools write on a service do not count as an edit by its user.
_TOOLS = ("kubectl.kubernetes.io/", "argocd.argoproj.io/", "meta.helm.sh/", labels.AUTO_UPDATE)


def stamp_workloads(plan: ServicePlan) -> ServicePlan:
    """The plan with hashes of service and rendered spec in an annotation of each workload."""
    intent = hash_service(plan.service.obj)
    objects = tuple(
        replace(desired, objects=tuple(_stamp(obj, intent) for obj in desired.objects))
        if desired.kind in WORKLOADS
        else desired
        for desired in plan.objects
    )
    return replace(plan, objects=objects)


def find_held(
    plan: ServicePlan, existing: Existing, is_serving: bool
) -> frozenset[tuple[Kind, str]]:
    """Existing workloads that keep their spec, though the plan now has another spec or none."""
    follows = plan.service.annotations.get(labels.AUTO_UPDATE) == "true"
    if follows or not is_serving or plan.workload is None:
        return frozenset()
    return frozenset(_find_changed(plan, existing))


def is_moved(plan: ServicePlan, held: frozenset[tuple[Kind, str]]) -> bool:
    """Whether the plan no longer has one of the held workloads."""
    return any(plan.find(kind, name) is None for kind, name in held)


def _find_changed(plan: ServicePlan, existing: Existing) -> Iterator[tuple[Kind, str]]:
    intent = hash_service(plan.service.obj)
    for kind in WORKLOADS:
        for name, found in (existing.get(kind) or {}).items():
            held, rendered = _read_stamp(found)
            wanted = plan.find(kind, name) or {}
            if rendered in ("", _FORMER):
                if held in ("", intent) and _differs(wanted, found):
                    yield kind, name
            elif held == intent and _read_stamp(wanted)[1] != rendered:
                yield kind, name


def _differs(wanted: Object, found: Object) -> bool:
    """Whether the spec of a workload that a former controller made would change."""
    paths = find_changes(wanted, found, FIELD_MANAGER, _SCALED)
    return any(path.startswith("spec") for path in paths)


def write_former(plan: ServicePlan, found: Object) -> Object | None:
    """The annotation of a held workload that has none; None if it has one."""
    if _read_stamp(found)[0]:
        return None
    return {labels.RENDERED_FROM: f"{hash_service(plan.service.obj)}.{_FORMER}"}


def _stamp(obj: Object, intent: str) -> Object:
    value = f"{intent}.{_hash_spec(obj)}"
    notes = {**annotations_of(obj), labels.RENDERED_FROM: value}
    return {**obj, "metadata": {**obj["metadata"], "annotations": notes}}


def _read_stamp(obj: Object) -> tuple[str, str]:
    intent, _, rendered = annotations_of(obj).get(labels.RENDERED_FROM, "").partition(".")
    return intent, rendered


def hash_service(obj: Object) -> str:
    """A hash of the user's input in a service: spec, labels and annotations."""
    notes = {k: v for k, v in annotations_of(obj).items() if not k.startswith(_TOOLS)}
    return _hash([obj.get("spec"), labels_of(obj), notes])


def _hash_spec(obj: Object) -> str:
    """A hash of a workload's spec without replicas, which autoscalers own."""
    spec = without(read_object(obj, "spec"), "replicas")
    if obj.get("apiVersion") == kinds.KNATIVE_SERVICE.api_version:
        spec["traffic"] = _UNDIVIDED  # shares follow from the status, too, and restart no pod
    if obj.get("kind") == kinds.ROLE_BASED_GROUP.name:
        spec["roles"] = [without(role, "replicas") for role in read_objects(spec, "roles")]
    return _hash(spec)


def _hash(value: object) -> str:
    return sha256(encode_json(value, sort=True)).hexdigest()[:_LENGTH]
