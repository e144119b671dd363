"""
Pod templates of leaders and workers, as StatefulSets contain them.

The user's template is written as the API server will store it (see ``gojson``), so that
the desired and the stored one can be compared. Our keys win over the user's. Nothing here
may depend on time or on the cluster: a changed template is a new revision of the
StatefulSet, whose controller then rolls its pods.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.apis.affinity import add_exclusive_terms
from kohort.apis.gojson import POD_TEMPLATE, drop_nulls
from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.gojson import write_typed
from kohort.apis.leaderworkerset.revision import key_of
from kohort.apis.leaderworkerset.spec import (
    UNIQUE_PER_REPLICA,
    find_subgroup_policy,
    size_of,
    subdomain_policy_of,
    template_of,
)
from kohort.apis.ordinals import find_ordinal
from kohort.apis.tpu import requests_tpus
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, namespace_of


@dataclass(frozen=True, slots=True)
class Following:
    """What workers take from their leader's pod, beyond their own template."""

    gang: str = ""  # the dialect of its gang, or none; empty: admission decides, as upstream does
    notes: Mapping[str, str] = field(default_factory=dict)
    scheduler: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    exclusive: str = ""  # the topology domain that the group keeps for itself by affinity alone


ALONE = Following()


def leader_template(lws: Object, key: str) -> Object:
    """The template of all leaders, from the current spec."""
    template = template_of(lws)
    chosen = template.get("leaderTemplate")
    marks = {labels.NAME: name_of(lws), labels.REVISION: key, labels.WORKER_INDEX: "0"}
    notes = _group_notes(lws)
    if subdomain_policy_of(lws) == UNIQUE_PER_REPLICA:
        notes[labels.SUBDOMAIN_POLICY] = UNIQUE_PER_REPLICA
    return _render(template.get("workerTemplate") if chosen is None else chosen, marks, notes)


def worker_template(
    lws_at_revision: Object, leader_pod: Object, following: Following = ALONE
) -> Object:
    """The template of one group's workers, from the spec at the leader's revision."""
    notes = {**_group_notes(lws_at_revision), labels.LEADER_NAME: name_of(leader_pod)}
    if requests_tpus(leader_pod.get("spec") or {}):
        notes[labels.LEADER_REQUESTS_TPUS] = "true"
    notes |= following.notes
    if following.gang:
        notes[labels.GANG] = following.gang
    marks = group_labels(lws_at_revision, leader_pod)
    rendered = _render(template_of(lws_at_revision).get("workerTemplate"), marks, notes)
    _follow(rendered["spec"], marks[labels.GROUP_KEY], following)
    return rendered


def _follow(spec: Object, key: str, following: Following) -> None:
    if following.node_selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **following.node_selector}
    if following.scheduler and not spec.get("schedulerName"):
        spec["schedulerName"] = following.scheduler
    if following.exclusive:
        spec["affinity"] = add_exclusive_terms(
            spec.get("affinity"), following.exclusive, labels.GROUP_KEY, key
        )


def group_labels(lws: Object, leader_pod: Object) -> dict[str, str]:
    """The labels that all objects of one group have: its index, its key, its revision."""
    own, name = labels_of(leader_pod), name_of(leader_pod)
    # A leader made while the webhook was down lacks these labels, but its name tells them.
    place = find_ordinal(name)
    index = own.get(labels.GROUP_INDEX) or (str(place[1]) if place else "")
    group_key = own.get(labels.GROUP_KEY) or names.group_key(namespace_of(leader_pod), name)
    return {
        labels.NAME: name_of(lws),
        labels.GROUP_INDEX: index,
        labels.GROUP_KEY: group_key,
        labels.REVISION: key_of(leader_pod),
    }


def _group_notes(lws: Object) -> dict[str, str]:
    """The annotations that leaders and workers share."""
    notes = {labels.SIZE: str(size_of(lws))}
    given = annotations_of(lws)
    if given.get(labels.GANG):
        notes[labels.GANG] = given[labels.GANG]
    if given.get(labels.EXCLUSIVE_TOPOLOGY):
        notes[labels.EXCLUSIVE_TOPOLOGY] = given[labels.EXCLUSIVE_TOPOLOGY]
    policy = find_subgroup_policy(lws)
    if policy is None:
        return notes
    if policy.get("subGroupPolicyType") is not None:
        notes[labels.SUBGROUP_POLICY_TYPE] = policy["subGroupPolicyType"]
    if policy.get("subGroupSize") is not None:
        notes[labels.SUBGROUP_SIZE] = str(policy["subGroupSize"])
    if given.get(labels.SUBGROUP_EXCLUSIVE_TOPOLOGY):
        notes[labels.SUBGROUP_EXCLUSIVE_TOPOLOGY] = given[labels.SUBGROUP_EXCLUSIVE_TOPOLOGY]
    return notes


def _render(template: Object | None, marks: dict[str, str], notes: dict[str, str]) -> Object:
    written: Object = drop_nulls(write_typed(POD_TEMPLATE, template))
    metadata = written["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), **marks}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **notes}
    return written
