"""
From a RoleBasedGroupSet and its groups to the model: a line of groups, each updated in place.

All state is stored on the groups. A change of labels or annotations alone raises no generation, so
for a moment after such a change a group does not count as ready: its own controller has to see the
change first.
"""

from dataclasses import dataclass

from kohort.apis.amounts import find_percent, resolve_amount
from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.coordination import PolicyRule, read_policy
from kohort.apis.rolebasedgroup.group_set.children import (
    Child,
    GroupDifferences,
    compare_group,
    place_of,
    read_group,
)
from kohort.apis.rolebasedgroup.group_set.template import Template, read_template
from kohort.apis.rolebasedgroup.names import child_name
from kohort.apis.rolebasedgroup.roles import as_int, as_map
from kohort.apis.strategy_choice import choose_strategy
from kohort.cluster.objects import (
    Object,
    annotations_of,
    is_leaving,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.model.observed import Observed, Progress
from kohort.model.policies import Amendment, RecoveryPolicy, RolloutPolicy, Victims
from kohort.model.units import Level, Reach
from kohort.model.workload import Role, Workload

SETTLING_SECONDS = 3


@dataclass(frozen=True, slots=True)
class Memory:
    """Details of this API that the planner does not see and rendering needs."""

    template: Template
    children: dict[int, Child]  # by ordinal
    differences: dict[int, GroupDifferences]
    strays: tuple[Child, ...]  # groups that the set controls, with names that it would never give


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot of a set as the model's workload and groups."""
    root, uid = snapshot.root, uid_of(snapshot.root)
    template = read_template(root)
    own = [child for child in snapshot.all(labels.KIND) if child.metadata.controller == uid]
    places = [(place_of(child, root), child) for child in own]
    children = dict(sorted((o, child) for o, child in places if o is not None))
    differences = {o: compare_group(c, root, template, o) for o, c in children.items()}
    rules = _read_rules(snapshot)
    groups = tuple(
        read_group(c, o, template.revision, differences[o], rules.get(c.metadata.name, ()))
        for o, c in children.items()
    )
    workload = _read_workload(snapshot, template)
    progress = Progress(0, len(groups), workload.groups, template.revision) if groups else None
    observed = Observed(groups, progress, exist=len(groups))
    strays = tuple(child for ordinal, child in places if ordinal is None)
    return Reading(workload, observed, Memory(template, children, differences, strays))


def _read_rules(snapshot: Snapshot) -> dict[str, tuple[PolicyRule, ...]]:
    """The rules of the policies that apply to groups of a set, by the name of the group."""
    held: tuple[Whole, ...] = snapshot.references.get(labels.POLICY, ())
    return {found.metadata.name: read_policy(found.decode()) for found in held}


def list_names(group_set: Object) -> tuple[str, ...]:
    """The names of the groups that a set should have."""
    return tuple(child_name(name_of(group_set), o) for o in range(count_replicas(group_set)))


def count_replicas(group_set: Object) -> int:
    """The number of groups in a set's spec."""
    return max(0, as_int(as_map(group_set.get("spec")).get("replicas"), 1))


def _read_workload(snapshot: Snapshot, template: Template) -> Workload:
    root, replicas = snapshot.root, count_replicas(snapshot.root)
    return Workload(
        namespace=namespace_of(root),
        name=name_of(root),
        uid=uid_of(root),
        generation=root["metadata"].get("generation", 0),
        groups=replicas,
        roles=(Role(),),
        revision=template.revision,
        rollout=RolloutPolicy(
            wanted=replicas,
            max_unavailable=_read_unavailable(root, replicas),
            strategy=choose_strategy(snapshot, labels.STRATEGY),
            min_ready_seconds=SETTLING_SECONDS,
        ),
        recovery=RecoveryPolicy(level=Level.MEMBER),
        is_leaving=is_leaving(root),
        victims=Victims.BEYOND,
        reach=Reach.ANY,
        amendment=Amendment.ONLY,
    )


def _read_unavailable(root: Object, replicas: int) -> int:
    """How many groups may be unavailable at once while a new template rolls out."""
    text = annotations_of(root).get(labels.MAX_UNAVAILABLE, "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    percent = find_percent(text)
    if not number and not percent:
        message = (
            f'annotation {labels.MAX_UNAVAILABLE} is "{text}", and must be a number of groups '
            "or a percentage, above 0"
        )
        raise InvalidWorkload("InvalidMaxUnavailable", message)
    return max(1, resolve_amount(number or text, replicas, round_up=False))
