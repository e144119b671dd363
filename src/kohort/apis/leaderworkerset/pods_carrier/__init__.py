"""LeaderWorkerSets whose pods the operator makes itself, without StatefulSets."""
