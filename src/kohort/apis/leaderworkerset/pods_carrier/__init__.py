"""LeaderWorkerSets whose pods we make ourselves: how they are read, and how plans become pods."""
