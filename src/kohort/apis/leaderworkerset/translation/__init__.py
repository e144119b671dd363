"""Between LeaderWorkerSet and the model: what is read, what is done, what is said."""
