"""
The steps of a takeover and of its undo, as pure decisions: a write, a wait, or a refusal.

Each step reads the observed state and the record, and returns one write at a time. Objects that a
write destroys are in the record that comes with the decision, which is stored before the write. A
step is done when the state is as it should be, even if an earlier run or another client made it so:
so a run after a kill goes on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kohort.apis.definitions.definition import MANAGED_BY
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object, labels_of, metadata_of
from kohort.controller.install.install import OURS, merge_metadata
from kohort.takeover.field_changes import list_wanted_changes
from kohort.takeover.record import Place, Record, place_of, strip

# An existing object of these kinds is used as it is, and never deleted.
_SHARED = ("Namespace", "Secret", "ServiceAccount", "CustomResourceDefinition")
_HOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


class Surprise(KohortError):
    """The cluster is not as a takeover expects it; nothing more is written."""


class TookTooLong(KohortError):
    """The condition that a step waits for did not come true in time."""


@dataclass(frozen=True, slots=True)
class SeenLease:
    """A lease of an API, and its holder."""

    name: str  # with its namespace
    holder: str = ""
    is_ours: bool = False  # a process of Kohort holds it
    is_held: bool = False  # some process holds it, and it has not expired


@dataclass(frozen=True, slots=True)
class Seen:
    """The observed state of the cluster."""

    objects: Mapping[Place, Object]
    pods: tuple[str, ...] = ()  # of the other controller, which have not ended
    own_pods: tuple[str, ...] = ()  # of our operator
    leases: tuple[SeenLease, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """The objects that should exist after the takeover."""

    hooks: tuple[Object, ...] = ()
    conversions: tuple[Object, ...] = ()  # definitions whose conversion calls our webhook
    manifests: tuple[Object, ...] = ()  # our operator; none: the user starts it
    may_replace: bool = True  # the manifests have the names of a controller that is taken over


@dataclass(frozen=True, slots=True)
class Write:
    """One write: an object to create or replace, or one to delete."""

    why: str
    record: Record  # stored first
    put: Object | None = None
    delete: Object | None = None
    scale: tuple[Object, int] | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait for a condition."""

    on: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """A refusal to continue, since that could do harm."""

    why: str


Decision = Write | Wait | Refuse | None  # None: the step is done
Decide = Callable[[Record, Seen, Wish], Decision]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its name, its description, and its decision."""

    name: str
    says: str
    decide: Decide = field(compare=False)


def is_ours(obj: Object) -> bool:
    """Whether an object was written by Kohort."""
    return labels_of(obj).get(MANAGED_BY) == OURS


def _replicas(obj: Object) -> int:
    found = (obj.get("spec") or {}).get("replicas")
    return 1 if found is None else int(found)


def _stop_other(record: Record, seen: Seen, wish: Wish) -> Decision:
    for other in record.deployments:
        live = seen.objects.get(other.place)
        if live is None or is_ours(live) or _replicas(live) == 0:
            continue
        if record.has_stopped:
            return Refuse(
                f"{other.place} was stopped and has replicas again: something scales it up, such "
                "as an autoscaler or GitOps; stop that first"
            )
        return Write(f"scale {other.place} to 0", record, scale=(live, 0))
    if seen.pods:
        # Also after it was seen stopped: it may have come back meanwhile and been stopped again.
        return Wait(f"the end of {list_names(seen.pods)}")
    if record.has_stopped:
        return None
    for lease in seen.leases:
        if lease.is_held and not lease.is_ours:
            return Wait(f"the lease {lease.name}, which {lease.holder} holds")
    return Write("note that it has stopped", replace(record, has_stopped=True))


def _swap_hooks(record: Record, seen: Seen, wish: Wish) -> Decision:
    decision = _bring(record, seen, wish.hooks, may_replace=True)
    if decision is not None:
        return decision
    wanted = {place_of(obj) for obj in wish.hooks}
    for place in record.hooks:
        live = seen.objects.get(place)
        if live is None or place in wanted or is_ours(live):
            continue
        return Write(f"remove {place}", _save(record, live), delete=live)
    return _point(record, seen, wish.conversions)


def _point(record: Record, seen: Seen, wanted: Iterable[Object]) -> Decision:
    """Point the conversions of definitions to our webhook."""
    for definition in wanted:
        live = seen.objects.get(place_of(definition))
        conversion = definition["spec"]["conversion"]
        if live is None or len(live["spec"].get("versions") or ()) < 2:
            continue
        held = live["spec"].get("conversion") or {}
        if not list_wanted_changes(held, conversion):
            continue
        known = {place_of(each) for each in record.conversions}
        kept = {**_identify(live), "spec": {"conversion": held}}
        if place_of(live) not in known:
            record = replace(record, conversions=(*record.conversions, kept))
        changed = {**live, "spec": {**live["spec"], "conversion": conversion}}
        return Write(f"let {place_of(live)} ask us for conversions", record, put=changed)
    return None


def _identify(obj: Object) -> Object:
    kept = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    return {**kept, "metadata": {"name": metadata_of(obj)["name"]}}


def _start_ours(record: Record, seen: Seen, wish: Wish) -> Decision:
    return _bring(record, seen, wish.manifests, may_replace=wish.may_replace)


def _bring(record: Record, seen: Seen, wanted: Sequence[Object], *, may_replace: bool) -> Decision:
    """Create or replace the first object that differs from the wanted one."""
    for obj in wanted:
        place = place_of(obj)
        live = seen.objects.get(place)
        if live is None:
            is_known = place in record.made or record.find_saved(place) is not None
            made = record.made if is_known else (*record.made, place)
            return Write(f"make {place}", replace(record, made=made), put=obj)
        if place.kind in _SHARED or _is_as_wanted(live, obj):
            continue
        if not is_ours(live) and not may_replace:
            return _refuse_foreign(place)
        kept = record if is_ours(live) else _save(record, live)
        if _is_fixed(live, obj):
            return Write(f"remove {place}, whose selector cannot be changed", kept, delete=live)
        return Write(f"replace {place}", kept, put=_lay_over(live, obj))
    return None


def find_foreign(seen: Seen, wish: Wish) -> Refuse | None:
    """Why our operator cannot be started here, before anything is stopped for it."""
    for place in map(place_of, wish.manifests):
        live = seen.objects.get(place)
        is_kept = live is None or is_ours(live) or place.kind in _SHARED
        if not is_kept and not wish.may_replace:
            return _refuse_foreign(place)
    return None


def find_installed(record: Record, seen: Seen, wish: Wish) -> Refuse | None:
    """Why an operator of ours that is installed already would be overwritten without a backup."""
    known = {*record.made, *map(place_of, record.saved)}
    for obj in wish.manifests:
        place = place_of(obj)
        live = seen.objects.get(place)
        is_left = live is None or place in known or place.kind in _SHARED or not is_ours(live)
        if not is_left and live is not None and not _is_as_wanted(live, obj):
            return Refuse(
                f"Kohort is installed here already, and its {place} is not as this takeover would "
                "write it: apply the output of 'kohort manifests' with all APIs that it is to "
                "serve when the other controller has stopped, and run this with "
                "--operator-running; or delete that install, and run this with all APIs (--apis)"
            )
    return None


def _refuse_foreign(place: Place) -> Refuse:
    return Refuse(
        f"{place} belongs to a controller that is not taken over: take it over as well (--apis), "
        "or start the operator yourself (--operator-running)"
    )


def _is_as_wanted(live: Object, wanted: Object) -> bool:
    if not is_ours(live) or list_wanted_changes(live, wanted):
        return False
    if live.get("kind") not in _HOOKS:
        return True
    named = [[hook["name"] for hook in obj.get("webhooks") or ()] for obj in (live, wanted)]
    return named[0] == named[1]


def _is_fixed(live: Object, wanted: Object) -> bool:
    """Whether a Deployment has another selector, which is immutable."""
    if live.get("kind") != "Deployment":
        return False
    return bool(live["spec"]["selector"] != wanted["spec"]["selector"])


def _lay_over(live: Object, wanted: Object) -> Object:
    """The wanted object as an update of the live one; a Service keeps its address."""
    laid = {**wanted, "metadata": merge_metadata(live, wanted)}
    if live.get("kind") == "Service":
        laid["spec"] = {**live["spec"], **wanted["spec"]}
    return laid


def _save(record: Record, live: Object) -> Record:
    if record.find_saved(place_of(live)) is not None:
        return record
    return replace(record, saved=(*record.saved, strip(live)))


def _stop_ours(record: Record, seen: Seen, wish: Wish) -> Decision:
    for place in (*record.made, *(place_of(obj) for obj in record.saved)):
        live = seen.objects.get(place) if place.kind == "Deployment" else None
        if live is not None and is_ours(live) and _replicas(live):
            return Write(f"scale {place} to 0", record, scale=(live, 0))
    if seen.own_pods:
        return Wait(f"the end of {list_names(seen.own_pods)}")
    for lease in seen.leases:
        if lease.is_held and lease.is_ours:
            return Wait(
                f"the lease {lease.name}, which {lease.holder} holds: stop that process of Kohort"
            )
    return None


def runs_other(record: Record, seen: Seen) -> bool:
    """Whether a Deployment of the other controller is not stopped."""
    lives = [seen.objects.get(other.place) for other in record.deployments]
    return any(live is not None and not is_ours(live) and _replicas(live) for live in lives)


def has_begun(record: Record, seen: Seen) -> bool:
    """Whether a recorded Deployment that had replicas has none now."""
    lives = [(other, seen.objects.get(other.place)) for other in record.deployments]
    return any(live is not None and other.replicas and not _replicas(live) for other, live in lives)


def _restore(record: Record, seen: Seen, wish: Wish) -> Decision:
    """Restore saved objects that no other client has written since."""
    for obj in record.saved:
        place = place_of(obj)
        # The other controller starts last, when all other objects are restored.
        wanted = {**obj, "spec": {**obj["spec"], "replicas": 0}} if _is_deployment(obj) else obj
        live = seen.objects.get(place)
        if live is None:
            return Write(f"make {place} again", record, put=wanted)
        if not is_ours(live):
            continue
        if _is_fixed(live, wanted):
            return Write(f"remove {place}, whose selector cannot be changed", record, delete=live)
        body: Object = {**wanted, "metadata": {**metadata_of(wanted), **_identity(live)}}
        return Write(f"put {place} back", record, put=body)
    for obj in record.conversions:
        live = seen.objects.get(place_of(obj))
        if live is not None and live["spec"].get("conversion") != obj["spec"]["conversion"]:
            changed = {**live, "spec": {**live["spec"], **obj["spec"]}}
            return Write(f"put the conversion of {place_of(obj)} back", record, put=changed)
    return None


def _identity(live: Object) -> Object:
    """The uid and resourceVersion that an update needs."""
    return {k: v for k, v in metadata_of(live).items() if k in ("uid", "resourceVersion")}


def _is_deployment(obj: Object) -> bool:
    return obj.get("kind") == "Deployment"


def _remove_made(record: Record, seen: Seen, wish: Wish) -> Decision:
    for place in reversed(record.made):
        live = seen.objects.get(place)
        if live is not None and is_ours(live) and place.kind not in _SHARED:
            return Write(f"remove {place}", record, delete=live)
    return None


def _start_other(record: Record, seen: Seen, wish: Wish) -> Decision:
    for other in record.deployments:
        live = seen.objects.get(other.place)
        if live is not None and not is_ours(live) and _replicas(live) == 0 and other.replicas:
            return Write(
                f"scale {other.place} to {other.replicas}", record, scale=(live, other.replicas)
            )
    for other in record.deployments:
        live = seen.objects.get(other.place)
        if live is None or is_ours(live) or other.replicas == 0:
            continue
        if not (live.get("status") or {}).get("availableReplicas"):
            return Wait(f"a pod of {other.place} that is available")
    return None


APPLY = (
    Step("stop", "stop the other controller", _stop_other),
    Step("webhooks", "let webhooks lead to us", _swap_hooks),
    Step("start", "start our operator", _start_ours),
)
UNDO = (
    Step("stop", "stop our operator", _stop_ours),
    Step("restore", "put back what was replaced", _restore),
    Step("remove", "remove what was made", _remove_made),
    Step("start", "start the other controller", _start_other),
)


def decide(steps: Sequence[Step], record: Record, seen: Seen, wish: Wish) -> tuple[Step, Decision]:
    """The first step that is not done, and its decision; at the end the last step and None."""
    for step in steps:
        decision = step.decide(record, seen, wish)
        if decision is not None:
            return step, decision
    return steps[-1], None


def list_names(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"
