"""Carrying: the same as operating, with pods as the carrier instead of sets."""

from bench.figures import Figure
from bench.scenarios import operating
from kohort.apis.leaderworkerset import labels


def measure(quick: bool) -> list[Figure]:
    """The life of a large workload whose pods the operator makes itself."""
    return operating.measure(quick, labels.PODS)
