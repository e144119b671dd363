"""
A StatefulSet as its controller reads it: settings and members.

Fields that the API defaults are read with the same defaults, so that the
controller also works on objects that were written past the API.
"""

import re
from dataclasses import dataclass
from typing import Any

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import STATEFUL_SET
from kohort.cluster.objects import Object
from kohort.cluster.selectors import LabelSelector, read_label_selector
from kohort.simulator.builtins.amounts import resolve
from kohort.simulator.builtins.readiness import FINISHED, seconds_until_available
from kohort.simulator.component import Moment

REVISION_LABEL = "controller-revision-hash"
POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"

_POD_NAME = re.compile(r"(.+)-(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class SetSpec:
    """The settings of one StatefulSet."""

    obj: Object
    entry: StoredObject
    selector: LabelSelector
    replicas: int
    start: int
    is_ordered: bool
    is_rolling: bool
    has_partition: bool  # whether rollingUpdate is spelled out
    partition: int
    max_unavailable: int
    min_ready: int
    history_limit: int
    deletes_on_scale: bool
    deletes_on_delete: bool

    @property
    def name(self) -> str:
        """The set's name."""
        return self.entry.name

    @property
    def end(self) -> int:
        """The first ordinal after the last."""
        return self.start + self.replicas

    @property
    def status(self) -> Object:
        """The status as it was last seen."""
        return self.obj.get("status") or {}

    @property
    def claim_templates(self) -> list[Object]:
        """The claims that each pod gets."""
        return self.obj["spec"].get("volumeClaimTemplates") or []

    @property
    def owner(self) -> Object:
        """The reference that the set's children carry."""
        return {
            "apiVersion": STATEFUL_SET.api_version,
            "kind": STATEFUL_SET.name,
            "name": self.entry.name,
            "uid": self.entry.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def wants(self, ordinal: int) -> bool:
        """Whether there should be a pod of that ordinal."""
        return self.start <= ordinal < self.end

    def starts_from_current(self, ordinal: int) -> bool:
        """Whether a new pod of that ordinal is still made from the current revision."""
        if self.has_partition:
            return ordinal < self.start + self.partition
        return self.is_rolling and ordinal < self.start + int(self.status.get("currentReplicas", 0))

    def template_data(self) -> Object:
        """The part of the set that a revision stores."""
        template = {**self.obj["spec"]["template"], "$patch": "replace"}
        metadata: Any = template.get("metadata")
        if metadata and metadata.get("creationTimestamp", "") is None:
            template["metadata"] = {k: v for k, v in metadata.items() if k != "creationTimestamp"}
        return {"spec": {"template": template}}


def read_set(entry: StoredObject, *, honours_max_unavailable: bool) -> SetSpec:
    """The settings of a stored set; ``maxUnavailable`` counts only behind its gate."""
    obj = entry.decode()
    spec = obj["spec"]
    strategy = spec.get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    replicas = int(spec.get("replicas", 1))
    budget = (rolling or {}).get("maxUnavailable") if honours_max_unavailable else None
    return SetSpec(
        obj=obj,
        entry=entry,
        selector=read_label_selector(spec.get("selector")),
        replicas=replicas,
        start=int((spec.get("ordinals") or {}).get("start", 0)),
        is_ordered=spec.get("podManagementPolicy", "OrderedReady") != "Parallel",
        is_rolling=strategy.get("type", "RollingUpdate") == "RollingUpdate",
        has_partition=rolling is not None,
        partition=int((rolling or {}).get("partition", 0)),
        max_unavailable=max(1, resolve(budget, replicas, round_up=False)),
        min_ready=int(spec.get("minReadySeconds", 0)),
        history_limit=int(spec.get("revisionHistoryLimit", 10)),
        deletes_on_scale=retention.get("whenScaled") == "Delete",
        deletes_on_delete=retention.get("whenDeleted") == "Delete",
    )


def find_ordinal(set_name: str, pod_name: str) -> int | None:
    """The ordinal in a pod's name, if it is a name that the set would give."""
    match = _POD_NAME.fullmatch(pod_name)
    return int(match[2]) if match and match[1] == set_name else None


def parent_name(pod_name: str) -> str | None:
    """The name of the set that a pod of this name would belong to."""
    match = _POD_NAME.fullmatch(pod_name)
    return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Member:
    """One pod of a set, as far as decisions need it."""

    ordinal: int
    entry: StoredObject
    revision: str
    is_leaving: bool
    is_finished: bool
    is_pending: bool
    is_ready: bool
    seconds_left: float | None  # until it is available; None if it is not ready

    @property
    def is_available(self) -> bool:
        """Whether it has been ready for long enough, and stays."""
        return self.seconds_left == 0.0 and not self.is_leaving


def read_member(spec: SetSpec, entry: StoredObject, moment: Moment) -> Member:
    """Read a pod of the set."""
    facts = entry.facts
    ordinal = find_ordinal(spec.name, entry.name)
    assert ordinal is not None
    left = seconds_until_available(facts, spec.min_ready, moment)
    return Member(
        ordinal=ordinal,
        entry=entry,
        revision=entry.labels.get(REVISION_LABEL, ""),
        is_leaving=facts.is_leaving,
        is_finished=facts.phase in FINISHED,
        is_pending=facts.phase == "Pending",
        is_ready=facts.phase == "Running" and left is not None,
        seconds_left=left,
    )


class Roster:
    """A cache of parsed members, since most pods of a large set are unchanged at each step."""

    def __init__(self) -> None:
        self._known: dict[str, Member] = {}

    def find(self, spec: SetSpec, entry: StoredObject, moment: Moment) -> Member | None:
        """A pod as a member of the set, if it is one."""
        is_owned = entry.controller == spec.entry.uid
        known = self._known.get(entry.uid)
        if known is not None and is_owned and known.entry is entry and _is_timeless(spec, known):
            return known
        if not spec.selector.matches(entry.labels) or find_ordinal(spec.name, entry.name) is None:
            return None
        member = read_member(spec, entry, moment)
        if is_owned and _is_timeless(spec, member):
            self._known[entry.uid] = member
        return member

    def forget(self, entry: StoredObject) -> None:
        """Drop a pod that is gone."""
        self._known.pop(entry.uid, None)


def _is_timeless(spec: SetSpec, member: Member) -> bool:
    return spec.min_ready == 0 or member.seconds_left is None
