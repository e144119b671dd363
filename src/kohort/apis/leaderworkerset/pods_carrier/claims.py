"""
The existing volume claims of a LeaderWorkerSet's pods, and the actions on them.

Pods without claim templates cost nothing here. A claim is created before its pod or with
it; while an old claim is being deleted, its pod waits, since it would lose that volume.

When the count is lowered and the policy deletes the claims of what is scaled away, the claims go
before the lower count is recorded: afterwards nothing tells a claim that has to go from one that
was kept under an earlier policy. A claim whose pod exists is handed to its pod; one whose pod has
gone before, in a rollout say, is deleted. Orphans get their claims back before they are
adopted, so that a workload that is deleted meanwhile leaves no claim behind.
"""

from collections.abc import Iterable, Iterator, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.leaderworkerset.objects.claims import (
    claim_name,
    claim_templates,
    find_owners,
    goes_when_scaled,
    is_going,
    render_claim,
)
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import CLAIM
from kohort.cluster.objects import name_of, namespace_of, uid_of
from kohort.cluster.port import Address


class Claims:
    """The claims of one workload in one plan."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._lws = snapshot.root
        self._templates = claim_templates(snapshot.root)
        found: tuple[Whole, ...] = snapshot.all(CLAIM) if self._templates else ()
        self._held = {claim.metadata.name: claim for claim in found}

    def are_going(self, pod: str) -> bool:
        """Whether a claim of this pod is about to be deleted."""
        return any(is_going(self._lws, claim, pod) for claim in self._held_by(pod))

    def make(self, pod: str, marks: dict[str, str]) -> Iterator[Action]:
        """Create the claims that this pod lacks; ``marks`` are the labels of the pod."""
        for template in self._templates:
            name = claim_name(template, pod)
            if name not in self._held:
                body = render_claim(self._lws, template, pod, marks)
                why = f"claim {name} does not exist"
                yield Create(CLAIM, namespace_of(self._lws), body, why)

    def find_changes(self, pod: PodFacts, is_surplus: bool) -> list[Action]:
        """Patch the owners of this pod's claims to those that the retention policy demands."""
        changes: list[Action] = []
        for claim in self._held_by(pod.metadata.name):
            owners = find_owners(self._lws, pod, claim, is_surplus)
            if owners is not None and not claim.metadata.is_leaving:
                address = Address(CLAIM, namespace_of(self._lws), claim.metadata.name)
                # The resourceVersion guards owner references that another client adds meanwhile.
                version = claim.metadata.resource_version
                body = {"ownerReferences": owners or None, "resourceVersion": version}
                why = f"claim {claim.metadata.name} has other owners than its policy says"
                changes.append(Patch(address, {"metadata": body}, why=why))
        return changes

    def give_back(self, pods: Iterable[PodFacts], orphans: frozenset[str]) -> list[Action]:
        """Patch the claims of these orphaned leaders and their workers, by uid of the leader."""
        ours = [p for p in pods if {p.metadata.uid, p.metadata.controller} & orphans]
        return [change for pod in ours for change in self.find_changes(pod, is_surplus=False)]

    def let_go(self, pods: Mapping[str, PodFacts], gone: range) -> list[Action]:
        """All actions on the claims of groups that are about to be surplus: these ordinals."""
        if not goes_when_scaled(self._lws) or not gone:
            return []
        actions: list[Action] = []
        for name, claim in self._held.items():
            pod, group = self._find_user(name)
            if group not in gone:
                continue
            if pod in pods:
                actions += self.find_changes(pods[pod], is_surplus=True)
            elif self._is_ours(claim):
                metadata, why = claim.metadata, f"pod {pod} of claim {name} is scaled away"
                actions.append(Delete(CLAIM, metadata.namespace, name, metadata.uid, why=why))
        return actions

    def keep(
        self, pods: Iterable[PodFacts], surplus: frozenset[str], gone: range
    ) -> Iterator[Action]:
        """
        All actions on claims of our pods but for those that ``let_go`` decides about.

        ``surplus`` are uids of leaders to be deleted.
        """
        if not self._templates:
            return
        found, uid = [*pods], uid_of(self._lws)
        owners = {uid, *(p.metadata.uid for p in found if p.metadata.controller == uid)}
        for pod in found:
            metadata = pod.metadata
            if gone and _find_group(name_of(self._lws), metadata.name) in gone:
                continue
            if metadata.controller not in owners:
                # The pod is left over from an earlier object or leader, and may be gone already.
                continue
            is_surplus = metadata.uid in surplus or metadata.controller in surplus
            if metadata.is_leaving and not is_surplus:
                continue
            # A pod that is already being deleted may turn out to be surplus.
            yield from self.find_changes(pod, is_surplus)
            if not metadata.is_leaving and pod.status.phase in ("", "Pending"):
                yield from self.make(metadata.name, metadata.labels)

    def _find_user(self, claim: str) -> tuple[str, int | None]:
        """The pod that a claim of this name was made for, and the group of that pod."""
        for template in self._templates:
            start = claim_name(template, "")
            pod = claim.removeprefix(start)
            group = _find_group(name_of(self._lws), pod) if claim.startswith(start) else None
            if group is not None:
                return pod, group
        return "", None

    def _is_ours(self, claim: Whole) -> bool:
        """Whether a claim that is not being deleted has no owner but the workload."""
        owners = {owner.uid for owner in claim.metadata.owner_references}
        return not claim.metadata.is_leaving and owners <= {uid_of(self._lws)}

    def _held_by(self, pod: str) -> Iterator[Whole]:
        for template in self._templates:
            claim = self._held.get(claim_name(template, pod))
            if claim is not None:
                yield claim


def _find_group(workload: str, pod: str) -> int | None:
    """The group that a pod of this name belongs to, as its leader or as a worker."""
    place = find_ordinal(pod)
    outer = find_ordinal(place[0]) if place else None
    found = next((p for p in (place, outer) if p and p[0] == workload), None)
    return found[1] if found else None
