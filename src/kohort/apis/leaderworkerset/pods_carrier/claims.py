"""
The existing volume claims of a LeaderWorkerSet's pods, and the actions on them.

Pods without claim templates cost nothing here. A claim is created before its pod or with
it; while an old claim is being deleted, its pod waits, since it would lose that volume.
"""

from collections.abc import Iterable, Iterator

from kohort.apis.api import Snapshot
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.leaderworkerset.objects.claims import (
    claim_name,
    claim_templates,
    find_owners,
    is_going,
    render_claim,
)
from kohort.cluster.actions import Action, Create, Patch
from kohort.cluster.kinds import CLAIM
from kohort.cluster.objects import namespace_of, uid_of
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

    def keep(self, pods: Iterable[PodFacts], surplus: frozenset[str]) -> Iterator[Action]:
        """All actions on claims of our pods; ``surplus`` are uids of leaders to be deleted."""
        if not self._templates:
            return
        found, uid = [*pods], uid_of(self._lws)
        owners = {uid, *(p.metadata.uid for p in found if p.metadata.controller == uid)}
        for pod in found:
            metadata = pod.metadata
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

    def _held_by(self, pod: str) -> Iterator[Whole]:
        for template in self._templates:
            claim = self._held.get(claim_name(template, pod))
            if claim is not None:
                yield claim
