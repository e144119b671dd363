"""
The present operator, which serves what services are carried by as well.

There is no earlier version of InferenceService that named anything differently.
"""

from kohort.apis.api import DEFAULTS
from kohort.apis.inferenceservice.accelerator_class.api import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.base_model.api import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.simulation.simulated_api import OperatorVersion, OperatorVersions

_MORE = (BASE_MODEL, CLUSTER_BASE_MODEL, ACCELERATOR_CLASS, ROLE_BASED_GROUP, LEADER_WORKER_SET)
_PRESENT = OperatorVersion(INFERENCE_SERVICE, DEFAULTS, _MORE)
VERSIONS = OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT)
