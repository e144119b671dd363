"""The default objects of every namespace: a service account, and the root certificate."""

from collections.abc import Iterable

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from kohort.cluster.objects import Kind
from kohort.simulator.component import Action, Create, Merge, Moment, Step, View

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
        actions: list[Action] = []
        if view.find(SERVICE_ACCOUNT, key, ACCOUNT) is None:
            metadata = {"name": ACCOUNT, "namespace": key}
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
            actions.append(Create(SERVICE_ACCOUNT, account))
        data = {"ca.crt": self._certificate}
        found = view.find(CONFIG_MAP, key, CERTIFICATE)
        if found is None:
            annotations = {"kubernetes.io/description": _ABOUT_CERTIFICATE}
            metadata_of_map = {"name": CERTIFICATE, "namespace": key, "annotations": annotations}
            bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata_of_map}
            actions.append(Create(CONFIG_MAP, {**bundle, "data": data}))
        elif found.decode().get("data") != data:
            actions.append(Merge(CONFIG_MAP, key, CERTIFICATE, {"data": data}, uid=found.uid))
        return Step(tuple(actions))

    def refused(self, key: str, action: Action, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""
