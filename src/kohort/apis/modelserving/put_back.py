"""
Edits by other clients of a ModelServing's objects that we undo without restarting a pod.

The name of an object tells its place, and no client can change a name: labels must match it. A
label that the template of another controller's pod had overridden is no edit, and stays.
"""

from collections.abc import Iterable, Iterator, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.drift.restores import put_labels_back, put_service_back
from kohort.apis.facts import Whole
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.instances import PodPlace, place_marks
from kohort.apis.modelserving.objects.services import select_entry
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.revision import StoredTemplate
from kohort.apis.modelserving.spec import RoleSpec
from kohort.cluster.actions import Action
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, SERVICE
from kohort.cluster.objects import Kind, Object, labels_of, name_of, uid_of


def put_places_back(
    snapshot: Snapshot, pods: Iterable[ServingPod], roles: Mapping[str, RoleSpec]
) -> Iterator[Action]:
    """Restore the labels of pods that name another place than the pod's name does."""
    for pod in pods:
        if not pod.misplaced or pod.metadata.is_leaving or pod.place is None:
            continue
        role, held = roles.get(pod.place.role), pod.metadata.labels
        taken = labels_of(role.template_of(pod.place.index)) if role else {}
        change = {
            key: value
            for key, value in pod.misplaced.items()
            if key not in taken or taken[key] != held.get(key)
        }
        if change:
            yield from put_labels_back(snapshot, POD, pod.metadata, change)


def put_entry_service_back(snapshot: Snapshot, found: Whole, place: PodPlace) -> Iterator[Action]:
    """Restore labels and selector of the Service of an instance."""
    serving = snapshot.root
    marks = place_marks(name_of(serving), place)
    wanted = {key: value for key, value in marks.items() if key != labels.ENTRY}
    yield from put_marks_back(snapshot, SERVICE, found, wanted)
    spec = {"publishNotReadyAddresses": True, "selector": select_entry(marks)}
    yield from put_service_back(snapshot, SERVICE, found, spec, uid_of(serving))


def put_subdomain_back(snapshot: Snapshot, found: Whole, wanted: Object) -> Iterator[Action]:
    """Restore the Service of a subdomain."""
    owner = uid_of(snapshot.root)
    yield from put_service_back(snapshot, SERVICE, found, wanted["spec"], owner)


def put_marks_back(
    snapshot: Snapshot, kind: Kind, found: Whole, wanted: Mapping[str, str]
) -> Iterator[Action]:
    """Restore the labels of an object of ours that differ from these."""
    metadata = found.metadata
    if metadata.controller != uid_of(snapshot.root) or metadata.is_leaving:
        return
    change = {key: value for key, value in wanted.items() if metadata.labels.get(key) != value}
    if change:
        yield from put_labels_back(snapshot, kind, metadata, change)


def put_revisions_back(
    snapshot: Snapshot, stored: Iterable[tuple[StoredTemplate, Whole]]
) -> Iterator[Action]:
    """Restore the labels of stored revisions; the API server lets no client edit their content."""
    for template, whole in stored:
        wanted = {labels.NAME: name_of(snapshot.root), labels.REVISION: template.revision}
        yield from put_marks_back(snapshot, CONTROLLER_REVISION, whole, wanted)
