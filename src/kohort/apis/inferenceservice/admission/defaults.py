"""
Defaults that admission writes into an InferenceService.

Upstream also writes replicas into each component, so that a runtime can never set them; we compute
replicas when we merge runtime and service.
"""

from collections.abc import Callable

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.fields import find_number, find_object, read_object
from kohort.apis.inferenceservice.resolution.migration import migrate
from kohort.apis.inferenceservice.resolution.modes import PARTED
from kohort.apis.inferenceservice.spec import DeploymentMode
from kohort.cluster.objects import Object, annotations_of, metadata_of


def default_service(
    obj: Object,
    usual: DeploymentMode = DeploymentMode.RAW,
    is_cluster_model: Callable[[str], bool] = lambda name: True,
) -> Object:
    """The service with ``predictor`` turned into ``engine``, and with a deployment mode."""
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
