"""
The pods of a StatefulSet: a template, with a stable name, host name and claims.

Its PersistentVolumeClaims are created before the pod, and kept or deleted by policy. Whether a
claim goes with its set or with its pod is said by owner references, so that the garbage collector
does the rest. A claim that another object controls is left alone, and so is one that names an
earlier set or pod of the same name.
"""

from collections.abc import Iterator

import orjson

from kohort.apiserver.store.entries import OwnerFacts, StoredObject
from kohort.cluster.kinds import CLAIM, POD, STATEFUL_SET
from kohort.cluster.objects import Object, labels_of
from kohort.simulator.builtins.ownership import set_owners, write_owner
from kohort.simulator.builtins.statefulsets.revisions import History
from kohort.simulator.builtins.statefulsets.spec import (
    POD_INDEX_LABEL,
    POD_NAME_LABEL,
    REVISION_LABEL,
    Member,
    SetSpec,
)
from kohort.simulator.builtins.templates import pod_from_template
from kohort.simulator.component import ComponentAction, MergeRequest, View


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


def plan_retention(spec: SetSpec, member: Member, view: View) -> Iterator[ComponentAction]:
    """Patch the owners of a pod's claims to those that the retention policy demands."""
    for template in spec.claim_templates:
        claim = view.find(CLAIM, spec.entry.namespace, claim_name(template, member.entry.name))
        if claim is not None:
            fix = _fix_owners(spec, member, claim)
            if fix is not None:
                yield fix


def _fix_owners(spec: SetSpec, member: Member, claim: StoredObject) -> MergeRequest | None:
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


class Renderer:
    """Makes pods of one set; each pod is a fresh object, since the caller may change it."""

    def __init__(self, spec: SetSpec, history: History) -> None:
        self._spec = spec
        self._history = history
        self._templates: dict[str, bytes] = {}

    def render(self, ordinal: int) -> Object:
        """The pod of one ordinal, at the revision that is due to it."""
        spec, history = self._spec, self._history
        revision = history.current if spec.starts_from_current(ordinal) else history.update
        name = f"{spec.name}-{ordinal}"
        pod = pod_from_template(self._template(revision), spec.entry, spec.owner)
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] |= {
            REVISION_LABEL: revision,
            POD_NAME_LABEL: name,
            POD_INDEX_LABEL: str(ordinal),
        }
        pod["spec"]["hostname"] = name
        service = spec.obj["spec"].get("serviceName")
        if service:
            pod["spec"]["subdomain"] = service
        self._mount(pod, name)
        return pod

    def _template(self, revision: str) -> Object:
        if revision not in self._templates:
            kept = (
                None if revision == self._history.update else self._history.find_template(revision)
            )
            self._templates[revision] = orjson.dumps(kept or self._spec.obj["spec"]["template"])
        template: Object = orjson.loads(self._templates[revision])
        return template

    def _mount(self, pod: Object, pod_name: str) -> None:
        claimed = {
            template["metadata"]["name"]: claim_name(template, pod_name)
            for template in self._spec.claim_templates
        }
        if not claimed:
            return
        others = [v for v in pod["spec"].get("volumes") or () if v["name"] not in claimed]
        pod["spec"]["volumes"] = [
            *({"name": n, "persistentVolumeClaim": {"claimName": c}} for n, c in claimed.items()),
            *others,
        ]


def identity_patch(pod_name: str, ordinal: int) -> Object:
    """The patch that sets an adopted pod's name and index labels."""
    labels = {POD_NAME_LABEL: pod_name, POD_INDEX_LABEL: str(ordinal)}
    return {"metadata": {"labels": labels}}
