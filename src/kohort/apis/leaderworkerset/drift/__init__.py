"""Objects of a LeaderWorkerSet that another client edited: what is seen of it, and the answer."""
