"""
What we add to pod templates for placement, beyond what the user wrote.

If the user asks for a topology and no template names a scheduler, all templates get that of
the gangs' dialect. If one template names a scheduler, the user has a reason, and we add none.
Some dialects read the topology from the pods: then templates carry it as an annotation.
None of this is part of a revision, so taking over a set from upstream does not roll it.
"""

import orjson

from kohort.apis.api import Settings
from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.gangs import choose_dialect
from kohort.apis.leaderworkerset.spec import pod_specs_of, spec_of, template_of
from kohort.apis.leaderworkerset.topology import find_topology
from kohort.apis.topology import read_pack
from kohort.cluster.objects import Object, annotations_of, labels_of

DEFAULT_SCHEDULER = "default-scheduler"
_TEMPLATES = ("leaderTemplate", "workerTemplate")


def place_templates(lws: Object, settings: Settings) -> Object:
    """The object with scheduler and annotations in its templates; unchanged parts are shared."""
    dialect = choose_dialect(lws, settings)
    if dialect is None:
        return lws
    notes = _find_notes(lws, dialect) if dialect.writes_pod_topology else {}
    scheduler = "" if _names_scheduler(lws) or not _is_packed(lws) else dialect.scheduler
    if not notes and not scheduler:
        return lws
    template = template_of(lws)
    told = {
        part: _annotate(template[part], notes, scheduler)
        for part in _TEMPLATES
        if template.get(part)
    }
    return {**lws, "spec": {**spec_of(lws), "leaderWorkerTemplate": {**template, **told}}}


def end_scheduler(lws: Object, wanted: Object, found: Object, settings: Settings) -> None:
    """Remove our schedulerName from the template when the user has turned topology or gangs off."""
    named = found["spec"].get("schedulerName")
    is_ours = any(named == dialect.scheduler for dialect in settings.gangs if dialect.scheduler)
    is_ended = not _is_packed(lws) or annotations_of(lws).get(labels.GANG) == NONE
    if is_ours and is_ended and not wanted["spec"].get("schedulerName"):
        wanted["spec"]["schedulerName"] = DEFAULT_SCHEDULER


def _is_packed(lws: Object) -> bool:
    return read_pack(find_topology(lws)) is not None


def _names_scheduler(lws: Object) -> bool:
    return any(spec.get("schedulerName") for spec in pod_specs_of(lws))


def _find_notes(lws: Object, dialect: Dialect) -> dict[str, str]:
    notes = {}
    queue = dialect.find_queue(labels_of(lws), annotations_of(lws))
    if queue:
        notes[dialect.queue] = queue
    # Where gangs are objects, these hold the topology, and templates need no annotation.
    if _is_packed(lws) and not dialect.kinds:
        notes[labels.NETWORK_TOPOLOGY] = orjson.dumps(find_topology(lws)).decode()
    return notes


def _annotate(template: Object, notes: dict[str, str], scheduler: str) -> Object:
    metadata = template.get("metadata") or {}
    told: Object = {**template}
    if notes:
        told["metadata"] = {**metadata, "annotations": {**annotations_of(template), **notes}}
    if scheduler:
        told["spec"] = {**(template.get("spec") or {}), "schedulerName": scheduler}
    return told
