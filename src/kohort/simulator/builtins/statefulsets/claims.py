"""
The PersistentVolumeClaims of a StatefulSet's pods: created first, kept or deleted by policy.

Whether a claim goes with its set or with its pod is said by owner references,
so that the garbage collector does the rest. A claim that another object controls
is left alone, and so is one that names an earlier set or pod of the same name.
"""

from collections.abc import Iterator

from kohort.apiserver.store.entries import OwnerFacts, StoredObject
from kohort.cluster.kinds import CLAIM, POD, STATEFUL_SET
from kohort.cluster.objects import Object, labels_of
from kohort.simulator.builtins.ownership import set_owners, write_owner
from kohort.simulator.builtins.statefulsets.spec import Member, SetSpec
from kohort.simulator.component import Action, Merge, View


def claim_name(template: Object, pod_name: str) -> str:
    """The name of a pod's claim."""
    return f"{(template.get('metadata') or {}).get('name', '')}-{pod_name}"


def render_claims(spec: SetSpec, pod_name: str) -> Iterator[Object]:
    """The claims that a pod of the set needs."""
    selector = spec.obj["spec"].get("selector") or {}
    for template in spec.claim_templates:
        metadata: Object = {
            "name": claim_name(template, pod_name),
            "namespace": spec.entry.namespace,
            "labels": {**labels_of(template), **(selector.get("matchLabels") or {})},
        }
        annotations = (template.get("metadata") or {}).get("annotations")
        if annotations:
            metadata["annotations"] = dict(annotations)
        if spec.deletes_on_delete:
            metadata["ownerReferences"] = [spec.owner]
        yield {
            "apiVersion": CLAIM.api_version,
            "kind": CLAIM.name,
            "metadata": metadata,
            "spec": template.get("spec") or {},
        }


def find_blocker(spec: SetSpec, pod_name: str, view: View) -> StoredObject | None:
    """A claim in deletion, which a new pod must not use."""
    for template in spec.claim_templates:
        claim = view.find(CLAIM, spec.entry.namespace, claim_name(template, pod_name))
        if claim is None:
            continue
        if claim.facts.is_leaving or (spec.deletes_on_scale and _names_pod(claim, pod_name)):
            return claim
    return None


def plan_retention(spec: SetSpec, member: Member, view: View) -> Iterator[Action]:
    """Patch the owners of a pod's claims to those that the retention policy demands."""
    for template in spec.claim_templates:
        claim = view.find(CLAIM, spec.entry.namespace, claim_name(template, member.entry.name))
        if claim is not None:
            fix = _fix_owners(spec, member, claim)
            if fix is not None:
                yield fix


def _fix_owners(spec: SetSpec, member: Member, claim: StoredObject) -> Merge | None:
    owners = claim.facts.metadata.owner_references
    ours = {spec.entry.uid, member.entry.uid}
    if any(_is_namesake(owner, spec, member) and owner.uid not in ours for owner in owners):
        return None
    others = [owner for owner in owners if owner.uid not in ours]
    if spec.deletes_on_scale or spec.deletes_on_delete:
        is_foreign = any(owner.controller for owner in others)
    else:
        is_foreign = False
    wanted = [] if is_foreign else _wanted_owners(spec, member)
    present = {(owner.uid, bool(owner.controller)) for owner in owners if owner.uid in ours}
    if present == {(owner["uid"], True) for owner in wanted}:
        return None
    return set_owners(CLAIM, claim, [*map(write_owner, others), *wanted])


def _wanted_owners(spec: SetSpec, member: Member) -> list[Object]:
    if spec.deletes_on_scale and not spec.wants(member.ordinal):
        pod = member.entry
        owner = {**spec.owner, "apiVersion": POD.api_version, "kind": POD.name}
        return [{**owner, "name": pod.name, "uid": pod.uid}]
    return [spec.owner] if spec.deletes_on_delete else []


def _is_namesake(owner: OwnerFacts, spec: SetSpec, member: Member) -> bool:
    named = (owner.kind, owner.name)
    return named in {(STATEFUL_SET.name, spec.name), (POD.name, member.entry.name)}


def _names_pod(claim: StoredObject, pod_name: str) -> bool:
    owners = claim.facts.metadata.owner_references
    return any(owner.kind == POD.name and owner.name == pod_name for owner in owners)
