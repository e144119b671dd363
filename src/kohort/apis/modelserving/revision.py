"""
Revisions: the parts of a template, the hash that names it, and the object that stores it.

Only the roles make a revision, without their counts and budgets: scaling rolls nothing. Upstream
hashes a dump of Go's memory, which no other program can repeat; we hash JSON with sorted keys, and
spell the hash the same way. So two templates are compared by content, never by their hashes: as Go
writes them, because upstream stored them so, and without the empty values that only Go prints.
Fields of a newer Kubernetes are kept, or a change of one would not roll.

A stored revision never changes. Upstream overwrites its own; a controller that reads one during
that write rolls to a template that no user asked for (kthena#841).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from kohort.apis.gojson import POD_SPEC, GoTypes, drop_nulls, write_bytes
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.spec import roles_of
from kohort.apis.revision_hash import hash_revision
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import (
    Object,
    annotations_of,
    find_controller,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
)

_CLEARED = ("replicas", "maxUnavailable", "partition")
_TEMPLATES = ("entryTemplate", "workerTemplate")
_METADATA = ("labels", "annotations")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_TYPES = GoTypes(keeps_more=True)
_CACHED_MAX = 1024


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    """The roles in a ControllerRevision, with the counts that groups of it last had."""

    revision: str
    number: int
    roles: list[Object]
    role_hashes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of pods, by role
    kept: Mapping[str, str] = field(default_factory=dict)  # by role: see kept_revisions


def normalise_role(role: Object) -> Object:
    """The content of one role, without counts, budgets and the empty values that Go prints."""
    found = {k: v for k, v in role.items() if k not in (*_CLEARED, *_TEMPLATES) and v is not None}
    for name in _TEMPLATES:
        if role.get(name) is not None:
            found[name] = _normalise_template(role[name])
    return found


def write_roles(roles: Iterable[Object]) -> bytes:
    """The content of roles as bytes: equal bytes mean the same template."""
    return b"[%b]" % b",".join(map(write_role, roles))


def write_role(role: Object) -> bytes:
    """The content of one role as bytes."""
    return _write_normal(orjson.dumps(role))


def hash_roles(roles: Iterable[Object], salt: int = 0) -> str:
    """Our name for a template; a salt gives another name for the same template."""
    data = write_roles(roles)
    return _hash(data + str(salt).encode() if salt else data)


def hash_role(role: Object) -> str:
    """Our name for the template of one role."""
    return _hash(write_role(role))


def find_template(revision: Object) -> StoredTemplate | None:
    """The roles in a ControllerRevision, wrapped as upstream does or bare; or None."""
    key = find_key(revision)
    data: Any = revision.get("data")
    if isinstance(data, dict):
        data = data.get("data")
    if not key or not isinstance(data, list) or not all(isinstance(r, dict) for r in data):
        return None
    hashes, kept, counts = _read_hashes(revision), _read_kept(revision), _read_counts(revision)
    roles = [{**r, "replicas": counts[r["name"]]} if r.get("name") in counts else r for r in data]
    return StoredTemplate(key, int(revision.get("revision") or 0), roles, hashes, kept)


def find_key(revision: Object) -> str:
    """The revision that an object stores: from its name, which no client can change."""
    owner = (find_controller(revision) or {}).get("name", "")
    key = name_of(revision).removeprefix(f"{owner}-") if owner else ""
    return key if key and key != name_of(revision) else labels_of(revision).get(labels.REVISION, "")


def is_forged(template: StoredTemplate, own: str) -> bool:
    """Whether another client stored a different template under our name for the current one."""
    return template.revision == own and hash_roles(template.roles) != own


def next_number(stored: Iterable[StoredTemplate]) -> int:
    """The number of a new revision: one above all others."""
    return 1 + max((template.number for template in stored), default=0)


def make_revision(
    serving: Object,
    revision: str,
    number: int,
    role_hashes: Mapping[str, Iterable[str]],
    kept: Mapping[str, str] | None = None,
) -> Object:
    """The ControllerRevision that stores the current template under this name.

    It lists the hashes that pods of each role may carry: an unchanged role keeps pods of older
    revisions, whose own ControllerRevisions are deleted. What the partitions of roles keep is noted
    where there are any.
    """
    roles = roles_of(serving)
    notes = {labels.KEPT_REVISIONS: write_kept(kept)} if kept else {}
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.name,
        "metadata": {
            "name": names.revision_name(name_of(serving), revision),
            "namespace": namespace_of(serving),
            "labels": {labels.NAME: name_of(serving), labels.REVISION: revision},
            "annotations": {
                labels.TEMPLATE_HASH: hash_roles(roles),
                labels.ROLE_HASHES: write_hashes(role_hashes),
                **notes,
            },
            "ownerReferences": [owner_reference(serving)],
        },
        "revision": number,
        "data": {"data": roles},
    }


def write_hashes(role_hashes: Mapping[str, Iterable[str]]) -> str:
    """Hashes by role, as an annotation holds them."""
    listed = {role: sorted(found) for role, found in role_hashes.items()}
    return orjson.dumps(listed, option=orjson.OPT_SORT_KEYS).decode()


def write_kept(kept: Mapping[str, str]) -> str:
    """Revisions by role, as an annotation holds them."""
    return orjson.dumps(dict(kept), option=orjson.OPT_SORT_KEYS).decode()


def count_roles(roles: Iterable[Object]) -> dict[str, int]:
    """The instances of each role in a group."""
    counts = ((str(role.get("name") or ""), role.get("replicas")) for role in roles)
    return {name: 1 if count is None else int(count) for name, count in counts}


def write_counts(counts: Mapping[str, int]) -> str:
    """Counts by role, as an annotation holds them."""
    return orjson.dumps(dict(counts), option=orjson.OPT_SORT_KEYS).decode()


def _read_hashes(revision: Object) -> dict[str, tuple[str, ...]]:
    found = _read_note(revision, labels.ROLE_HASHES)
    lists = {role: hashes for role, hashes in found.items() if isinstance(hashes, list)}
    return {role: tuple(map(str, hashes)) for role, hashes in lists.items()}


def _read_kept(revision: Object) -> dict[str, str]:
    found = _read_note(revision, labels.KEPT_REVISIONS)
    return {role: key for role, key in found.items() if isinstance(key, str)}


def _read_counts(revision: Object) -> dict[str, int]:
    found = _read_note(revision, labels.ROLE_REPLICAS)
    return {role: count for role, count in found.items() if type(count) is int and count >= 0}


def _read_note(revision: Object, key: str) -> dict[str, Any]:
    """An annotation of JSON by role; nothing if it is unreadable."""
    try:
        found: Any = orjson.loads(annotations_of(revision).get(key, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


# Every reconcile needs these, and templates seldom change.
@lru_cache(maxsize=_CACHED_MAX)
def _write_normal(role: bytes) -> bytes:
    return write_bytes(normalise_role(orjson.loads(role)))


_hash = lru_cache(maxsize=_CACHED_MAX)(hash_revision)


def _normalise_template(template: Object) -> Object:
    metadata = template.get("metadata") or {}
    kept = {name: metadata[name] for name in _METADATA if metadata.get(name)}
    spec = drop_nulls(_TYPES.write(POD_SPEC, template.get("spec")))
    for name in _CONTAINERS:
        for container in spec.get(name) or ():
            if container.get("resources") == {}:
                del container["resources"]
    return {**({"metadata": kept} if kept else {}), "spec": spec}
