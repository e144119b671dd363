"""
The index of pods by the claims that they use.

A pod's volumes never change, so a pod is read once, and only if it has claims. A claim is in use
for as long as a pod that names it exists and has a node, whatever has become of its containers.
Only a claim that was made for its pod (``ephemeral``) is free when the node is done with that pod,
since the pod may wait for it.
"""

from collections import defaultdict

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import POD
from kohort.simulator.component import View

_Place = tuple[str, str]


class Usage:
    """The pods of each claim."""

    def __init__(self) -> None:
        self._claims: dict[_Place, tuple[str, tuple[str, ...]]] = {}
        self._pods: dict[_Place, set[str]] = defaultdict(set)

    def note(self, old: StoredObject | None, new: StoredObject | None) -> list[_Place]:
        """Note a change of a pod; returns the claims that it uses or used."""
        entry = new or old
        assert entry is not None
        known_uid, claims = self._claims.get(entry.key, ("", ()))
        places = [(entry.namespace, claim) for claim in claims]
        if new is None or new.uid != known_uid:
            for place in places:
                self._drop(place, entry.name)
            self._claims.pop(entry.key, None)
        if new is not None and new.uid != known_uid:
            read = _read_claims(new)
            if read:
                self._claims[new.key] = (new.uid, read)
            for claim in read:
                self._pods[new.namespace, claim].add(new.name)
                places.append((new.namespace, claim))
        return places

    def _drop(self, place: _Place, pod: str) -> None:
        """Forget that a pod uses a claim, and the claim if it was the last one."""
        pods = self._pods.get(place, set())
        pods.discard(pod)
        if not pods:
            self._pods.pop(place, None)

    def find_node(self, namespace: str, claim: str, view: View) -> str | None:
        """The node of a pod that uses the claim, if one has been scheduled."""
        for name in sorted(self._pods.get((namespace, claim), ())):
            pod = view.find(POD, namespace, name)
            if pod is None or _is_done_with(pod, claim):
                continue
            if pod.facts.spec and pod.facts.spec.node_name:
                return pod.facts.spec.node_name
        return None


def _is_done_with(pod: StoredObject, claim: str) -> bool:
    """Whether a claim is this pod's ephemeral volume, and the pod has ended."""
    if not pod.facts.is_leaving:
        return False
    obj = pod.decode()
    volumes = (obj.get("spec") or {}).get("volumes") or ()
    made = {f"{pod.name}-{volume['name']}" for volume in volumes if "ephemeral" in volume}
    return claim in made and obj["metadata"].get("deletionGracePeriodSeconds") == 0


def _read_claims(pod: StoredObject) -> tuple[str, ...]:
    if b'"persistentVolumeClaim"' not in pod.raw and b'"ephemeral"' not in pod.raw:
        return ()
    claims = []
    for volume in (pod.decode().get("spec") or {}).get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            claims.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            claims.append(f"{pod.name}-{volume['name']}")
    return tuple(claims)
