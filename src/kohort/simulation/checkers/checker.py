"""
What all checkers share: the true state of the cluster, and hooks that a run calls.

``commit`` is called after every committed write, ``request`` when the operator asks
for one, ``answer`` when it is answered, ``end`` when the quiet period is over, and ``gone`` when
the workload was deleted after that.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kohort.cluster import kinds
from kohort.simulation.checkers.truth import Commit, Group, Truth
from kohort.simulation.faulty_cluster import Request
from kohort.simulation.scenario import PODS, Scenario
from kohort.simulation.simulated_api import SimulatedApi

# With these, another process follows one that has ended.
_FORGETTING = ("crash-before", "crash-after", "restart", "upgrade", "retell")


@dataclass(slots=True)
class Scene:
    """The scenario, the true state of the cluster and the clock, for all checkers of a run."""

    scenario: Scenario
    simulated: SimulatedApi
    truth: Truth
    now: Callable[[], float]
    breach: Callable[[str], None]
    patience: float  # seconds for which the operator may not have seen a change
    lags: float = 0.0  # the same for the built-in controllers
    absence: float = 0.0  # seconds for which no process of the operator may be at work
    # Since when our webhook does not answer; None: it does.
    silent_since: Callable[[], float | None] = lambda: None
    # False: moments are those at which a watch delivered a change, which may be late.
    has_true_times: bool = True

    @property
    def patience_with_parts(self) -> float:
        """The longest time in seconds from a change until other controllers have acted on it."""
        return self.patience + self.lags

    @property
    def has_one_process(self) -> bool:
        """Whether one process runs all the time, so that the operator knows of all failures."""
        return self.scenario.replicas == 1 and not self.scenario.has(*_FORGETTING)


class Checker:
    """Compares what happens in a run with some promises; this base class has none."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.simulated = scene.simulated
        self.truth = scene.truth
        self.breach = scene.breach

    def is_forgotten(self, group: Group) -> bool:
        """
        Whether the operator can no longer find the template of a group's revision.

        Another version of the operator may give the same template another name, and compares
        stored revisions to find that out. Where a client deleted the revision, a StatefulSet
        still has the template; pods do not.
        """
        if self.scene.scenario.carrier != PODS or not self.scene.scenario.has("upgrade"):
            return False
        stored = self.truth.objects[kinds.CONTROLLER_REVISION].values()
        return group.revision not in map(self.simulated.labels.revision_of, stored)

    def commit(self, commit: Commit) -> None:
        """A write took effect."""

    def request(self, request: Request) -> None:
        """The operator asks for a write."""

    def answer(self, request: Request, version: int) -> None:
        """The API server answers a write of the operator with the object's new version."""

    def quiet(self) -> None:
        """All faults are over."""

    def end(self) -> None:
        """The quiet period is over."""

    def gone(self) -> None:
        """The workload was deleted, and what belongs to it has had time to go."""
