"""
The existing groups of a RoleBasedGroupSet, and how each differs from the set's template.

A group serves when its Ready condition is true for its newest generation and each role has updated
all instances that its partition, that of a CoordinatedPolicy or a pause allows: all of these are
the user's wish.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson

from kohort.apis.facts import Meta, Whole
from kohort.apis.ordinals import find_ordinal
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.coordination import PolicyRule, narrow_rollout
from kohort.apis.rolebasedgroup.group_set.template import (
    Note,
    Template,
    list_labels,
    read_content,
    read_note,
)
from kohort.apis.rolebasedgroup.names import child_name
from kohort.apis.rolebasedgroup.roles import as_int, as_map, as_objects, read_role_rollout
from kohort.cluster.objects import Object, find_condition, name_of
from kohort.model.observed import Group, Member
from kohort.model.units import Phase


@dataclass(frozen=True, slots=True)
class Child:
    """A RoleBasedGroup that has the label of a set."""

    metadata: Meta
    content: Object  # its spec in the normal form in which specs are compared
    roles: tuple[Object, ...]  # as the user wrote them
    note: Note
    is_seen: bool  # its controller has seen its newest generation
    is_ready: bool
    updated: Mapping[str, int]  # by role, how many instances have the newest template
    ready_since: float
    made_at: float

    def has_arrived(self, rules: tuple[PolicyRule, ...] = ()) -> bool:
        """Whether each role has updated all that its partition, its policies or a pause allow."""
        return self.is_seen and all(self._has_arrived(role, rules) for role in self.roles)

    def _has_arrived(self, role: Object, rules: tuple[PolicyRule, ...]) -> bool:
        name, replicas = str(role.get("name")), as_int(role.get("replicas"), 1)
        rollout = narrow_rollout(rules, name, replicas, read_role_rollout(role))
        goal = 0 if rollout.is_paused else max(0, replicas - rollout.partition)
        return self.updated.get(name, 0) >= goal


def read_child(raw: bytes) -> Child:
    """A group of a set, from its JSON."""
    obj: Object = orjson.loads(raw)
    metadata, spec = Whole(raw).metadata, as_map(obj.get("spec"))
    ready = find_condition(obj, "Ready") or {}
    status = as_map(obj.get("status"))
    is_seen = as_int(status.get("observedGeneration"), 0) == metadata.generation
    counts = as_objects(status.get("roleStatuses"))
    return Child(
        metadata=metadata,
        content=read_content(spec),
        roles=tuple(as_objects(spec.get("roles"))),
        note=read_note(metadata.annotations),
        is_seen=is_seen,
        is_ready=is_seen and ready.get("status") == "True",
        updated={str(each.get("name")): as_int(each.get("updatedReplicas"), 0) for each in counts},
        ready_since=_read_moment(ready.get("lastTransitionTime")),
        made_at=_read_moment(metadata.creation_timestamp),
    )


def _read_moment(stamp: object) -> float:
    return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else 0.0


def place_of(child: Child, group_set: Object) -> int | None:
    """The ordinal at the end of a group's name; None if the set would never give this name."""
    found = find_ordinal(child.metadata.name)
    if found is None or child.metadata.name != child_name(name_of(group_set), found[1]):
        return None
    return found[1]


@dataclass(frozen=True, slots=True)
class GroupDifferences:
    """How a group differs from the template of its set; a label with value None has to go."""

    labels: dict[str, str | None]
    annotations: dict[str, str | None]
    has_other_spec: bool

    def __bool__(self) -> bool:
        return bool(self.labels or self.annotations or self.has_other_spec)

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that differ, for events: spec, labels, annotations."""
        return tuple(
            name
            for name, differs in (
                ("spec", self.has_other_spec),
                ("labels", self.labels),
                ("annotations", self.annotations),
            )
            if differs
        )


def compare_group(
    child: Child, group_set: Object, template: Template, ordinal: int
) -> GroupDifferences:
    """How a group differs from what the set would create for this ordinal now."""
    held, note = child.metadata, child.note
    wanted = list_labels(group_set, template, ordinal)
    return GroupDifferences(
        dict(_compare(wanted, held.labels, note.labels)),
        dict(_compare(dict(template.annotations), held.annotations, note.annotations)),
        child.content != template.content,
    )


def _compare(
    wanted: dict[str, str], held: dict[str, str], owned: tuple[str, ...]
) -> Iterator[tuple[str, str | None]]:
    for key, value in wanted.items():
        if held.get(key) != value:
            yield key, value
    for key in owned:
        if key in held and key not in wanted and key != labels.SET_TEMPLATE:
            yield key, None


def read_group(
    child: Child,
    ordinal: int,
    target: str,
    differences: GroupDifferences,
    rules: tuple[PolicyRule, ...] = (),
) -> Group:
    """A group of a set as the model's Group; ``rules`` are those of its policy."""
    metadata, note = child.metadata, child.note
    # Another client edited a group that bears the target revision but has another spec.
    is_edited = bool(differences) and note.revision == target
    revision = target if not differences else "" if is_edited else note.revision or metadata.uid
    phase = _phase_of(child, rules)
    member = Member(
        name=metadata.name,
        uid=metadata.uid,
        index=0,
        revision=revision,
        phase=phase,
        is_placed=True,
        ready_since=max(child.ready_since, note.at) if phase is Phase.READY else None,
    )
    return Group(
        ordinal=ordinal,
        revision=revision,
        phase=phase,
        incarnation=metadata.uid,
        size=1,
        members=(member,),
        made_at=child.made_at,
        is_edited=is_edited,
        may_amend=True,
    )


def _phase_of(child: Child, rules: tuple[PolicyRule, ...]) -> Phase:
    if child.metadata.is_leaving:
        return Phase.LEAVING
    return Phase.READY if child.is_ready and child.has_arrived(rules) else Phase.STARTING
