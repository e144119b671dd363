"""
PodDisruptionBudgets of a component.

For a percentage or ``maxUnavailable``, the disruption controller reads the scale subresource of the
pods' owner. RoleInstances have none, so we compute ``minAvailable`` as a number of pods from the
replicas of the role.
"""

from collections.abc import Mapping

from kohort.apis.amounts import resolve_amount
from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects.deployments import app_of
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.kinds import BUDGET
from kohort.cluster.objects import Object


def render_budget(
    config: ComponentConfig, service: InferenceService, marks: Mapping[str, str]
) -> Object:
    """The budget of a Deployment or LeaderWorkerSet: the user's, or one pod at a time."""
    extension = config.component_extension
    limits: Object = {}
    if extension.min_available is not None:
        limits["minAvailable"] = extension.min_available
    if extension.max_unavailable is not None:
        limits["maxUnavailable"] = extension.max_unavailable
    return _render(config, service, marks, limits or {"maxUnavailable": 1})


def render_role_budget(
    config: ComponentConfig, service: InferenceService, marks: Mapping[str, str], replicas: int
) -> Object:
    """The budget of a role: ``minAvailable`` in instances, as it selects one pod of each."""
    extension = config.component_extension
    if extension.min_available is not None:
        kept = resolve_amount(extension.min_available, replicas, round_up=True)
    else:
        missing = 1 if extension.max_unavailable is None else extension.max_unavailable
        kept = replicas - resolve_amount(missing, replicas, round_up=True)
    return _render(config, service, marks, {"minAvailable": max(0, kept)})


def is_wanted(config: ComponentConfig) -> bool:
    """Whether the user set a budget; a multi-node component gets one only then."""
    extension = config.component_extension
    return extension.min_available is not None or extension.max_unavailable is not None


def _render(
    config: ComponentConfig, service: InferenceService, marks: Mapping[str, str], limits: Object
) -> Object:
    obj = make_object(BUDGET, service, config.name, marks, config.annotations)
    selector = {"matchLabels": {labels.APP: app_of(config)}}
    return {**obj, "spec": {**limits, "selector": selector}}
