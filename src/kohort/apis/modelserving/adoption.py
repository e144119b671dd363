"""
Adoption: which revision a template has, where another controller has named it before.

Upstream's names cannot be recomputed, and ours may change with the types of Kubernetes. So the
name that pods carry stays in force as long as the template still says what it said under that
name: whoever takes over restarts no pod. What differs is a real change and gets a name of ours.
Labels of running pods are never rewritten to look current.

In a rollout by role, upstream stores no revision and leaves its old label on roles that did not
change. There a rollout that it has reported as finished is believed (kthena stores nothing else).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.revision import (
    StoredTemplate,
    hash_role,
    hash_roles,
    write_hashes,
    write_role,
    write_roles,
)
from kohort.apis.modelserving.spec import ROLE_ROLLING, read_spec, roles_of
from kohort.cluster.objects import Object, annotations_of, metadata_of


@dataclass(frozen=True, slots=True)
class PodMark:
    """The labels of a pod that tell which template it was made from."""

    group: str
    role: str
    revision: str
    role_hash: str = ""  # pods of an early upstream have none


def read_mark(marks: Mapping[str, str]) -> PodMark:
    """What the labels of a pod say of its template."""
    keys = (labels.GROUP_NAME, labels.ROLE, labels.REVISION, labels.ROLE_TEMPLATE_HASH)
    return PodMark(*(marks.get(key, "") for key in keys))


@dataclass(frozen=True, slots=True)
class TargetRevision:
    """The revision of the template that is asked for, and what counts as made from it."""

    revision: str
    is_stored: bool  # whether a ControllerRevision of that name holds this template
    role_hashes: Mapping[str, str]  # by role: what new pods carry
    equals: frozenset[str] = frozenset()  # other names under which the same template is stored
    accepted: Mapping[str, frozenset[str]] = field(default_factory=dict)  # hashes, by role
    same_roles: Mapping[str, frozenset[str]] = field(default_factory=dict)  # revisions, by role
    stored: frozenset[str] = frozenset()  # the revisions whose templates are known

    def has_revision(self, revision: str) -> bool:
        """Whether a group of that revision is up to date."""
        return revision == self.revision or revision in self.equals

    def has_role(self, mark: PodMark) -> bool:
        """Whether a pod's role is as asked for; what was made from is unknown is left alone."""
        if mark.role not in self.role_hashes:
            return False
        if mark.role_hash:
            return mark.role_hash in self.accepted[mark.role]
        return mark.revision not in self.stored or mark.revision in self.same_roles[mark.role]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What is known of revisions: those that are stored, and those that pods carry."""

    stored: Sequence[StoredTemplate]
    marks: Sequence[PodMark]
    equals: frozenset[str] = frozenset()  # the stored revisions that hold the template of now
    reported: str = ""  # the revision of now, where the status says so and is believed

    def find_hashes(self, role: str, same: frozenset[str]) -> frozenset[str]:
        """The hashes of pods that were made from the role of now."""
        marks = [mark for mark in self.marks if mark.role == role and mark.role_hash]
        found = {mark.role_hash for mark in marks if mark.revision in same}
        for template in self.stored:
            if template.revision in same:
                found.update(template.role_hashes.get(role, ()))
        if not self.reported:
            return frozenset(found)
        reported = {mark.role_hash for mark in marks if mark.revision == self.reported}
        held = {mark.role_hash for mark in marks}
        # A role whose pods a finished rollout has left alone did not change in it.
        is_left = not reported and len(held) == 1
        return frozenset(found | reported | (held if is_left else set()))


def find_note(revision: Object, target: TargetRevision) -> Object | None:
    """A merge patch that notes accepted hashes on a revision that another controller stored."""
    if labels.ROLE_HASHES in annotations_of(revision):
        return None
    return {"metadata": {"annotations": {labels.ROLE_HASHES: write_hashes(target.accepted)}}}


def find_target(
    serving: Object, stored: Sequence[StoredTemplate], marks: Sequence[PodMark]
) -> TargetRevision:
    """The revision that the template of now has, adopted if it was named before."""
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
    """What the status names first, then the newest."""
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
    """The revision of the status, where nothing has changed since it was written; or nothing."""
    status = serving.get("status") or {}
    revision = str(status.get("updateRevision") or "")
    is_seen = status.get("observedGeneration") == metadata_of(serving).get("generation")
    if not revision or not is_seen or any(t.revision == revision for t in stored):
        return ""
    return revision if _carries(serving, revision, marks) else ""


def _carries(serving: Object, revision: str, marks: Sequence[PodMark]) -> bool:
    """Whether a whole group is of a revision; in a rollout by role, whether a pod is."""
    holders = {mark.group for mark in marks if mark.revision == revision}
    if read_spec(serving).rollout == ROLE_ROLLING:
        return bool(holders) and _is_finished(serving, revision)
    return bool(holders - {mark.group for mark in marks if mark.revision != revision})


def _is_finished(serving: Object, revision: str) -> bool:
    """Whether a rollout by role to that revision is over, by a status of this generation."""
    status = serving.get("status") or {}
    is_seen = status.get("observedGeneration") == metadata_of(serving).get("generation")
    counts = status.get("updatedReplicas"), status.get("replicas")
    is_over = bool(counts[0]) and counts[0] == counts[1]
    is_asked = status.get("updateRevision") == revision
    return read_spec(serving).rollout == ROLE_ROLLING and is_seen and is_over and is_asked


def _name_anew(serving: Object, stored: Sequence[StoredTemplate]) -> str:
    """Our own name, or another where that one belongs to another template already."""
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
