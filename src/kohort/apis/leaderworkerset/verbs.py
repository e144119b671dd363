"""
How users see a LeaderWorkerSet and act on it.

The API has no field to pause a rollout. A pause raises the partition and stores
the user's partition in an annotation, so that a release restores it.
"""

from kohort.apis.api import Settings, Snapshot, StoredRevision, UserVerbs
from kohort.apis.facts import Whole
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.leaderworkerset.read import own_revisions
from kohort.apis.leaderworkerset.revision import apply_revision
from kohort.apis.user_edits import HELD, put_at
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import Object, annotations_of

_PARTS = ("leaderWorkerTemplate", "networkConfig")
_POD_TEMPLATES = ("leaderTemplate", "workerTemplate")


def _carrier_of(lws: Object, settings: Settings) -> str:
    return annotations_of(lws).get(labels.CARRIER) or settings.carrier


def _list_revisions(snapshot: Snapshot) -> tuple[StoredRevision, ...]:
    return tuple(_read_revision(revision) for revision in own_revisions(snapshot))


def _read_revision(stored: Whole) -> StoredRevision:
    revision, metadata = stored.decode(), stored.metadata
    number = int(revision.get("revision", 0))
    # A revision in the history has lost its label; its name holds the key, too.
    named = metadata.name.removesuffix(f"-{number}").rpartition("-")[2]
    then = spec.spec_of(apply_revision({}, revision))
    return StoredRevision(
        number=number,
        key=metadata.labels.get(labels.REVISION) or named,
        name=metadata.name,
        created=metadata.creation_timestamp or "",
        content={part: then[part] for part in _PARTS if then.get(part) is not None},
        has_served=labels.SERVED in metadata.annotations,
    )


def _go_back(lws: Object, revision: StoredRevision, role: str) -> Object:
    kept = {key: value for key, value in spec.spec_of(lws).items() if key not in _PARTS}
    return {**lws, "spec": {**kept, **revision.content}}


def _hold(lws: Object, boundary: int, role: str) -> Object:
    remembered = str(spec.partition_of(lws))
    held = put_at(lws, remembered, "metadata", "annotations", HELD)
    return _partition(held, boundary)


def _release(lws: Object, role: str) -> Object:
    remembered = find_count(annotations_of(lws).get(HELD, ""))
    others = {key: value for key, value in annotations_of(lws).items() if key != HELD}
    released = put_at(lws, others, "metadata", "annotations")
    return _partition(released, remembered or 0)


def _finish(lws: Object, role: str) -> Object:
    return _partition(_release(lws, role) if _list_held(lws) else lws, 0)


def _list_held(lws: Object) -> tuple[str, ...]:
    return ("",) if HELD in annotations_of(lws) else ()


def _list_templates(lws: Object, role: str) -> dict[str, Object]:
    template = spec.template_of(lws)
    return {part: template[part] for part in _POD_TEMPLATES if template.get(part)}


def _count_pods(lws: Object, role: str) -> dict[str, int]:
    size = spec.size_of(lws)
    if spec.template_of(lws).get("leaderTemplate"):
        return {"leaderTemplate": 1, "workerTemplate": size - 1}
    return {"workerTemplate": size}


def _put_template(lws: Object, part: str, template: Object) -> Object:
    return put_at(lws, template, "spec", "leaderWorkerTemplate", part)


def _partition(lws: Object, value: int) -> Object:
    strategy = spec.spec_of(lws).get("rolloutStrategy") or {}
    rolling = {**spec.rollout_of(lws), "partition": value}
    changed = {"type": "RollingUpdate", **strategy, "rollingUpdateConfiguration": rolling}
    return put_at(lws, changed, "spec", "rolloutStrategy")


VERBS = UserVerbs(
    carrier_of=_carrier_of,
    list_revisions=_list_revisions,
    go_back=_go_back,
    hold=_hold,
    release=_release,
    finish=_finish,
    list_held=_list_held,
    list_templates=_list_templates,
    put_template=_put_template,
    count_pods=_count_pods,
)
