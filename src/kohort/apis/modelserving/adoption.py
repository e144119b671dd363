"""
Adoption: the revision name of a template that another controller has already named.

We cannot recompute upstream's names, and ours may change with the types of Kubernetes. So the
name that pods carry stays in force as long as the template equals the one stored under that name:
a takeover restarts no pod. A template that differs is a real change and gets a name of ours.
Labels of running pods are never rewritten to look current.

In a rollout by role, upstream stores no revision and leaves its old label on roles that did not
change. There we trust a status that reports the rollout as finished (kthena stores nothing else).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.revision import (
    StoredTemplate,
    hash_role,
    hash_roles,
    write_role,
    write_roles,
)
from kohort.apis.modelserving.spec import ROLE_ROLLING, read_spec, roles_of
from kohort.cluster.objects import Object, metadata_of


@dataclass(frozen=True, slots=True)
class PodMark:
    """The labels of a pod that tell which template it was made from."""

    group: str
    role: str
    revision: str
    role_hash: str = ""  # pods of an early upstream have none


def read_mark(marks: Mapping[str, str]) -> PodMark:
    """The labels of a pod that tell its template."""
    keys = (labels.GROUP_NAME, labels.ROLE, labels.REVISION, labels.ROLE_TEMPLATE_HASH)
    return PodMark(*(marks.get(key, "") for key in keys))


@dataclass(frozen=True, slots=True)
class TargetRevision:
    """The revision of the current template, and which pods count as made from it."""

    revision: str
    is_stored: bool  # whether a ControllerRevision of that name holds this template
    role_hashes: Mapping[str, str]  # by role: the hash that new pods carry
    equals: frozenset[str] = frozenset()  # other names under which the same template is stored
    accepted: Mapping[str, frozenset[str]] = field(default_factory=dict)  # hashes, by role
    same_roles: Mapping[str, frozenset[str]] = field(default_factory=dict)  # revisions, by role
    stored: frozenset[str] = frozenset()  # the revisions whose templates are stored

    def has_revision(self, revision: str) -> bool:
        """Whether a group of this revision is up to date."""
        return revision == self.revision or revision in self.equals

    def has_role(self, mark: PodMark) -> bool:
        """Whether a pod's role is up to date; a pod of an unknown revision counts as up to date."""
        if mark.role not in self.role_hashes:
            return False
        if mark.role_hash:
            return mark.role_hash in self.accepted[mark.role]
        return mark.revision not in self.stored or mark.revision in self.same_roles[mark.role]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The evidence on revisions: those that are stored, and those in labels of pods."""

    stored: Sequence[StoredTemplate]
    marks: Sequence[PodMark]
    equals: frozenset[str] = frozenset()  # the stored revisions that equal the current template
    reported: str = ""  # the current revision, if the status names it and we trust it

    def find_hashes(self, role: str, same: frozenset[str]) -> frozenset[str]:
        """The hashes of pods that were made from the current template of the role."""
        marks = [mark for mark in self.marks if mark.role == role and mark.role_hash]
        found = {mark.role_hash for mark in marks if mark.revision in same}
        for template in self.stored:
            if template.revision in same:
                found.update(template.role_hashes.get(role, ()))
        if not self.reported:
            return frozenset(found)
        reported = {mark.role_hash for mark in marks if mark.revision == self.reported}
        held = {mark.role_hash for mark in marks}
        # A finished rollout did not touch the pods of this role: the role did not change.
        is_left = not reported and len(held) == 1
        return frozenset(found | reported | (held if is_left else set()))


def find_target(
    serving: Object, stored: Sequence[StoredTemplate], marks: Sequence[PodMark]
) -> TargetRevision:
    """The revision of the current template; adopted if another controller has named it."""
    wanted = write_roles(roles_of(serving))
    equals = [t.revision for t in _in_order(serving, stored) if write_roles(t.roles) == wanted]
    if equals:
        believed = equals[0] if _is_finished(serving, equals[0]) else ""
        evidence = _Evidence(stored, marks, frozenset(equals), reported=believed)
        return _describe(serving, equals[0], evidence)
    reported = _find_reported(serving, stored, marks)
    revision = reported or _name_anew(serving, stored)
    return _describe(serving, revision, _Evidence(stored, marks, reported=reported))


def _in_order(serving: Object, stored: Sequence[StoredTemplate]) -> list[StoredTemplate]:
    """The stored templates: first those that the status names, then the newest."""
    status = serving.get("status") or {}
    first = [status.get("updateRevision"), status.get("currentRevision")]

    def rank(template: StoredTemplate) -> tuple[int, int, str]:
        named = template.revision in first
        place = first.index(template.revision) if named else len(first)
        return place, -template.number, template.revision

    return sorted(stored, key=rank)


def _find_reported(
    serving: Object, stored: Sequence[StoredTemplate], marks: Sequence[PodMark]
) -> str:
    """The revision in the status, if nothing has changed since it was written; or nothing."""
    status = serving.get("status") or {}
    revision = str(status.get("updateRevision") or "")
    is_seen = status.get("observedGeneration") == metadata_of(serving).get("generation")
    if not revision or not is_seen or any(t.revision == revision for t in stored):
        return ""
    return revision if _carries(serving, revision, marks) else ""


def _carries(serving: Object, revision: str, marks: Sequence[PodMark]) -> bool:
    """Whether a whole group has a revision; in a rollout by role, whether a pod has it."""
    holders = {mark.group for mark in marks if mark.revision == revision}
    if read_spec(serving).rollout == ROLE_ROLLING:
        return bool(holders) and _is_finished(serving, revision)
    return bool(holders - {mark.group for mark in marks if mark.revision != revision})


def _is_finished(serving: Object, revision: str) -> bool:
    """Whether a status of this generation reports a finished rollout by role to this revision."""
    status = serving.get("status") or {}
    is_seen = status.get("observedGeneration") == metadata_of(serving).get("generation")
    counts = status.get("updatedReplicas"), status.get("replicas")
    is_over = bool(counts[0]) and counts[0] == counts[1]
    is_asked = status.get("updateRevision") == revision
    return read_spec(serving).rollout == ROLE_ROLLING and is_seen and is_over and is_asked


def _name_anew(serving: Object, stored: Sequence[StoredTemplate]) -> str:
    """Our name for the template; salted if another template already has that name."""
    taken, salt = {template.revision for template in stored}, 0
    while hash_roles(roles_of(serving), salt) in taken:
        salt += 1
    return hash_roles(roles_of(serving), salt)


def _describe(serving: Object, revision: str, evidence: _Evidence) -> TargetRevision:
    known = {template.revision: _by_name(template.roles) for template in evidence.stored}
    same: dict[str, frozenset[str]] = {}
    accepted: dict[str, frozenset[str]] = {}
    chosen: dict[str, str] = {}
    for role in roles_of(serving):
        name, wanted, own = str(role.get("name") or ""), write_role(role), hash_role(role)
        same[name] = frozenset(r for r, roles in known.items() if roles.get(name) == wanted)
        accepted[name] = evidence.find_hashes(name, same[name]) | {own}
        carried = {mark.role_hash for mark in evidence.marks if mark.role == name} & accepted[name]
        chosen[name] = own if own in carried or not carried else min(carried)
    return TargetRevision(
        revision=revision,
        is_stored=revision in evidence.equals,
        role_hashes=chosen,
        equals=evidence.equals,
        accepted=accepted,
        same_roles=same,
        stored=frozenset(known),
    )


def _by_name(roles: Iterable[Object]) -> dict[str, bytes]:
    return {str(role.get("name") or ""): write_role(role) for role in roles}
