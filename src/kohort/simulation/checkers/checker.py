"""
What all checkers have in common: the truth, a way to say that it is wrong, and some moments.

``commit`` is called after every committed write, ``request`` when the operator asks
for one, ``answer`` when it is answered, ``end`` when the quiet period is over, and ``gone`` when
the workload was deleted after that.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kohort.simulation.checkers.truth import Commit, Group, Truth
from kohort.simulation.faulty_cluster import Request
from kohort.simulation.scenario import PODS, Scenario
from kohort.simulation.simulated_api import SimulatedApi
from kohort.simulator import kinds


@dataclass(slots=True)
class Scene:
    """What a checker may know."""

    scenario: Scenario
    simulated: SimulatedApi
    truth: Truth
    now: Callable[[], float]
    breach: Callable[[str], None]
    patience: float  # for how long the operator may not have seen what happened
    lags: float = 0.0  # for how long the parts of the cluster may not have
    # Since when our webhook does not answer; None: it does.
    silent_since: Callable[[], float | None] = lambda: None
    # False: moments are those at which a watch delivered a change, which may be late.
    has_true_times: bool = True

    @property
    def patience_with_parts(self) -> float:
        """For how long what was decided may not have happened."""
        return self.patience + self.lags


class Checker:
    """Holds some promises against what happens; by default none."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.simulated = scene.simulated
        self.truth = scene.truth
        self.breach = scene.breach

    def is_forgotten(self, group: Group) -> bool:
        """
        Whether nobody can know any more what the revision of a group stands for.

        Another version may give the same template another name. It finds out by the stored
        revision; where a client deleted that, a set still tells by its template, and pods do not.
        """
        if self.scene.scenario.carrier != PODS or not self.scene.scenario.has("upgrade"):
            return False
        stored = self.truth.objects[kinds.REVISION].values()
        return group.revision not in map(self.simulated.labels.revision_of, stored)

    def commit(self, commit: Commit) -> None:
        """A write took effect."""

    def request(self, request: Request) -> None:
        """The operator asks for a write."""

    def answer(self, request: Request, version: int) -> None:
        """The operator is told the version of what it has written."""

    def quiet(self) -> None:
        """All faults are over."""

    def end(self) -> None:
        """The quiet period is over."""

    def gone(self) -> None:
        """The workload was deleted, and what belongs to it has had time to go."""
