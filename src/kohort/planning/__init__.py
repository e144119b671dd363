"""The decisions of Kohort: pure functions from a workload and its observed pods to a plan."""
