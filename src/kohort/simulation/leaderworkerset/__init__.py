"""LeaderWorkerSet in simulations."""
