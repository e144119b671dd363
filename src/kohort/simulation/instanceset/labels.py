"""How the children of a RoleInstanceSet by hand are labelled, for the checkers."""

from kohort.simulation.rolebasedgroup.labels import (
    COMPONENT,
    COMPONENT_ID,
    HASH,
    INSTANCE_NAME,
    STORED,
)
from kohort.simulation.simulated_api import WorkloadLabels

OWNER = "app"  # the user's own label, which the set gives to its instances
LABELS = WorkloadLabels(
    OWNER,
    HASH,
    (INSTANCE_NAME, COMPONENT, COMPONENT_ID),
    {INSTANCE_NAME: "x-7", COMPONENT: "other", COMPONENT_ID: "5"},
    stored=STORED,
)
