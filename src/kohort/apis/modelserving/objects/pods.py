"""
The pods of a ModelServing: each a copy of its role's template, with the labels of its place.

The order is upstream's: template, labels, variables, gang, plugins. Labels that identify the
pod come last, whatever a template or a plugin says (kthena#1582): a pod with the label of another
group would be counted there, and never deleted. Each pod is its own copy; upstream's workers
share their containers, so that the k-th worker got k copies of a variable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Membership, Tiers
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.instances import (
    InstancePlace,
    count_pods,
    instance_marks,
    number_pod,
)
from kohort.apis.modelserving.objects.variables import append_variables
from kohort.apis.modelserving.plugins.chain import Chain, PluginFailure
from kohort.apis.modelserving.plugins.plugin import HookRequest
from kohort.apis.modelserving.spec import ServingSpec, read_spec
from kohort.apis.topology import read_pack
from kohort.cluster.kinds import POD
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    namespace_of,
    owner_reference,
)

UPSTREAM_DIALECT = "volcano"


@dataclass(frozen=True, slots=True)
class Joining:
    """The dialect of the gangs that pods join, and the tiers it knows."""

    dialect: Dialect
    tiers: Tiers = field(default_factory=Tiers)


class PodMaker:
    """Makes the pods of one revision of a ModelServing."""

    def __init__(
        self,
        serving: Object,
        revision: str,
        role_hashes: Mapping[str, str],
        chain: Chain,
        joining: Joining | None = None,
    ) -> None:
        self.serving = serving  # with the roles of that revision
        self._spec: ServingSpec = read_spec(serving)
        self._revision = revision
        self._role_hashes = role_hashes
        self._chain = chain
        self._joining = joining
        self._topology = write_topology(self._spec)

    def make(self, place: InstancePlace, index: int) -> Object | PluginFailure:
        """One pod; or the failure of a plugin."""
        pod = self._make_base(place, index)
        if self._joining is not None:
            pod = self._join(pod, place, index, self._joining)
        request = HookRequest(
            model_serving=self.serving,
            serving_group=place.group_name(self.serving),
            role_name=place.role.name,
            role_id=place.role_id,
            is_entry=index == 0,
            pod=pod,
        )
        made = self._chain.run_create(request)
        return made if isinstance(made, PluginFailure) else self._protect(made, place, index)

    def _make_base(self, place: InstancePlace, index: int) -> Object:
        serving = self.serving
        template: Object = orjson.loads(orjson.dumps(place.role.template_of(index)))
        entry = place.entry_name(serving)
        values = {
            labels.GROUP_SIZE_VARIABLE: str(place.role.size),
            labels.ENTRY_ADDRESS_VARIABLE: names.entry_address(entry, namespace_of(serving)),
            labels.WORKER_INDEX_VARIABLE: str(index),
        }
        spec = {**(template.get("spec") or {}), "schedulerName": self._spec.scheduler}
        return {
            "apiVersion": POD.api_version,
            "kind": POD.name,
            "metadata": {
                "name": place.pod_name(serving, index),
                "namespace": namespace_of(serving),
                "labels": {**_free(labels_of(template)), **self._marks(place, index)},
                "annotations": {
                    **_free(annotations_of(template)),
                    **self._notes(place, index),
                },
                "ownerReferences": [owner_reference(serving)],
            },
            "spec": append_variables(spec, values),
        }

    def _marks(self, place: InstancePlace, index: int) -> dict[str, str]:
        marks = {
            **instance_marks(self.serving, place),
            labels.REVISION: self._revision,
            labels.ROLE_TEMPLATE_HASH: self._role_hashes.get(place.role.name, ""),
        }
        return {**marks, labels.ENTRY: "true"} if index == 0 else marks

    def _notes(self, place: InstancePlace, index: int) -> dict[str, str]:
        notes = place_notes(self.serving, place, index)
        return {**notes, labels.NETWORK_TOPOLOGY: self._topology} if self._topology else notes

    def _join(self, pod: Object, place: InstancePlace, index: int, joining: Joining) -> Object:
        dialect, spec = joining.dialect, self._spec
        own, notes = labels_of(self.serving), annotations_of(self.serving)
        membership = Membership(
            gang=place.group_name(self.serving),
            size=count_pods(spec.roles),
            index=number_pod(spec.roles, place.role.name, place.instance, index),
            queue=dialect.find_queue(own, notes),
            part=place.role_id,
            pack=read_pack(spec.group_topology),
            task=place.role_id,
        )
        marked = dialect.mark(pod, membership, joining.tiers)
        if dialect.name == UPSTREAM_DIALECT:
            return marked
        # Dialects may share a key, or mark no metadata: so the pod records which one it joined.
        told = {**annotations_of(marked), labels.GANG: dialect.name}
        return {**marked, "metadata": {**marked["metadata"], "annotations": told}}

    def _protect(self, pod: Object, place: InstancePlace, index: int) -> Object:
        """The pod with its own name, labels and owner, whatever plugins have changed."""
        metadata: Object = pod.get("metadata") or {}
        return {
            **pod,
            "metadata": {
                **metadata,
                "name": place.pod_name(self.serving, index),
                "namespace": namespace_of(self.serving),
                "labels": {**_free(labels_of(pod)), **self._marks(place, index)},
                "annotations": {
                    **_free(annotations_of(pod)),
                    **self._notes(place, index),
                },
                "ownerReferences": [owner_reference(self.serving)],
            },
        }


def place_notes(serving: Object, place: InstancePlace, index: int) -> dict[str, str]:
    """The annotations for the place of a pod, with the size of its instance and the replicas."""
    notes = {
        labels.GROUP_SIZE: str(place.role.size),
        labels.REPLICAS: str(read_replicas(serving)),
    }
    return {**notes, labels.ENTRY_NAME: place.entry_name(serving)} if index else notes


def read_replicas(serving: Object) -> int:
    """The number of groups in the current spec."""
    found = (serving.get("spec") or {}).get("replicas")
    return 1 if found is None else int(found)


def write_topology(spec: ServingSpec) -> str:
    """The topology policies in force as JSON; empty if there are none."""
    policies = {"groupPolicy": spec.group_topology, "rolePolicy": spec.role_topology}
    given = {name: policy for name, policy in policies.items() if policy is not None}
    return orjson.dumps(given, option=orjson.OPT_SORT_KEYS).decode() if given else ""


def find_stale_metadata(
    serving: Object, place: InstancePlace, index: int, pod: Object
) -> Object | None:
    """A merge patch for a running pod that lacks our labels or has an old count; or None.

    Another controller made it without them, or the workload was scaled. It causes no restart.
    """
    marks = instance_marks(serving, place)
    wanted_labels = {key: marks[key] for key in (labels.GROUP_INDEX, labels.GROUP_HASH)}
    wanted_notes = place_notes(serving, place, index)
    if labels.LWS_REPLICAS in annotations_of(pod):
        wanted_notes[labels.LWS_REPLICAS] = wanted_notes[labels.REPLICAS]
    changes = {
        "labels": _differing(wanted_labels, labels_of(pod)),
        "annotations": _differing(wanted_notes, annotations_of(pod)),
    }
    body = {field: change for field, change in changes.items() if change}
    return {"metadata": body} if body else None


def _differing(wanted: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in wanted.items() if found.get(key) != value}


def _free(given: Mapping[str, str]) -> dict[str, str]:
    """The keys that a template or a plugin may set."""
    reserved = (*labels.RESERVED, *labels.RESERVED_ANNOTATIONS)
    return {key: value for key, value in given.items() if key not in reserved}
