"""
The APIs that simulations know.
"""

from kohort.cluster.errors import KohortError
from kohort.simulation.inferenceservice.simulated import INFERENCE_SERVICES
from kohort.simulation.instanceset.simulated import ROLE_INSTANCE_SETS
from kohort.simulation.leaderworkerset.simulated import LEADER_WORKER_SETS
from kohort.simulation.modelserving.simulated import MODEL_SERVINGS
from kohort.simulation.rolebasedgroup.simulated import ROLE_BASED_GROUPS
from kohort.simulation.roleinstance.simulated import ROLE_INSTANCES
from kohort.simulation.scenario import Scenario
from kohort.simulation.simulated_api import SimulatedApi

SIMULATED: dict[str, SimulatedApi] = {
    each.name: each
    for each in (
        LEADER_WORKER_SETS,
        MODEL_SERVINGS,
        ROLE_BASED_GROUPS,
        ROLE_INSTANCE_SETS,
        ROLE_INSTANCES,
        INFERENCE_SERVICES,
    )
}


class UnknownApi(KohortError):
    """An API that cannot be simulated."""


def find_simulated_of(scenario: Scenario) -> SimulatedApi:
    """The API of a scenario, with what the carriers of its roles need."""
    found = find_simulated(scenario.api)
    return found.carrying or found if scenario.carried else found


def find_simulated(name: str) -> SimulatedApi:
    """The API of that name."""
    if name not in SIMULATED:
        raise UnknownApi(f"no API {name!r} can be simulated; there are: {', '.join(SIMULATED)}")
    return SIMULATED[name]
