"""
The namespace controllers: every namespace gets its default objects, and is emptied when it ends.

The default objects are a service account and the root certificate. How many objects a namespace
holds is counted as they come and go, so that the deletion of ten thousand pods wakes the
namespace twice and not ten thousand times: once to delete them, and once when the last one has
gone.
"""

from collections import Counter
from collections.abc import Iterable

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.conditions import find, stamp
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    MergeRequest,
    Moment,
    ReplaceRequest,
    Step,
    View,
)

ACCOUNT = "default"
CERTIFICATE = "kube-root-ca.crt"
_ABOUT_CERTIFICATE = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class NamespaceDefaults:
    """The component that creates the default objects of namespaces."""

    name = "namespace-furniture"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (NAMESPACE, SERVICE_ACCOUNT, CONFIG_MAP)

    def __init__(self, certificate: str) -> None:
        self._certificate = certificate

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The key of a namespace that is new, or whose default objects changed."""
        entry = new or old
        assert entry is not None
        if kind == NAMESPACE:
            return (entry.name,)
        is_ours = entry.name == (ACCOUNT if kind == SERVICE_ACCOUNT else CERTIFICATE)
        return (entry.namespace,) if is_ours else ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Create the missing default objects."""
        namespace = view.find(NAMESPACE, "", key)
        if namespace is None or namespace.is_leaving:
            return Step()
        actions: list[ComponentAction] = []
        if view.find(SERVICE_ACCOUNT, key, ACCOUNT) is None:
            metadata = {"name": ACCOUNT, "namespace": key}
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
            actions.append(CreateRequest(SERVICE_ACCOUNT, account))
        data = {"ca.crt": self._certificate}
        found = view.find(CONFIG_MAP, key, CERTIFICATE)
        if found is None:
            annotations = {"kubernetes.io/description": _ABOUT_CERTIFICATE}
            metadata_of_map = {"name": CERTIFICATE, "namespace": key, "annotations": annotations}
            bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata_of_map}
            actions.append(CreateRequest(CONFIG_MAP, {**bundle, "data": data}))
        elif found.decode().get("data") != data:
            actions.append(
                MergeRequest(CONFIG_MAP, key, CERTIFICATE, {"data": data}, uid=found.uid)
            )
        return Step(tuple(actions))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""


FINALIZER = "kubernetes"
# Caches may be late: the controller must see objects created just before the deletion.
SETTLE_SECONDS = 1.0
REPORT_SECONDS = 5.0


class NamespaceLifecycle:
    """The namespace controller as a component."""

    name = "namespace-lifecycle"
    manager = "kube-controller-manager"

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self.kinds: tuple[Kind, ...] = (NAMESPACE,)
        self._count: Counter[str] = Counter()
        self._going_since: dict[str, float] = {}
        self.watch_kinds(kinds)

    def watch_kinds(self, kinds: Iterable[Kind]) -> None:
        """Delete the objects of these namespaced kinds, too."""
        self.kinds = (NAMESPACE, *(kind for kind in kinds if kind.namespaced))

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The key of a changed namespace, or of a terminating one whose content changed."""
        entry = new or old
        assert entry is not None
        if kind == NAMESPACE:
            if new is None:
                self._going_since.pop(entry.uid, None)
            return (entry.name,) if new is not None else ()
        if old is not None and new is not None:
            return ()
        self._count[entry.namespace] += 1 if new is not None else -1
        if new is None:
            if self._count[entry.namespace] > 0:
                return ()
            del self._count[entry.namespace]
        namespace = view.find(NAMESPACE, "", entry.namespace)
        is_going = namespace is not None and namespace.is_leaving
        return (entry.namespace,) if is_going else ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Delete the content of a terminating namespace; finalize it when it is empty."""
        entry = view.find(NAMESPACE, "", key)
        if entry is None or not entry.is_leaving:
            return Step()
        obj = entry.decode()
        finalizers: list[str] = (obj.get("spec") or {}).get("finalizers") or []
        if FINALIZER not in finalizers:
            return Step()
        remaining = [(kind, held) for kind in self.kinds[1:] for held in view.all(kind, key)]
        since = self._going_since.setdefault(entry.uid, moment.elapsed)
        if remaining:
            actions = (*_delete(remaining), *_report(obj, remaining, moment))
            return Step(actions, REPORT_SECONDS)
        left = since + SETTLE_SECONDS - moment.elapsed
        if left > 0:
            return Step(after=left)
        rest = [name for name in finalizers if name != FINALIZER]
        spec = {**obj["spec"], "finalizers": rest}
        return Step((ReplaceRequest(NAMESPACE, {**obj, "spec": spec}, "finalize"),))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""


def _delete(remaining: list[tuple[Kind, StoredObject]]) -> Iterable[ComponentAction]:
    for kind, held in remaining:
        if not held.is_leaving:
            yield DeleteRequest(kind, held.namespace, held.name, held.uid, propagation="Background")


def _report(
    obj: Object, remaining: list[tuple[Kind, StoredObject]], moment: Moment
) -> Iterable[ComponentAction]:
    """Set the conditions that say which objects keep the namespace from being finalized."""
    if any(not held.is_leaving for _, held in remaining):
        return ()
    status = obj.get("status") or {}
    held: list[Object] = status.get("conditions") or []
    wanted = _conditions(remaining)
    conditions = [stamp(new, find(held, new["type"]), moment.stamp) for new in wanted]
    written = {**status, "phase": "Terminating", "conditions": conditions}
    if written == status:
        return ()
    return (ReplaceRequest(NAMESPACE, {**obj, "status": written}, "status"),)


def _conditions(remaining: list[tuple[Kind, StoredObject]]) -> list[Object]:
    kinds = Counter(f"{kind.plural}.{kind.group}" for kind, _ in remaining)
    finalizers = Counter(name for _, held in remaining for name in held.facts.metadata.finalizers)
    resources = _list(kinds, "{} has {} resource instances")
    held_by = _list(finalizers, "{} in {} resource instances")
    deleted = "All content successfully deleted, may be waiting on finalization"
    return [
        _condition(
            "DeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        _condition(
            "DeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        _condition("DeletionContentFailure", "ContentDeleted", deleted),
        _condition(
            "ContentRemaining",
            "SomeResourcesRemain",
            f"Some resources are remaining: {resources}",
            "True",
        ),
        _condition(
            "FinalizersRemaining",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {held_by}",
            "True",
        )
        if finalizers
        else _condition(
            "FinalizersRemaining",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ]


def _list(counts: Counter[str], template: str) -> str:
    return ", ".join(template.format(name, counts[name]) for name in sorted(counts))


def _condition(name: str, reason: str, message: str, status: str = "False") -> Object:
    return {"type": f"Namespace{name}", "status": status, "reason": reason, "message": message}
