"""
InferenceService, as the value that simulations know it by.

The operator of these runs also serves the APIs by which services are carried. There is no earlier
version of InferenceService that named anything differently.
"""

from kohort.apis.api import DEFAULTS
from kohort.apis.inferenceservice.accelerator_class import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.base_model import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.ownership import Ownership
from kohort.simulation.checkers.runtime import Runtime
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.truth import image_of
from kohort.simulation.inferenceservice import scenarios
from kohort.simulation.inferenceservice.at_rest import find_trouble, list_kinds
from kohort.simulation.inferenceservice.checkers import ServiceStatus, Serving, SharedEdits
from kohort.simulation.inferenceservice.labels import (
    ADAPTER,
    ENGINE,
    FORMS,
    INSTANCE,
    LABELS,
    MODEL,
    ROLE_SET,
    RUNTIME,
    WORKLOAD,
)
from kohort.simulation.inferenceservice.scenarios import draw_scenario
from kohort.simulation.simulated_api import (
    OperatorVersion,
    OperatorVersions,
    Policy,
    SimulatedApi,
    StatusFields,
)
from kohort.simulator.builtins.autoscalers.controller import Autoscalers
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets
from kohort.simulator.embedded.model_agent import ModelAgent

_MORE = (BASE_MODEL, CLUSTER_BASE_MODEL, ACCELERATOR_CLASS, ROLE_BASED_GROUP, LEADER_WORKER_SET)
_PRESENT = OperatorVersion(INFERENCE_SERVICE, DEFAULTS, _MORE)
VERSIONS = OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT)


def _find_image(spec: Object) -> str:
    return str(scenarios.runner_of(spec[ENGINE]).get("image", ""))


INFERENCE_SERVICES = SimulatedApi(
    name="isvc",
    kind=WORKLOAD,
    labels=LABELS,
    status=StatusFields(lambda status: 0, lambda truth: 0, "", lambda status: False, "Ready"),
    versions=VERSIONS,
    checkers=(Serving, SharedEdits, Ownership, Runtime, ServiceStatus, Stability),
    draw=draw_scenario,
    make_workload=scenarios.make_workload,
    edits=scenarios.EDITS,
    # Others make the pods: a service is no line of groups.
    read_policy=lambda workload: Policy(1, 0, 0, 0),
    list_groups=lambda truth: [],
    list_lines=lambda truth: [],
    is_old=lambda group, spec: False,
    is_in_place=lambda pod: True,
    find_image=_find_image,
    has_old_image=lambda group, spec: image_of(group.leader) != _find_image(spec),
    find_min_ready=lambda workload: 0,
    count_gang=lambda group, scene: (group.size, group.size),
    list_services=lambda pod: (),
    list_free_names=scenarios.list_free_names,
    find_trouble=find_trouble,
    is_sparse=False,
    read_step=lambda truth, carrier: None,
    has_gone_back=lambda truth, carrier: False,
    children=(
        *FORMS,
        kinds.REPLICA_SET,
        ROLE_SET,
        INSTANCE,
        ADAPTER,
        kinds.CONFIG_MAP,
        *list_kinds(),
    ),
    others=(MODEL, RUNTIME),
    make_others=scenarios.make_others,
    parts=(ModelAgent, Autoscalers, Deployments, ReplicaSets),
    has_fixed_routes=False,
    uncounted=(kinds.POD, kinds.REPLICA_SET),
    has_rollouts=False,
)
