"""
Revisions of sets that another client deleted while instances or pods have them.

An instance that waits for its in-place update is compared with the template that it has, and one
that a partition keeps comes back from it. The uses are those for which the history keeps a revision
beyond its limit, so that what is made again here is not deleted there.

A revision is made again from the last copy of the cache. Where there is none, since no operator ran
at that moment, an instance of it has its template, with a label or two more; that the template is
the one is proved by its hash, which is the name of the revision.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.drift import lost_revisions
from kohort.apis.facts import Meta, Whole
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.instances import list_templates
from kohort.apis.rolebasedgroup.revision import (
    hash_set,
    make_set_revision,
    next_number,
    read_revision,
)
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object

_Owned = tuple[str, str]  # the uid of a set and the hash of a revision


def find_lost(snapshot: Snapshot) -> tuple[Whole, ...]:
    """The deleted revisions of existing sets that instances or pods of the role still have."""
    copies = _find_copies(snapshot)
    return (*copies, *_rebuild(snapshot, copies))


def _find_copies(snapshot: Snapshot) -> tuple[Whole, ...]:
    deleted: tuple[Whole, ...] = snapshot.deleted.get(CONTROLLER_REVISION, ())
    if not deleted:
        return ()
    sets = (found.metadata for found in snapshot.all(labels.INSTANCE_SET))
    uids = {metadata.uid for metadata in sets if not metadata.is_leaving}
    last = {
        stored.metadata.name: stored for stored in deleted if stored.metadata.controller in uids
    }
    for stored in snapshot.all(CONTROLLER_REVISION):
        last.pop(stored.metadata.name, None)
    staying = (bearer for bearer in list_bearers(snapshot) if last and not bearer.is_leaving)
    used = {_find_key(bearer, bearer.labels[labels.REVISION]) for bearer in staying}
    return tuple(s for name, s in last.items() if _find_key(s.metadata, name) in used)


def make_again(snapshot: Snapshot, without: Iterable[str] = ()) -> Iterator[Create]:
    """Create lost revisions as they were; ``without``: names of those that are made elsewhere."""
    left = [s for s in find_lost(snapshot) if s.metadata.name not in set(without)]
    return lost_revisions.make_again((s.metadata.name, s) for s in left)


def list_bearers(snapshot: Snapshot) -> Iterator[Meta]:
    """The instances and the pods that bear the hash of a revision of a set."""
    for kind in (labels.INSTANCE, POD):
        for found in snapshot.all(kind):
            if labels.REVISION in found.metadata.labels:
                yield found.metadata


def _find_key(metadata: Meta, revision: str) -> tuple[str, str]:
    return metadata.labels.get(labels.ROLE_NAME, ""), names.short_revision(revision)


def _rebuild(snapshot: Snapshot, copies: Iterable[Whole]) -> Iterator[Whole]:
    """Revisions of which there is no copy, from instances that have them."""
    stored = (*snapshot.all(CONTROLLER_REVISION), *copies)
    known = {(s.metadata.controller, names.short_revision(s.metadata.name)) for s in stored}
    missing: dict[_Owned, list[RoleInstanceFacts]] = {}
    for instance in snapshot.all(labels.INSTANCE):
        metadata = instance.metadata
        key = metadata.controller, names.short_revision(metadata.labels.get(labels.REVISION, ""))
        if key[0] and key[1] and key not in known and not metadata.is_leaving:
            missing.setdefault(key, []).append(instance)
    for found in snapshot.all(labels.INSTANCE_SET) if missing else ():
        if not found.metadata.is_leaving:
            yield from _rebuild_of(found, stored, missing)


def _rebuild_of(
    found: Whole, stored: Iterable[Whole], missing: dict[_Owned, list[RoleInstanceFacts]]
) -> Iterator[Whole]:
    """The missing revisions of one set; their numbers are below that of its newest."""
    uid = found.metadata.uid
    asked = {short: held for (owner, short), held in sorted(missing.items()) if owner == uid}
    owned = [s.decode() for s in stored if asked and s.metadata.controller == uid]
    read = [revision for revision in map(read_revision, owned) if revision is not None]
    taken = {revision.number for revision in read}
    instance_set = found.decode() if asked else {}
    # The template that is asked for now is stored as that of any set; an orphan is adopted.
    others = {s.metadata.name for s in stored}
    for short, held in asked.items():
        is_there = names.revision_name(found.metadata.name, short) in others
        is_target = is_there or short == hash_set(instance_set)
        template = None if is_target else _find_template(held, short)
        if template is not None:
            lower = (n for n in range(max(taken, default=0) - 1, -1, -1) if n not in taken)
            number = next(lower, 0) if taken else next_number(read)
            taken.add(number)
            yield Whole(_write(instance_set, template, number))


def _find_template(instances: Iterable[RoleInstanceFacts], short: str) -> Object | None:
    found = (_read_template(instance.raw, short) for instance in instances)
    return next((template for template in found if template is not None), None)


@lru_cache(maxsize=1024)
def _read_template(raw: bytes, short: str) -> Object | None:
    """The template that an instance was made from; None if nothing in it has that hash."""
    listed = list_templates(orjson.loads(raw))
    return next((t for t in listed if hash_set(_of_template({}, t)) == short), None)


def _of_template(instance_set: Object, template: Object) -> Object:
    """The set as if it had this template."""
    spec = {**instance_set.get("spec", {}), "roleInstanceTemplate": template}
    return {**instance_set, "spec": spec}


def _write(instance_set: Object, template: Object, number: int) -> bytes:
    whole = _of_template(instance_set, template)
    kind = labels.INSTANCE_SET
    whole = {**whole, "apiVersion": kind.api_version, "kind": kind.name}
    return orjson.dumps(make_set_revision(whole, number))
