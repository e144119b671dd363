"""Edits by other clients of a LeaderWorkerSet's objects: how we see and undo them."""
