"""
Errors in the placement that a LeaderWorkerSet asks for, and warnings about likely mistakes.

All these rules are ours alone, so an update is refused only for errors that it adds: an
object made under another controller, or before a flag changed, stays editable. Two gang
schedulers that hold back the pods of one group would wait for each other (lws#1075), so
a second one is refused.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.api import Settings
from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.gangs import requests_nothing
from kohort.apis.leaderworkerset.spec import (
    LEADER_READY,
    size_of,
    spec_of,
    startup_policy_of,
    template_of,
)
from kohort.apis.leaderworkerset.topology import (
    FIELD,
    find_topology,
)
from kohort.apis.topology import find_faults, find_noted, find_pack, read_pack
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object, annotations_of, labels_of

KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
_TOPOLOGY = f"spec.{FIELD}"
_NOTE = f"metadata.annotations.{labels.NETWORK_TOPOLOGY}"
_GANG = f"metadata.annotations.{labels.GANG}"
_TEMPLATES = ("leaderTemplate", "workerTemplate")
# Fields of pod templates and of the object that name gangs of Kubernetes' own.
_NATIVE_POD, _NATIVE_SET = "schedulingGroup", "scheduling"


def validate_placement(new: Object, old: Object | None, settings: Settings) -> list[FieldError]:
    """The rules about placement that a new object breaks, or an update newly breaks."""
    before = [] if old is None else list(_check(old, settings))
    return [error for error in _check(new, settings) if error not in before]


def _check(lws: Object, settings: Settings) -> Iterator[FieldError]:
    yield from _check_topology(lws)
    yield from _check_note(annotations_of(lws).get(labels.NETWORK_TOPOLOGY, ""))
    chosen = annotations_of(lws).get(labels.GANG, "")
    dialect = settings.find_dialect(chosen)
    if chosen not in ("", NONE) and dialect is None:
        known = ", ".join(f'"{name}"' for name in (*(d.name for d in settings.gangs), NONE))
        yield FieldError(FieldErrorType.NOT_SUPPORTED, _GANG, f"supported values: {known}", chosen)
    if dialect is not None:
        yield from _check_start(lws, dialect, settings)
        yield from _check_rivals(lws, dialect, settings)


def _check_topology(lws: Object) -> Iterator[FieldError]:
    topology = spec_of(lws).get(FIELD)
    for name, value, why in find_faults(topology) if topology is not None else ():
        yield FieldError(FieldErrorType.INVALID, f"{_TOPOLOGY}.{name}".rstrip("."), why, value)


def _check_note(text: str) -> Iterator[FieldError]:
    if not text:
        return
    noted = find_noted(text)
    if noted is None:
        yield FieldError(
            FieldErrorType.INVALID, _NOTE, "must be the JSON of a network topology", text
        )
        return
    for name, value, why in find_faults(noted):
        detail = f"{name} {why}".strip()
        yield FieldError(FieldErrorType.INVALID, _NOTE, detail, value)


def _check_start(lws: Object, dialect: Dialect, settings: Settings) -> Iterator[FieldError]:
    carrier = annotations_of(lws).get(labels.CARRIER) or settings.carrier
    if dialect.marks_first and carrier != labels.PODS:
        why = f"gangs of {dialect.name} need pods that we make ourselves: say {labels.PODS}"
        yield FieldError(FieldErrorType.FORBIDDEN, f"metadata.annotations.{labels.CARRIER}", why)
    if dialect.counts_all and startup_policy_of(lws) == LEADER_READY and size_of(lws) > 1:
        why = f"{dialect.name} waits for all pods of a group, and these would wait for their leader"
        yield FieldError(FieldErrorType.FORBIDDEN, "spec.startupPolicy", why)


def _check_rivals(lws: Object, dialect: Dialect, settings: Settings) -> Iterator[FieldError]:
    held = f"gangs of {dialect.name} are made for it, and two would wait for each other"
    way_out = f"take one away, or annotate {labels.GANG}: {NONE}"
    if KUEUE_QUEUE in labels_of(lws):
        # Even for gangs of Kueue: the label hands the set to Kueue's own integration.
        is_same = dialect.queue == KUEUE_QUEUE
        instead = "name the queue in an annotation of that key" if is_same else way_out
        why = f"Kueue would hold its pods, but {held}: {instead}"
        yield FieldError(FieldErrorType.FORBIDDEN, f"metadata.labels.{KUEUE_QUEUE}", why)
    if spec_of(lws).get(_NATIVE_SET) is not None:
        why = f"Kubernetes would hold its pods, but {held}: {way_out}"
        yield FieldError(FieldErrorType.FORBIDDEN, f"spec.{_NATIVE_SET}", why)
    others = {d.membership: d.name for d in settings.gangs if d.membership != dialect.membership}
    for part in _TEMPLATES:
        template = template_of(lws).get(part) or {}
        rival = _find_rival(template, others)
        if rival:
            why = f"it names a gang of {rival}, but {held}: {way_out}"
            yield FieldError(FieldErrorType.FORBIDDEN, f"spec.leaderWorkerTemplate.{part}", why)


def _find_rival(template: Object, others: dict[str, str]) -> str:
    named = {**labels_of(template), **annotations_of(template)}
    if (template.get("spec") or {}).get(_NATIVE_POD) is not None:
        return "Kubernetes"
    return next((others[key] for key in named if key in others), "")


def warn_placement(lws: Object, settings: Settings) -> Iterator[str]:
    """Warn about a topology that is valid and probably does not do what the user wants."""
    topology = find_topology(lws)
    if topology is None or find_faults(topology):
        return
    noted = find_pack(annotations_of(lws).get(labels.NETWORK_TOPOLOGY, ""))
    if noted is not None and noted != read_pack(topology):
        yield f"annotation {labels.NETWORK_TOPOLOGY} differs from {_TOPOLOGY}, which holds"
    if topology.get("highestTierAllowed") == 0:
        yield (
            f"{_TOPOLOGY}.highestTierAllowed: 0 means that all pods of a group must be on one "
            "node, or in one domain of tier 0 where the cluster has those; 1 or more is usual"
        )
    dialect = settings.find_dialect(annotations_of(lws).get(labels.GANG, ""))
    if dialect is None:
        yield f"{_TOPOLOGY} has no effect, since no gangs are made for this object"
        return
    yield from _warn_templates(lws, dialect)


def _warn_templates(lws: Object, dialect: Dialect) -> Iterator[str]:
    for part in _TEMPLATES:
        given: Any = template_of(lws).get(part)
        if given is None:
            continue
        path, spec = f"spec.leaderWorkerTemplate.{part}", given.get("spec") or {}
        named = spec.get("schedulerName")
        if named and dialect.scheduler and named != dialect.scheduler:
            yield (
                f"{path}: {named} is not told of {_TOPOLOGY}: say schedulerName "
                f"{dialect.scheduler}, or none"
            )
        elif dialect.skips_best_effort and requests_nothing(spec):
            yield (
                f"{path}: {dialect.name} does not place pods by topology that request nothing: "
                "give the containers requests"
            )
