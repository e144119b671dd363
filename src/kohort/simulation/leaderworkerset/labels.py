"""
How the children of a LeaderWorkerSet are labelled, for the checkers.

Nothing of how the operator labels them is used here.
"""

from kohort.cluster.objects import Kind
from kohort.simulation.simulated_api import WorkloadLabels

PREFIX = "leaderworkerset.sigs.k8s.io/"
OWNER, INDEX, GROUP = f"{PREFIX}name", f"{PREFIX}worker-index", f"{PREFIX}group-index"
KEY, SIZE = f"{PREFIX}template-revision-hash", f"{PREFIX}size"
EXCLUSIVE = f"{PREFIX}exclusive-topology"
WORKLOAD = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
LABELS = WorkloadLabels(OWNER, KEY, (GROUP, INDEX), {GROUP: "7", INDEX: "5"})
