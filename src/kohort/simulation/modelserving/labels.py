"""
How the children of a ModelServing are labelled, for the checkers.

Nothing of how the operator labels them is used here.
"""

from kohort.cluster.objects import Kind
from kohort.simulation.simulated_api import WorkloadLabels

PREFIX = "modelserving.volcano.sh/"
OWNER, KEY = f"{PREFIX}name", f"{PREFIX}revision"
GROUP_NAME, ROLE, ROLE_ID = f"{PREFIX}group-name", f"{PREFIX}role", f"{PREFIX}role-id"
SIZE = f"{PREFIX}group-size"
REPLICAS = f"{PREFIX}replicas"
ENTRY_UID, MIN_READY = "kohort.dev/entry-uid", "kohort.dev/min-ready-seconds"
WORKLOAD = Kind("workload.serving.volcano.sh", "v1alpha1", "ModelServing", "modelservings")
LABELS = WorkloadLabels(
    OWNER,
    KEY,
    (GROUP_NAME, ROLE, ROLE_ID),
    {GROUP_NAME: "x-7", ROLE: "other", ROLE_ID: "other-5"},
    all_tell=True,
)
GROUP_ROLLING, ROLE_ROLLING = "ServingGroupRollingUpdate", "RoleRollingUpdate"
GROUP_RECREATE, ROLE_RECREATE, RECOVER_NONE = "ServingGroupRecreate", "RoleRecreate", "None"
