"""
What is filled into an InferenceService when it is written.

Upstream also writes replicas into each component, and so no runtime can ever set them; here they
are worked out when runtime and service are merged.
"""

from collections.abc import Callable

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.fields import find_number, find_object, read_object
from kohort.apis.inferenceservice.resolution.migration import migrate
from kohort.apis.inferenceservice.spec import DeploymentMode
from kohort.cluster.objects import Object, annotations_of, metadata_of

PARTED = "PDDisaggregated"  # no mode of ours: upstream writes it, and ignores it


def default_service(
    obj: Object,
    usual: DeploymentMode = DeploymentMode.RAW,
    is_cluster_model: Callable[[str], bool] = lambda name: True,
) -> Object:
    """The service with engine instead of predictor, and with a deployment mode."""
    migrated = migrate(obj, is_cluster_model)
    if labels.DEPLOYMENT_MODE in annotations_of(migrated):
        return migrated
    mode = _choose_mode(read_object(migrated, "spec"), usual)
    if not mode:
        return migrated
    notes = {**annotations_of(migrated), labels.DEPLOYMENT_MODE: mode}
    return {**migrated, "metadata": {**metadata_of(migrated), "annotations": notes}}


def _choose_mode(spec: Object, usual: DeploymentMode) -> str:
    engine = find_object(spec, "engine")
    if engine is not None and find_object(spec, "decoder") is not None:
        return PARTED
    worker = find_object(engine or {}, "worker")
    has_leader = find_object(engine or {}, "leader") is not None
    if has_leader and worker is not None and (find_number(worker, "size") or 0) > 0:
        return DeploymentMode.MULTI_NODE.value
    return usual.value if usual is DeploymentMode.RAW else ""
