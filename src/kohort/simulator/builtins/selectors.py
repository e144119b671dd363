"""
An index of the pods that the selectors of controllers select.

Going through all pods for each service, or through all services for each pod,
would make the cost of one change grow with the cluster. So in the index a selector waits
under one of the label pairs that it requires, the least crowded one, and a pod only meets the
selectors that wait under a pair it has.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import POD
from kohort.cluster.selectors import LabelSelector
from kohort.simulator.component import View

_Bucket = tuple[str, str, str]  # namespace, label, value; both empty for selectors without pairs


class Matches:
    """Selectors by key (``namespace/name``), and the names of the pods that each selects."""

    def __init__(self) -> None:
        self._selectors: dict[str, LabelSelector] = {}
        self._buckets: dict[_Bucket, set[str]] = defaultdict(set)
        self._bucket_of: dict[str, _Bucket] = {}
        self._pods: dict[str, set[str]] = {}

    def put(self, key: str, selector: LabelSelector, view: View) -> None:
        """Add or replace a selector; an unchanged one costs nothing."""
        if self._selectors.get(key) == selector:
            return
        self.drop(key)
        namespace = key.partition("/")[0]
        pairs = [
            (namespace, clause.key, clause.values[0])
            for clause in selector.requirements
            if clause.operator == "In" and len(clause.values) == 1
        ]
        bucket = min(pairs or [(namespace, "", "")], key=lambda b: len(self._buckets.get(b, ())))
        self._selectors[key] = selector
        self._bucket_of[key] = bucket
        self._buckets[bucket].add(key)
        pods = view.all(POD, namespace)
        self._pods[key] = {pod.name for pod in pods if selector.matches(pod.labels)}

    def drop(self, key: str) -> None:
        """Remove a selector."""
        self._selectors.pop(key, None)
        self._pods.pop(key, None)
        bucket = self._bucket_of.pop(key, None)
        if bucket is not None:
            self._buckets[bucket].discard(key)
            if not self._buckets[bucket]:
                del self._buckets[bucket]

    def note(self, old: StoredObject | None, new: StoredObject | None) -> set[str]:
        """Note a change of a pod; returns the keys that select it now or did before."""
        keys: set[str] = set()
        if old is not None:
            for key in self._candidates(old):
                pods = self._pods[key]
                if old.name in pods:
                    pods.discard(old.name)
                    keys.add(key)
        if new is not None:
            for key in self._candidates(new):
                if self._selectors[key].matches(new.labels):
                    self._pods[key].add(new.name)
                    keys.add(key)
        return keys

    def pods(self, key: str, view: View) -> list[StoredObject]:
        """The pods that a selector selects, in the order of their names."""
        namespace = key.partition("/")[0]
        found = (view.find(POD, namespace, name) for name in sorted(self._pods.get(key, ())))
        return [pod for pod in found if pod is not None]

    def _candidates(self, pod: StoredObject) -> Iterator[str]:
        buckets: Iterable[_Bucket] = ((pod.namespace, *pair) for pair in pod.labels.items())
        for bucket in (*buckets, (pod.namespace, "", "")):
            yield from self._buckets.get(bucket, ())
